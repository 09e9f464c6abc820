"""transformers' Trainer with its TensorBoardCallback, on a language model of random weights."""

import os

LIBRARY = "torch"
PACKAGE = "transformers"
TIMES = ("train/train_runtime", "_per_second", "eval/runtime")


def train(directory):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

    os.environ["TENSORBOARD_LOGGING_DIR"] = directory
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    texts = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 32, (32, 8))]
    arguments = TrainingArguments(
        output_dir="output",
        max_steps=6,
        logging_steps=2,
        eval_strategy="steps",
        eval_steps=3,
        per_device_train_batch_size=4,
        report_to="tensorboard",
        save_strategy="no",
        use_cpu=True,
        seed=0,
    )
    trainer = Trainer(LlamaForCausalLM(config), arguments, train_dataset=texts, eval_dataset=texts[:8])
    trainer.train()
    trainer.evaluate()
