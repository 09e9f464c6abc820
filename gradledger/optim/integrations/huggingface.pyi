from optim.integrations.huggingface import *
