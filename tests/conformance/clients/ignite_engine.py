"""ignite's engine with all handlers of its TensorboardLogger."""

LIBRARY = "tensorboardX"
PACKAGE = "pytorch-ignite"
TIMES = ()


def train(directory):
    import torch
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import tensorboard_logger as handlers
    from ignite.metrics import Loss

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(8, 4, 3)
    batches = [(one, one.sum(1, keepdim=True)) for one in x]
    trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
    evaluator = create_supervised_evaluator(model, {"mse": Loss(torch.nn.functional.mse_loss)})
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(batches))
    with handlers.TensorboardLogger(log_dir=directory) as logger:
        every = Events.ITERATION_COMPLETED(every=2)
        logger.attach_output_handler(trainer, every, "training", output_transform=lambda loss: {"loss": loss})
        logger.attach_opt_params_handler(trainer, every, optimizer)
        steps = handlers.global_step_from_engine(trainer)
        logger.attach_output_handler(
            evaluator, Events.EPOCH_COMPLETED, "validation", ["mse"], global_step_transform=steps
        )
        for handler in (
            handlers.WeightsScalarHandler,
            handlers.WeightsHistHandler,
            handlers.GradsScalarHandler,
            handlers.GradsHistHandler,
        ):
            logger.attach(trainer, handler(model), every)
        trainer.run(batches, max_epochs=2)
