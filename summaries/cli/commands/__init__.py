"""The commands: a module for each, named after it, with a `command` that imports what it does when it is called."""
