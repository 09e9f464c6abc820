from optim.integrations.keras import *
