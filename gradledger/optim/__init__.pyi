from optim import *
