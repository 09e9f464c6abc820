"""Lightning's fit, validate and test, one after the other, with TensorBoardLogger."""

LIBRARY = "torch"
PACKAGE = "lightning"
TIMES = ()


def train(directory):
    import lightning
    import torch
    from lightning.pytorch.callbacks import LearningRateMonitor
    from lightning.pytorch.loggers import TensorBoardLogger
    from torch.utils.data import DataLoader, TensorDataset

    class Line(lightning.LightningModule):
        def __init__(self, rate=0.1):
            super().__init__()
            self.save_hyperparameters()
            self.layer = torch.nn.Linear(3, 1)
            self.example_input_array = torch.zeros(1, 3)

        def forward(self, x):
            return self.layer(x)

        def loss(self, batch):
            x, y = batch
            return torch.nn.functional.mse_loss(self(x), y)

        def training_step(self, batch, index):
            loss = self.loss(batch)
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", self.loss(batch))

        def test_step(self, batch, index):
            self.log("test_loss", self.loss(batch))

        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), self.hparams.rate)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

    x = torch.randn(32, 3)
    batches = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 4)
    logger = TensorBoardLogger(directory, log_graph=True, default_hp_metric=True)
    trainer = lightning.Trainer(
        max_epochs=2,
        logger=logger,
        log_every_n_steps=2,
        accelerator="cpu",
        callbacks=[LearningRateMonitor()],
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Line()
    trainer.fit(model, batches, batches)
    trainer.validate(model, batches, verbose=False)
    trainer.test(model, batches, verbose=False)
    logger.log_hyperparams({"rate": 0.1}, {"final": 0.5})
    logger.experiment.close()  # torch's loses at times what is logged last
