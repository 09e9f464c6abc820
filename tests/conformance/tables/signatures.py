"""Methods whose arguments are not the original's, and why."""

from conformance.rows import different

ORDER = "of three originals with three orders, ours tells the arguments by position apart by their types"
BULK = "max_queue and flush_secs are larger, as scalars are encoded in bulk and written every two seconds"

SIGNATURES = {
    ("torch", "__init__"): different(f"{ORDER}; {BULK}"),
    ("tensorboardX", "__init__"): different(f"{ORDER}; {BULK}"),
    ("TF1", "__init__"): different(BULK),
    ("torch", "add_graph"): different("TF1's arguments come first; a torch module is told by its type"),
    ("tensorboardX", "add_graph"): different("TF1's arguments come first; a torch module is told by its type"),
    ("tensorboardX", "add_hparams"): different(
        "the third argument is torch's or, if it is a string, tensorboardX's name"
    ),
    ("tensorboardX", "add_image_with_boxes"): different(
        "torch's rescale comes before dataformats; a string is the format"
    ),
    ("tensorboardX", "add_onnx_graph"): different("the argument has torch's name, too"),
    ("tensorboardX", "add_scalar"): different("torch's new_style and double_precision come first; a string is a name"),
}
