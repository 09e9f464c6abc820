"""Gradients of transformers' Trainer, before it clips them.

pip install torch transformers accelerate
python examples/gradients_huggingface.py [LOGDIR]
"""

import sys
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from optim.integrations.huggingface import GradientCallback

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_huggingface"
torch.manual_seed(0)
config = BertConfig(
    vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=2
)  # fmt: skip
words = torch.randint(0, 50, (512, 12))
data = [{"input_ids": row, "labels": (row[0] > row[1]).long()} for row in words]  # which of the first two is larger
with tempfile.TemporaryDirectory() as output:
    arguments = TrainingArguments(
        output, max_steps=60, per_device_train_batch_size=32, learning_rate=1e-3, max_grad_norm=1.0,
        report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True,
        logging_steps=5, eval_strategy="steps", eval_steps=20,
    )  # fmt: skip
    Trainer(
        BertForSequenceClassification(config), arguments, train_dataset=data[:448], eval_dataset=data[448:],
        callbacks=[GradientCallback(logdir)],
    ).train()  # fmt: skip
