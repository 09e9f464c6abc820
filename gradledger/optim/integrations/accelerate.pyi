from optim.integrations.accelerate import *
