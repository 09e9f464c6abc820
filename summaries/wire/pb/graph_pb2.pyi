from summaries.wire.pb import function_pb2 as _function_pb2
from summaries.wire.pb import node_pb2 as _node_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import Any as _Any, ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GraphDef(_message.Message):
    """The message GraphDef of TensorBoard's format."""
    __slots__ = ("node", "library", "version", "versions", "debug_info")
    NODE_FIELD_NUMBER: _ClassVar[int]
    LIBRARY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    DEBUG_INFO_FIELD_NUMBER: _ClassVar[int]
    node: _containers.RepeatedCompositeFieldContainer[_node_pb2.NodeDef]
    library: _function_pb2.FunctionDefLibrary
    version: int
    versions: VersionDef
    debug_info: GraphDebugInfo
    def __init__(self, node: _Optional[_Iterable[_Union[_node_pb2.NodeDef, _Mapping[str, _Any]]]] = None, library: _Optional[_Union[_function_pb2.FunctionDefLibrary, _Mapping[str, _Any]]] = None, version: _Optional[int] = None, versions: _Optional[_Union[VersionDef, _Mapping[str, _Any]]] = None, debug_info: _Optional[_Union[GraphDebugInfo, _Mapping[str, _Any]]] = None) -> None: ...

class VersionDef(_message.Message):
    """The message VersionDef of TensorBoard's format."""
    __slots__ = ("producer", "min_consumer", "bad_consumers")
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    MIN_CONSUMER_FIELD_NUMBER: _ClassVar[int]
    BAD_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    producer: int
    min_consumer: int
    bad_consumers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, producer: _Optional[int] = None, min_consumer: _Optional[int] = None, bad_consumers: _Optional[_Iterable[int]] = None) -> None: ...

class GraphDebugInfo(_message.Message):
    """The message GraphDebugInfo of TensorBoard's format."""
    __slots__ = ("files", "traces", "frames_by_id", "name_to_trace_id", "traces_by_id")
    class FileLineCol(_message.Message):
        """The message FileLineCol of TensorBoard's format."""
        __slots__ = ("file_index", "line", "col", "func", "code")
        FILE_INDEX_FIELD_NUMBER: _ClassVar[int]
        LINE_FIELD_NUMBER: _ClassVar[int]
        COL_FIELD_NUMBER: _ClassVar[int]
        FUNC_FIELD_NUMBER: _ClassVar[int]
        CODE_FIELD_NUMBER: _ClassVar[int]
        file_index: int
        line: int
        col: int
        func: str
        code: str
        def __init__(self, file_index: _Optional[int] = None, line: _Optional[int] = None, col: _Optional[int] = None, func: _Optional[str] = None, code: _Optional[str] = None) -> None: ...
    class StackTrace(_message.Message):
        """The message StackTrace of TensorBoard's format."""
        __slots__ = ("file_line_cols", "frame_id")
        FILE_LINE_COLS_FIELD_NUMBER: _ClassVar[int]
        FRAME_ID_FIELD_NUMBER: _ClassVar[int]
        file_line_cols: _containers.RepeatedCompositeFieldContainer[GraphDebugInfo.FileLineCol]
        frame_id: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, file_line_cols: _Optional[_Iterable[_Union[GraphDebugInfo.FileLineCol, _Mapping[str, _Any]]]] = None, frame_id: _Optional[_Iterable[int]] = None) -> None: ...
    class TracesEntry(_message.Message):
        """The message TracesEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: GraphDebugInfo.StackTrace
        def __init__(self, key: _Optional[str] = None, value: _Optional[_Union[GraphDebugInfo.StackTrace, _Mapping[str, _Any]]] = None) -> None: ...
    class FramesByIdEntry(_message.Message):
        """The message FramesByIdEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: GraphDebugInfo.FileLineCol
        def __init__(self, key: _Optional[int] = None, value: _Optional[_Union[GraphDebugInfo.FileLineCol, _Mapping[str, _Any]]] = None) -> None: ...
    class NameToTraceIdEntry(_message.Message):
        """The message NameToTraceIdEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = None, value: _Optional[int] = None) -> None: ...
    class TracesByIdEntry(_message.Message):
        """The message TracesByIdEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: GraphDebugInfo.StackTrace
        def __init__(self, key: _Optional[int] = None, value: _Optional[_Union[GraphDebugInfo.StackTrace, _Mapping[str, _Any]]] = None) -> None: ...
    FILES_FIELD_NUMBER: _ClassVar[int]
    TRACES_FIELD_NUMBER: _ClassVar[int]
    FRAMES_BY_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_TO_TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    TRACES_BY_ID_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedScalarFieldContainer[str]
    traces: _containers.MessageMap[str, GraphDebugInfo.StackTrace]
    frames_by_id: _containers.MessageMap[int, GraphDebugInfo.FileLineCol]
    name_to_trace_id: _containers.ScalarMap[str, int]
    traces_by_id: _containers.MessageMap[int, GraphDebugInfo.StackTrace]
    def __init__(self, files: _Optional[_Iterable[str]] = None, traces: _Optional[_Mapping[str, GraphDebugInfo.StackTrace]] = None, frames_by_id: _Optional[_Mapping[int, GraphDebugInfo.FileLineCol]] = None, name_to_trace_id: _Optional[_Mapping[str, int]] = None, traces_by_id: _Optional[_Mapping[int, GraphDebugInfo.StackTrace]] = None) -> None: ...
