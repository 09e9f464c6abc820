"""MONAI's trainer and evaluator with its handlers for scalars and images."""

LIBRARY = "torch"
PACKAGE = "monai"
TIMES = ()


def train(directory):
    import torch
    from ignite.engine import Events
    from monai.engines import SupervisedEvaluator, SupervisedTrainer
    from monai.handlers import MeanDice, TensorBoardImageHandler, TensorBoardStatsHandler, from_engine

    net = torch.nn.Conv2d(1, 1, 3, padding=1)
    batches = [{"image": torch.rand(2, 1, 8, 8), "label": torch.ones(2, 1, 8, 8)} for _ in range(3)]
    evaluator = SupervisedEvaluator(
        device=torch.device("cpu"),
        val_data_loader=batches,
        network=net,
        key_val_metric={"dice": MeanDice(output_transform=from_engine(["pred", "label"]))},
        val_handlers=[
            TensorBoardStatsHandler(log_dir=directory, output_transform=lambda output: None),
            TensorBoardImageHandler(
                log_dir=directory,
                batch_transform=from_engine(["image", "label"]),
                output_transform=from_engine(["pred"]),
            ),
        ],
    )
    trainer = SupervisedTrainer(
        device=torch.device("cpu"),
        max_epochs=2,
        train_data_loader=batches,
        network=net,
        optimizer=torch.optim.SGD(net.parameters(), 0.1),
        loss_function=torch.nn.MSELoss(),
        train_handlers=[
            TensorBoardStatsHandler(
                log_dir=directory, tag_name="loss", output_transform=from_engine(["loss"], first=True)
            )
        ],
    )
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: evaluator.run(engine.state.epoch))
    trainer.run()
