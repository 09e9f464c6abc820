"""The bytes of an event file: checksums, records, messages. No files, no clock, no threads."""
