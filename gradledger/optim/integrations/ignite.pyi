from optim.integrations.ignite import *
