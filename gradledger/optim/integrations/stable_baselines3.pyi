from optim.integrations.stable_baselines3 import *
