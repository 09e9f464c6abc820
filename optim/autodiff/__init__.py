"""From what was recorded to gradients: derivatives, and the pass backwards."""
