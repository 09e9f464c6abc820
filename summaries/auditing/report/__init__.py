"""What an audit found, told to people and to programs."""
