from optim.integrations import *
