"""GL501 to GL512, without GL506: updates, slots, learning rates, and what an optimizer's theory says of its steps."""
