"""Our messages and enums have the numbers, names and types of tensorboard's by the same names.

tensorboard 2.21 and TensorFlow 2.21 agree in all that is compared here, so one of them will do.
"""

import importlib
import subprocess
import sys

import pytest

pytest.importorskip("tensorboard")

OURS = """
    custom_scalars event function graph hparams node plugins run_metadata summary tensor
"""
THEIR_CORE = """
    allocation_description attr_value config cost_graph event full_type function graph graph_debug_info
    histogram node_def op_def resource_handle step_stats summary tensor tensor_description tensor_shape types
    versions
"""
THEIR_PLUGINS = """
    audio.plugin_data custom_scalar.layout histogram.plugin_data hparams.api hparams.plugin_data
    image.plugin_data mesh.plugin_data pr_curve.plugin_data scalar.plugin_data text.plugin_data
"""
OUR_MODULES = [f"summaries.wire.pb.{name}_pb2" for name in OURS.split()]
THEIR_MODULES = [f"tensorboard.compat.proto.{name}_pb2" for name in THEIR_CORE.split()]
THEIR_MODULES += [f"tensorboard.plugins.{name}_pb2" for name in THEIR_PLUGINS.split()]

# Where tensorboard's packages are not divided as ours are; the first prefix that fits counts.
PACKAGES = {
    "gradledger.custom_scalars.": "tensorboard.",
    "gradledger.MeshPluginData": "tensorboard.mesh.MeshPluginData",
    "gradledger.": "tensorboard.",
    "google.": "google.",
}

# What tensorboard has in those files and we do not, by reason.
ABSENT = {
    "in no event": "SerializedDType SummaryDescription",
    "in no graph": "OpList",
    "for the watchdog of a cluster": """
        RequestedExitCode WatchdogConfig WorkerHealth WorkerHeartbeatRequest WorkerHeartbeatResponse
        WorkerShutdownMode
    """,
    "how a session is to run, not how it went": """
        BatchingOptions CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions RunOptions
        TensorConnection ThreadPoolOptionProto
    """,
    "between the hparams page and its server": """
        hparams.AggregationType hparams.ColParams hparams.GetExperimentRequest hparams.ListMetricEvalsRequest
        hparams.ListSessionGroupsRequest hparams.ListSessionGroupsResponse hparams.MetricValue hparams.Session
        hparams.SessionGroup hparams.SortOrder
    """,
}


def twin(name):
    """The name that tensorboard has for a message or enum of ours."""
    prefix = next(prefix for prefix in PACKAGES if name.startswith(prefix))
    return PACKAGES[prefix] + name.removeprefix(prefix)


def top_level(modules):
    """Every message and enum of these modules, by full name, without the nested ones."""
    files = [importlib.import_module(module).DESCRIPTOR for module in modules]
    kinds = [kind for file in files for kind in (file.message_types_by_name, file.enum_types_by_name)]
    return {item.full_name: item for kind in kinds for item in kind.values()}


def layout(item, rename):
    """All that decides what `item` looks like on the wire and in Python, nested types included."""
    if hasattr(item, "values"):
        return {value.name: value.number for value in item.values}
    return {
        "fields": {field.number: field_layout(field, rename) for field in item.fields},
        "is map entry": item.GetOptions().map_entry,
        "nested": {nested.name: layout(nested, rename) for nested in item.nested_types},
        "enums": {enum.name: layout(enum, rename) for enum in item.enum_types},
    }


def field_layout(field, rename):
    of = field.message_type or field.enum_type
    oneof = field.containing_oneof
    return {
        "name": field.name,
        "type": (field.type, of and rename(of.full_name)),
        "label": (field.is_repeated, field.is_required, field.is_packed),
        # a map's entries always have both fields, whatever their syntax says of presence
        "presence": field.containing_type.GetOptions().map_entry or field.has_presence,
        # `optional` of proto3 is, in name only, a oneof of one field
        "oneof": oneof.name if oneof and oneof.name != f"_{field.name}" else None,
        "deprecated": field.GetOptions().deprecated,
    }


@pytest.mark.parametrize("name", sorted(top_level(OUR_MODULES)))
def test_same_layout(name):
    assert layout(top_level(OUR_MODULES)[name], twin) == layout(top_level(THEIR_MODULES)[twin(name)], str)


def test_nothing_of_theirs_is_forgotten():
    """A message or enum that a newer tensorboard adds has to be taken over, or get its reason above."""
    absent = {f"tensorboard.{name}" for names in ABSENT.values() for name in names.split()}
    assert {twin(name) for name in top_level(OUR_MODULES)} | absent == set(top_level(THEIR_MODULES))


@pytest.mark.parametrize(
    "modules", [OUR_MODULES + THEIR_MODULES, THEIR_MODULES + OUR_MODULES], ids=["ours first", "theirs first"]
)
def test_both_in_one_process(modules):
    """The descriptor pool is one for the process, and refuses a second file or message of the same name."""
    program = "; ".join(f"import {module}" for module in modules)
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
