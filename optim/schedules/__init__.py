"""Learning rate schedules, among them TF1's decays."""
