from optim.integrations.optax import *
