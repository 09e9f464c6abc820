"""The page `gradledger` inside TensorBoard: runs with their findings, layers over steps, two runs, clipping.

    --logdir, --logdir_spec → places → library (reads and audits in the background) → answers → application → page/

TensorBoard starts at `gradledger.tensorboard`, which imports nothing of ours: importing this costs time, and may fail.
TensorBoard's data are thinned to a thousand points a tag, so that the files are read here, each of them once.
"""
