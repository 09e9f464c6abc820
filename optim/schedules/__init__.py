"""Learning rates that change: schedules, and TF1's decays."""
