"""Bad input to each kind of summary: what was wrong, what was got, what would be right."""

import numpy as np
import pytest

import summaries

PICTURE = np.zeros((3, 4, 5), np.float32)
CUBE = np.zeros((1, 8, 3))
HALF = [0.5, 0.5]

CASES = {
    "a tag that is no string": (summaries.scalar, (7, 0.5), TypeError, "tag must be a string, got int: 7"),
    "an empty tag": (summaries.scalar, ("", 0.5), ValueError, "tag must not be empty, got ''"),
    "a tag that is no text": (
        summaries.scalar,
        ("\ud800", 0.5),
        ValueError,
        "tag must be Unicode text without lone surrogates, got '\\ud800'",
    ),
    "several numbers": (
        summaries.scalar,
        ("a", [1, 2]),
        TypeError,
        "scalar_value must be a number, got list: [1, 2]",
    ),
    "an array of several": (
        summaries.scalar,
        ("a", np.zeros(3)),
        ValueError,
        "scalar_value must be one number, got an array of shape (3,)",
    ),
    "a complex number": (
        summaries.scalar,
        ("a", 1j),
        TypeError,
        "scalar_value must be a number, got complex: 1j",
    ),
    "no numbers": (
        summaries.zero_fraction,
        ("a", ["x"]),
        TypeError,
        "values must be an array of numbers, got list of dtype <U1",
    ),
    "ragged rows": (
        summaries.histogram,
        ("a", [[1, 2], [3]]),
        TypeError,
        "values must be an array of numbers, got list of dtype object",
    ),
    "nothing to count": (
        summaries.histogram,
        ("a", []),
        ValueError,
        "values must have an element at least, got an empty array",
    ),
    "no rule for bins": (
        summaries.histogram,
        ("a", [1], "many"),
        ValueError,
        (
            "bins must be one of ['tensorflow', 'auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'],"
            " a number or edges, got 'many'"
        ),
    ),
    "no bins": (summaries.histogram, ("a", [1], 0), ValueError, "bins must be positive, got 0"),
    "one edge": (
        summaries.histogram,
        ("a", [1], [0.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [0.0]",
    ),
    "falling edges": (
        summaries.histogram,
        ("a", [1], [1.0, 0.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [1.0, 0.0]",
    ),
    "no bins at most": (summaries.histogram, ("a", [1], 3, 0), ValueError, "max_bins must be positive, got 0"),
    "limits without counts": (
        summaries.histogram_raw,
        ("a", 0, 1, 2, 1, 1, [1, 2], [1]),
        ValueError,
        "bucket_limits and bucket_counts must be equally long, got 2 and 1",
    ),
    "a letter that is no axis": (
        summaries.image,
        ("a", PICTURE, "CHX"),
        ValueError,
        "dataformats must be letters of 'HWC', each once, with H and W, got 'CHX'",
    ),
    "a letter twice": (
        summaries.image,
        ("a", PICTURE, "HHW"),
        ValueError,
        "dataformats must be letters of 'HWC', each once, with H and W, got 'HHW'",
    ),
    "an axis without a letter": (
        summaries.image,
        ("a", PICTURE, "HW"),
        ValueError,
        "img_tensor must have one axis for each letter of 'HW', got shape (3, 4, 5)",
    ),
    "seven channels": (
        summaries.image,
        ("a", np.zeros((7, 4, 5))),
        ValueError,
        "a picture must have 1 to 4 channels, got 7",
    ),
    "no pixel": (
        summaries.image,
        ("a", np.zeros((3, 0, 5))),
        ValueError,
        "a picture must have a pixel at least, got shape (0, 5, 3)",
    ),
    "boxes of three": (
        summaries.image_with_boxes,
        ("a", PICTURE, np.zeros((2, 3))),
        ValueError,
        "box_tensor must have shape [n, 4], got (2, 3)",
    ),
    "a label for two boxes": (
        summaries.image_with_boxes,
        ("a", PICTURE, np.zeros((2, 4)), 1, "CHW", ["x"]),
        ValueError,
        "labels must be one for each of the 2 boxes, got 1",
    ),
    "no figure": (
        summaries.figure,
        ("a", PICTURE),
        TypeError,
        "figure must be a matplotlib Figure, or a list of them, got ndarray",
    ),
    "a video of four axes": (
        summaries.video,
        ("a", np.zeros((2, 3, 4, 5))),
        ValueError,
        "vid_tensor must have one axis for each letter of 'NTCHW', got shape (2, 3, 4, 5)",
    ),
    "a video that stands still": (
        summaries.video,
        ("a", np.zeros((1, 2, 3, 4, 5)), 0),
        ValueError,
        "fps must be positive, got 0",
    ),
    "a video without frames": (
        summaries.video,
        ("a", np.zeros((1, 0, 3, 4, 5))),
        ValueError,
        "vid_tensor must have a frame at least, got shape (1, 0, 3, 4, 5)",
    ),
    "a negative rate": (
        summaries.audio,
        ("a", HALF, -1),
        ValueError,
        "sample_rate must be positive, got -1",
    ),
    "two channels": (
        summaries.audio,
        ("a", np.zeros((2, 9))),
        ValueError,
        "snd_tensor must be one channel of samples, got an array of shape (2, 9)",
    ),
    "a text of bytes": (summaries.text, ("a", b"x"), TypeError, "text_string must be a string, got bytes: b'x'"),
    "labels without predictions": (
        summaries.pr_curve,
        ("a", [1], HALF),
        ValueError,
        "labels and predictions must have one shape, got (1,) and (2,)",
    ),
    "predictions beyond 1": (
        summaries.pr_curve,
        ("a", [1, 0], [0.5, 1.5]),
        ValueError,
        "predictions must be from 0 to 1, got 1.5",
    ),
    "a prediction that is no number": (
        summaries.pr_curve,
        ("a", [1, 0], [0.5, np.nan]),
        ValueError,
        "predictions must be from 0 to 1, got nan",
    ),
    "one threshold": (
        summaries.pr_curve,
        ("a", [1, 0], HALF, 1),
        ValueError,
        "num_thresholds must be at least 2, got 1",
    ),
    "weights for others": (
        summaries.pr_curve,
        ("a", [1, 0], HALF, 3, [1.0, 2.0, 3.0]),
        ValueError,
        "weights must be one number, or one for each of the 2 predictions, got shape (3,)",
    ),
    "six arrays of two lengths": (
        summaries.pr_curve_raw,
        ("a", [1], [1], [1], [1], [1], HALF),
        ValueError,
        "the six arrays must be equally long, got lengths [1, 1, 1, 1, 1, 2]",
    ),
    "vertices of two": (
        summaries.mesh,
        ("a", np.zeros((1, 8, 2))),
        ValueError,
        "vertices must have shape [batch, n, 3], got (1, 8, 2)",
    ),
    "colours for others": (
        summaries.mesh,
        ("a", CUBE, np.zeros((1, 7, 3))),
        ValueError,
        "colors must have the shape of vertices, (1, 8, 3), got (1, 7, 3)",
    ),
    "a list of hyperparameters": (
        summaries.hparams,
        ([1], {}),
        TypeError,
        "hparam_dict must be a dictionary, got list: [1]",
    ),
    "a hyperparameter that is a list": (
        summaries.hparams,
        ({"layers": [1, 2]}, {}),
        TypeError,
        "hyperparameter 'layers' must be a bool, a number or a string, got list: [1, 2]",
    ),
    "a domain of another type": (
        summaries.hparams,
        ({"lr": 0.1}, {}, {"lr": ["a"]}),
        TypeError,
        "hparam_domain_discrete['lr'] must hold values of one type, got ['a']",
    ),
    "a domain of nothing": (
        summaries.hparams,
        ({"lr": 0.1}, {}, {"bs": [1]}),
        ValueError,
        "hparam_domain_discrete names 'bs', which is not in hparam_dict: ['lr']",
    ),
    "a margin of two tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Margin", ["x", "y"]]}},),
        ValueError,
        "margin chart 'b' must have 3 tags (value, lower, upper), got 2",
    ),
    "no kind of chart": (
        summaries.custom_scalars,
        ({"a": {"b": ["Pie", ["x"]]}},),
        ValueError,
        "chart 'b' must be 'Multiline' or 'Margin', got 'Pie'",
    ),
    "a tag for a list of tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline", "x"]}},),
        TypeError,
        "the tags of chart 'b' must be a list of strings, got 'x'",
    ),
    "the same tag twice": (
        summaries.merge,
        ([summaries.scalar("a", 1), summaries.scalar("a", 2)],),
        ValueError,
        "each tag may stand once in merged summaries, got several of ['a']",
    ),
    "a rate that is no number": (
        summaries.audio,
        ("a", HALF, "fast"),
        TypeError,
        "sample_rate must be an integer, got str: 'fast'",
    ),
    "a rate beyond what a WAV can say": (
        summaries.audio,
        ("a", HALF, 2**40),
        ValueError,
        "sample_rate must be at most 2147483647, got 1099511627776",
    ),
    "a number of bins that is none": (
        summaries.histogram,
        ("a", [1], 3, "3"),
        TypeError,
        "max_bins must be an integer, got str: '3'",
    ),
    "an edge that is no number": (
        summaries.histogram,
        ("a", [1], [0.0, np.nan, 1.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [0.0, nan, 1.0]",
    ),
    "edges that are no numbers": (
        summaries.histogram,
        ("a", [1], ["a", "b"]),
        TypeError,
        "bins must be an array of numbers, got list of dtype <U1",
    ),
    "masked values": (
        summaries.histogram,
        ("a", np.ma.masked_array([1.0, 2.0], [False, True])),
        TypeError,
        "values must not be masked: compressed() leaves out what is, filled() puts a number there",
    ),
    "a masked number": (
        summaries.scalar,
        ("a", np.ma.masked),
        TypeError,
        "scalar_value must be a number, got MaskedConstant: masked",
    ),
    "complex values": (
        summaries.image,
        ("a", PICTURE * 1j),
        TypeError,
        "img_tensor must be an array of real numbers, got ndarray of dtype complex64",
    ),
    "a time": (
        summaries.scalar,
        ("a", np.timedelta64(1, "ns")),
        TypeError,
        "scalar_value must be a number, got timedelta64: np.timedelta64(1,'ns')",
    ),
    "no layout of a picture": (
        summaries.image,
        ("a", PICTURE, None),
        TypeError,
        "dataformats must be a string, got NoneType: None",
    ),
    "labels that are classes": (
        summaries.pr_curve,
        ("a", [0, 2], HALF),
        ValueError,
        "labels must be 0 or 1, or between, got 2.0",
    ),
    "a broken number of thresholds": (
        summaries.pr_curve,
        ("a", [0, 1], HALF, 2.5),
        TypeError,
        "num_thresholds must be an integer, got float: 2.5",
    ),
    "a mesh without points": (
        summaries.mesh,
        ("a", None),
        TypeError,
        "vertices must be an array of numbers, got NoneType of dtype object",
    ),
    "a hyperparameter without a name": (
        summaries.hparams,
        ({1: 2}, {}),
        TypeError,
        "the names in hparam_dict must be strings, not empty, got 1",
    ),
    "a metric that is none": (
        summaries.hparams,
        ({"lr": 1}, {"loss": None}),
        TypeError,
        "metric_dict['loss'] must be a number, got NoneType: None",
    ),
    "a domain of letters": (
        summaries.hparams,
        ({"mode": "xyz"}, {}, {"mode": "xyz"}),
        TypeError,
        "hparam_domain_discrete['mode'] must be a list of values, got 'xyz'",
    ),
    "a value outside of its domain": (
        summaries.hparams,
        ({"lr": 1.0}, {}, {"lr": [2.0, 3.0]}),
        ValueError,
        "hparam_domain_discrete['lr'] must hold the value itself, got [2.0, 3.0]",
    ),
    "no title": (
        summaries.custom_scalars,
        ({"a": {1: ["Multiline", ["x"]]}},),
        TypeError,
        "the titles in layout must be strings, got int: 1",
    ),
    "no frames a second": (
        summaries.video,
        ("a", np.zeros((1, 2, 3, 4, 5)), "4"),
        TypeError,
        "fps must be a number, got '4'",
    ),
    "no scale": (
        summaries.image_with_boxes,
        ("a", PICTURE, [[0, 0, 1, 1]], 0),
        ValueError,
        "rescale must be positive, got 0",
    ),
    "limits that are no list": (
        summaries.histogram_raw,
        ("a", 0, 1, 1, 1, 1, 1, 1),
        ValueError,
        "bucket_limits and bucket_counts must be lists, got shapes () and ()",
    ),
    "a mesh's settings that JSON has not": (
        summaries.mesh,
        ("a", CUBE, None, None, {"size": float("nan")}),
        TypeError,
        "config_dict must hold text, finite numbers, booleans, None, and lists and dicts of them, got {'size': nan}",
    ),
    "no layout of charts": (
        summaries.custom_scalars,
        (None,),
        TypeError,
        "layout must be a dictionary, got NoneType: None",
    ),
    "half a chart": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline"]}},),
        ValueError,
        "chart 'b' must be ['Multiline', tags] or ['Margin', tags], got ['Multiline']",
    ),
    "nothing to merge": (
        summaries.merge,
        (None,),
        TypeError,
        "summaries must be an iterable of Summary messages, got NoneType",
    ),
    "no summaries to merge": (
        summaries.merge,
        ([1],),
        TypeError,
        "each of summaries must be a protobuf message or its bytes, got int",
    ),
    "a tensor of dates": (
        summaries.tensor,
        ("a", np.zeros(2, "datetime64[s]")),
        TypeError,
        "tensor must be an array of numbers, got ndarray of dtype datetime64[s]",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), CASES.values(), ids=CASES)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text
