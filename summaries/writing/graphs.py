"""Graphs: the methods of TF1's FileWriter besides add_summary, and graphs in files of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from summaries import kinds, wire
from summaries.storage.files import write_file
from summaries.storage.names import join
from summaries.values import check_tag
from summaries.wire.protobuf import message_bytes
from summaries.writing.event_file_writer import EventFileWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GraphMethods", "write_graph"]


class GraphMethods(EventFileWriter):
    """Methods that log graphs, the cost of running them, and sessions."""

    def __init__(self, logdir: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(logdir, **options)
        self._run_metadata_tags: set[str] = set()

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Log a SessionLog: START supersedes earlier events at this step and later.

        Args:
            session_log: our SessionLog, any other with the same wire format, or its bytes.
            global_step: as in `add_scalar`.
        """
        message = wire.pb.SessionLog.FromString(message_bytes(session_log, wire.pb.SessionLog, "session_log"))
        self._add_event_with(global_step, session_log=message)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Log the cost of one step: TensorBoard's graph shows each node's time and memory.

        Args:
            run_metadata: our RunMetadata, any other with the same wire format, or its bytes.
            tag: the name under which TensorBoard lists it.
            global_step: as in `add_scalar`.

        Raises:
            ValueError: the tag was used before.
        """
        check_tag(tag)
        if tag in self._run_metadata_tags:
            raise ValueError(f"the tag {tag!r} was already used for run metadata: use each tag once")
        data = message_bytes(run_metadata, wire.pb.RunMetadata, "run_metadata")
        tagged = wire.pb.TaggedRunMetadata(tag=tag, run_metadata=data)
        self._add_event_with(global_step, tagged_run_metadata=tagged)
        self._run_metadata_tags.add(tag)

    def add_graph(
        self,
        graph: Any = None,
        global_step: Any = None,
        graph_def: Any = None,
        use_strict_trace: bool = True,
        *,
        model: Any = None,
        input_to_model: Any = None,
        verbose: bool = False,
    ) -> None:
        """Log a graph for TensorBoard's graph dashboard.

        Args:
            graph: a GraphDef from any library, its bytes, an object with `as_graph_def()` such as a TensorFlow graph,
                a torch module or, if `optim` is imported, a loss, which is called once and traced without its arrays.
                The nodes of a TensorFlow graph keep the shapes of their outputs. A pair of GraphDef and RunMetadata is
                what torch's `file_writer` takes.
            global_step: as in `add_scalar`; for a torch module, as in torch: the inputs to trace it with.
            graph_def: another name for `graph`; for a torch module, as in torch: `verbose`.
            use_strict_trace: for a torch module.
            model: torch's name for `graph`.
            input_to_model: torch's name for the inputs.
            verbose: for a torch module: whether to print the graph.

        Raises:
            TypeError: `graph` is none of these.
            ValueError: there is no graph, or there are both `graph` and `graph_def`, or the bytes do not parse as a
                GraphDef.
        """
        graph = model if graph is None else graph
        if isinstance(graph, tuple):
            self._add_costed_graph(*graph)
            return
        if graph is not None and kinds.graph.is_torch_module(graph):
            inputs = global_step if input_to_model is None else input_to_model
            traced = kinds.graph.trace_torch(graph, inputs, verbose or bool(graph_def), use_strict_trace)
            self._add_costed_graph(*traced)
            return
        if input_to_model is not None:
            raise TypeError(f"input_to_model is for torch modules, got it with {type(graph).__name__}")
        if (graph is None) == (graph_def is None):
            got = "neither" if graph is None else "both"
            raise ValueError(f"add_graph needs a graph or a graph_def, got {got}")
        data = kinds.graph.graph_bytes(graph_def if graph is None else graph, add_shapes=True)
        self._add_event_with(global_step, graph_def=data)
        where = self._run_file.destination
        if where.write_to_disk:
            for path, content in kinds.meta_graph.plugin_assets(graph):
                write_file(join(where.directory, path), content, where.storage_options)

    def _add_costed_graph(self, graph: Any, run_metadata: Any) -> None:
        self._add_event_with(0, graph_def=kinds.graph.graph_bytes(graph))
        if "step1" not in self._run_metadata_tags:
            self.add_run_metadata(run_metadata, "step1")

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Log a MetaGraphDef: a graph with TensorFlow's collections, from which `import_meta_graph` restores it.

        Args:
            meta_graph_def: TensorFlow's MetaGraphDef, any other with the same wire format, or its bytes.
            global_step: as in `add_scalar`.

        Raises:
            TypeError: it is not a MetaGraphDef.
            ValueError: the bytes do not parse as a MetaGraphDef.
        """
        data = kinds.meta_graph.meta_graph_bytes(meta_graph_def)
        self._add_event_with(global_step, meta_graph_def=data)

    def _add_first_graph(self, graph: Any, graph_def: Any) -> None:
        """Log the constructor's graph; of TensorFlow's own, the MetaGraphDef too, as TF1 does."""
        self.add_graph(graph, graph_def=graph_def)
        exported = kinds.meta_graph.exported_meta_graph(graph_def if graph is None else graph)
        if exported is not None:
            self.add_meta_graph(exported)

    def add_onnx_graph(self, prototxt: Any = None, *, onnx_model_file: Any = None) -> None:
        """Log the graph of an ONNX model.

        Args:
            prototxt: the model's file, under torch's name: a path, or a file that is open for reading bytes.
            onnx_model_file: tensorboardX's name for it.

        Raises:
            TypeError: there is no file, or there are both.
            ImportError: onnx is not installed.
            OSError: the file cannot be read.
        """
        if (prototxt is None) == (onnx_model_file is None):
            got = "neither" if prototxt is None else "both"
            raise TypeError(f"prototxt and onnx_model_file are two names for one argument, got {got}")
        self.add_graph(kinds.graph.read_onnx(onnx_model_file if prototxt is None else prototxt))

    def add_openvino_graph(self, xmlname: str | os.PathLike[str]) -> None:
        """Log the graph of an OpenVINO model, as tensorboardX does.

        Args:
            xmlname: the model's XML file.

        Raises:
            ValueError: the file is not the XML of a model.
            OSError: the file cannot be read.
        """
        self.add_graph(kinds.openvino.read_openvino(xmlname))

    def _add_event_with(self, global_step: Any, **content: Any) -> None:
        self.add_event(wire.pb.Event(wall_time=self._wall_clock(), step=self._event_step(global_step), **content))


