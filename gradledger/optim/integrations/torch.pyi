from optim.integrations.torch import *
