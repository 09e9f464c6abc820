"""The commands: a module for each, with its name. It states the options, and imports what it does when it is called."""
