"""The demo: a training run with clipping and one without, which `gradledger demo` starts; with its data."""
