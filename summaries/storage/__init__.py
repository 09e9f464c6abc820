"""The one door to files: their names, finding them, opening, reading and appending; on disks and in object stores."""
