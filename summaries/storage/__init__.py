"""All access to files: names, listing, opening, reading and appending; on local disks and in object stores."""
