from optim.integrations.lightning import *