def write_graph(
    graph_def: Any,
    logdir: str | os.PathLike[str],
    name: str,
    as_text: bool = True,
    *,
    storage_options: Mapping[str, object] | None = None,
) -> str:
    """Write a GraphDef to a file of its own, as TF1's function of the same name does.

    Args:
        graph_def: our GraphDef, any other with the same wire format, its bytes, an object with `as_graph_def()`, or, if
            `optim` is imported, a loss, which is traced without its arrays.
        logdir: the directory; created if missing.
        name: the file's name, usually ending in .pbtxt, or in .pb if binary.
        as_text: whether to write protobuf's text format instead of binary.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Returns:
        The file's path.

    Raises:
        TypeError: `graph_def` is not a graph.
        ValueError: the bytes do not parse as a GraphDef.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> from summaries import GraphDef, read_graph
    >>> from summaries.wire.pb import NodeDef
    >>> path = write_graph(GraphDef(node=[NodeDef(name="x", op="Placeholder")]), tempfile.mkdtemp(), "graph.pbtxt")
    >>> read_graph(path).node[0].name
    'x'
    """
    data = kinds.graph.graph_bytes(graph_def)
    if as_text:
        from google.protobuf import text_format  # noqa: PLC0415 - few programs need it

        data = text_format.MessageToString(wire.pb.GraphDef.FromString(data), as_utf8=True).encode()
    path = join(os.fspath(logdir), name)
    write_file(path, data, storage_options)
    return path
