"""The version, which the package's metadata take from here."""

VERSION = "0.1.0"
