from summaries.wire.pb import graph_pb2 as _graph_pb2
from summaries.wire.pb import tensor_pb2 as _tensor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import Any as _Any, ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunMetadata(_message.Message):
    """The message RunMetadata of TensorBoard's format."""
    __slots__ = ("step_stats", "cost_graph", "partition_graphs", "function_graphs", "session_metadata")
    class FunctionGraphs(_message.Message):
        """The message FunctionGraphs of TensorBoard's format."""
        __slots__ = ("partition_graphs", "pre_optimization_graph", "post_optimization_graph")
        PARTITION_GRAPHS_FIELD_NUMBER: _ClassVar[int]
        PRE_OPTIMIZATION_GRAPH_FIELD_NUMBER: _ClassVar[int]
        POST_OPTIMIZATION_GRAPH_FIELD_NUMBER: _ClassVar[int]
        partition_graphs: _containers.RepeatedCompositeFieldContainer[_graph_pb2.GraphDef]
        pre_optimization_graph: _graph_pb2.GraphDef
        post_optimization_graph: _graph_pb2.GraphDef
        def __init__(self, partition_graphs: _Optional[_Iterable[_Union[_graph_pb2.GraphDef, _Mapping[str, _Any]]]] = None, pre_optimization_graph: _Optional[_Union[_graph_pb2.GraphDef, _Mapping[str, _Any]]] = None, post_optimization_graph: _Optional[_Union[_graph_pb2.GraphDef, _Mapping[str, _Any]]] = None) -> None: ...
    STEP_STATS_FIELD_NUMBER: _ClassVar[int]
    COST_GRAPH_FIELD_NUMBER: _ClassVar[int]
    PARTITION_GRAPHS_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_GRAPHS_FIELD_NUMBER: _ClassVar[int]
    SESSION_METADATA_FIELD_NUMBER: _ClassVar[int]
    step_stats: StepStats
    cost_graph: CostGraphDef
    partition_graphs: _containers.RepeatedCompositeFieldContainer[_graph_pb2.GraphDef]
    function_graphs: _containers.RepeatedCompositeFieldContainer[RunMetadata.FunctionGraphs]
    session_metadata: SessionMetadata
    def __init__(self, step_stats: _Optional[_Union[StepStats, _Mapping[str, _Any]]] = None, cost_graph: _Optional[_Union[CostGraphDef, _Mapping[str, _Any]]] = None, partition_graphs: _Optional[_Iterable[_Union[_graph_pb2.GraphDef, _Mapping[str, _Any]]]] = None, function_graphs: _Optional[_Iterable[_Union[RunMetadata.FunctionGraphs, _Mapping[str, _Any]]]] = None, session_metadata: _Optional[_Union[SessionMetadata, _Mapping[str, _Any]]] = None) -> None: ...

class SessionMetadata(_message.Message):
    """The message SessionMetadata of TensorBoard's format."""
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: int
    def __init__(self, name: _Optional[str] = None, version: _Optional[int] = None) -> None: ...

class StepStats(_message.Message):
    """The message StepStats of TensorBoard's format."""
    __slots__ = ("dev_stats",)
    DEV_STATS_FIELD_NUMBER: _ClassVar[int]
    dev_stats: _containers.RepeatedCompositeFieldContainer[DeviceStepStats]
    def __init__(self, dev_stats: _Optional[_Iterable[_Union[DeviceStepStats, _Mapping[str, _Any]]]] = None) -> None: ...

class DeviceStepStats(_message.Message):
    """The message DeviceStepStats of TensorBoard's format."""
    __slots__ = ("device", "node_stats", "thread_names")
    class ThreadNamesEntry(_message.Message):
        """The message ThreadNamesEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: str
        def __init__(self, key: _Optional[int] = None, value: _Optional[str] = None) -> None: ...
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    NODE_STATS_FIELD_NUMBER: _ClassVar[int]
    THREAD_NAMES_FIELD_NUMBER: _ClassVar[int]
    device: str
    node_stats: _containers.RepeatedCompositeFieldContainer[NodeExecStats]
    thread_names: _containers.ScalarMap[int, str]
    def __init__(self, device: _Optional[str] = None, node_stats: _Optional[_Iterable[_Union[NodeExecStats, _Mapping[str, _Any]]]] = None, thread_names: _Optional[_Mapping[int, str]] = None) -> None: ...

class NodeExecStats(_message.Message):
    """The message NodeExecStats of TensorBoard's format."""
    __slots__ = ("node_name", "all_start_micros", "op_start_rel_micros", "op_end_rel_micros", "all_end_rel_micros", "memory", "output", "timeline_label", "scheduled_micros", "thread_id", "referenced_tensor", "memory_stats", "all_start_nanos", "op_start_rel_nanos", "op_end_rel_nanos", "all_end_rel_nanos", "scheduled_nanos")
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    ALL_START_MICROS_FIELD_NUMBER: _ClassVar[int]
    OP_START_REL_MICROS_FIELD_NUMBER: _ClassVar[int]
    OP_END_REL_MICROS_FIELD_NUMBER: _ClassVar[int]
    ALL_END_REL_MICROS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TIMELINE_LABEL_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_MICROS_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    REFERENCED_TENSOR_FIELD_NUMBER: _ClassVar[int]
    MEMORY_STATS_FIELD_NUMBER: _ClassVar[int]
    ALL_START_NANOS_FIELD_NUMBER: _ClassVar[int]
    OP_START_REL_NANOS_FIELD_NUMBER: _ClassVar[int]
    OP_END_REL_NANOS_FIELD_NUMBER: _ClassVar[int]
    ALL_END_REL_NANOS_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_NANOS_FIELD_NUMBER: _ClassVar[int]
    node_name: str
    all_start_micros: int
    op_start_rel_micros: int
    op_end_rel_micros: int
    all_end_rel_micros: int
    memory: _containers.RepeatedCompositeFieldContainer[AllocatorMemoryUsed]
    output: _containers.RepeatedCompositeFieldContainer[NodeOutput]
    timeline_label: str
    scheduled_micros: int
    thread_id: int
    referenced_tensor: _containers.RepeatedCompositeFieldContainer[AllocationDescription]
    memory_stats: MemoryStats
    all_start_nanos: int
    op_start_rel_nanos: int
    op_end_rel_nanos: int
    all_end_rel_nanos: int
    scheduled_nanos: int
    def __init__(self, node_name: _Optional[str] = None, all_start_micros: _Optional[int] = None, op_start_rel_micros: _Optional[int] = None, op_end_rel_micros: _Optional[int] = None, all_end_rel_micros: _Optional[int] = None, memory: _Optional[_Iterable[_Union[AllocatorMemoryUsed, _Mapping[str, _Any]]]] = None, output: _Optional[_Iterable[_Union[NodeOutput, _Mapping[str, _Any]]]] = None, timeline_label: _Optional[str] = None, scheduled_micros: _Optional[int] = None, thread_id: _Optional[int] = None, referenced_tensor: _Optional[_Iterable[_Union[AllocationDescription, _Mapping[str, _Any]]]] = None, memory_stats: _Optional[_Union[MemoryStats, _Mapping[str, _Any]]] = None, all_start_nanos: _Optional[int] = None, op_start_rel_nanos: _Optional[int] = None, op_end_rel_nanos: _Optional[int] = None, all_end_rel_nanos: _Optional[int] = None, scheduled_nanos: _Optional[int] = None) -> None: ...

class NodeOutput(_message.Message):
    """The message NodeOutput of TensorBoard's format."""
    __slots__ = ("slot", "tensor_description")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    slot: int
    tensor_description: TensorDescription
    def __init__(self, slot: _Optional[int] = None, tensor_description: _Optional[_Union[TensorDescription, _Mapping[str, _Any]]] = None) -> None: ...

class TensorDescription(_message.Message):
    """The message TensorDescription of TensorBoard's format."""
    __slots__ = ("dtype", "shape", "allocation_description")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    dtype: _tensor_pb2.DataType
    shape: _tensor_pb2.TensorShapeProto
    allocation_description: AllocationDescription
    def __init__(self, dtype: _Optional[_Union[_tensor_pb2.DataType, str]] = None, shape: _Optional[_Union[_tensor_pb2.TensorShapeProto, _Mapping[str, _Any]]] = None, allocation_description: _Optional[_Union[AllocationDescription, _Mapping[str, _Any]]] = None) -> None: ...

class AllocationDescription(_message.Message):
    """The message AllocationDescription of TensorBoard's format."""
    __slots__ = ("requested_bytes", "allocated_bytes", "allocator_name", "allocation_id", "has_single_reference", "ptr")
    REQUESTED_BYTES_FIELD_NUMBER: _ClassVar[int]
    ALLOCATED_BYTES_FIELD_NUMBER: _ClassVar[int]
    ALLOCATOR_NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    HAS_SINGLE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    PTR_FIELD_NUMBER: _ClassVar[int]
    requested_bytes: int
    allocated_bytes: int
    allocator_name: str
    allocation_id: int
    has_single_reference: bool
    ptr: int
    def __init__(self, requested_bytes: _Optional[int] = None, allocated_bytes: _Optional[int] = None, allocator_name: _Optional[str] = None, allocation_id: _Optional[int] = None, has_single_reference: _Optional[bool] = None, ptr: _Optional[int] = None) -> None: ...

class AllocatorMemoryUsed(_message.Message):
    """The message AllocatorMemoryUsed of TensorBoard's format."""
    __slots__ = ("allocator_name", "total_bytes", "peak_bytes", "live_bytes", "allocator_bytes_in_use", "allocation_records")
    ALLOCATOR_NAME_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    LIVE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ALLOCATOR_BYTES_IN_USE_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_RECORDS_FIELD_NUMBER: _ClassVar[int]
    allocator_name: str
    total_bytes: int
    peak_bytes: int
    live_bytes: int
    allocator_bytes_in_use: int
    allocation_records: _containers.RepeatedCompositeFieldContainer[AllocationRecord]
    def __init__(self, allocator_name: _Optional[str] = None, total_bytes: _Optional[int] = None, peak_bytes: _Optional[int] = None, live_bytes: _Optional[int] = None, allocator_bytes_in_use: _Optional[int] = None, allocation_records: _Optional[_Iterable[_Union[AllocationRecord, _Mapping[str, _Any]]]] = None) -> None: ...

class AllocationRecord(_message.Message):
    """The message AllocationRecord of TensorBoard's format."""
    __slots__ = ("alloc_micros", "alloc_bytes")
    ALLOC_MICROS_FIELD_NUMBER: _ClassVar[int]
    ALLOC_BYTES_FIELD_NUMBER: _ClassVar[int]
    alloc_micros: int
    alloc_bytes: int
    def __init__(self, alloc_micros: _Optional[int] = None, alloc_bytes: _Optional[int] = None) -> None: ...

class MemoryStats(_message.Message):
    """The message MemoryStats of TensorBoard's format."""
    __slots__ = ("temp_memory_size", "device_temp_memory_size", "persistent_memory_size", "device_persistent_memory_size", "persistent_tensor_alloc_ids", "device_persistent_tensor_alloc_ids")
    TEMP_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TEMP_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    PERSISTENT_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_PERSISTENT_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    PERSISTENT_TENSOR_ALLOC_IDS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_PERSISTENT_TENSOR_ALLOC_IDS_FIELD_NUMBER: _ClassVar[int]
    temp_memory_size: int
    device_temp_memory_size: int
    persistent_memory_size: int
    device_persistent_memory_size: int
    persistent_tensor_alloc_ids: _containers.RepeatedScalarFieldContainer[int]
    device_persistent_tensor_alloc_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, temp_memory_size: _Optional[int] = None, device_temp_memory_size: _Optional[int] = None, persistent_memory_size: _Optional[int] = None, device_persistent_memory_size: _Optional[int] = None, persistent_tensor_alloc_ids: _Optional[_Iterable[int]] = None, device_persistent_tensor_alloc_ids: _Optional[_Iterable[int]] = None) -> None: ...

class CostGraphDef(_message.Message):
    """The message CostGraphDef of TensorBoard's format."""
    __slots__ = ("node", "cost")
    class Node(_message.Message):
        """The message Node of TensorBoard's format."""
        __slots__ = ("name", "device", "id", "input_info", "output_info", "temporary_memory_size", "is_final", "control_input", "compute_cost", "host_temp_memory_size", "device_temp_memory_size", "persistent_memory_size", "compute_time", "memory_time", "device_persistent_memory_size", "inaccurate")
        class InputInfo(_message.Message):
            """The message InputInfo of TensorBoard's format."""
            __slots__ = ("preceding_node", "preceding_port")
            PRECEDING_NODE_FIELD_NUMBER: _ClassVar[int]
            PRECEDING_PORT_FIELD_NUMBER: _ClassVar[int]
            preceding_node: int
            preceding_port: int
            def __init__(self, preceding_node: _Optional[int] = None, preceding_port: _Optional[int] = None) -> None: ...
        class OutputInfo(_message.Message):
            """The message OutputInfo of TensorBoard's format."""
            __slots__ = ("size", "alias_input_port", "shape", "dtype")
            SIZE_FIELD_NUMBER: _ClassVar[int]
            ALIAS_INPUT_PORT_FIELD_NUMBER: _ClassVar[int]
            SHAPE_FIELD_NUMBER: _ClassVar[int]
            DTYPE_FIELD_NUMBER: _ClassVar[int]
            size: int
            alias_input_port: int
            shape: _tensor_pb2.TensorShapeProto
            dtype: _tensor_pb2.DataType
            def __init__(self, size: _Optional[int] = None, alias_input_port: _Optional[int] = None, shape: _Optional[_Union[_tensor_pb2.TensorShapeProto, _Mapping[str, _Any]]] = None, dtype: _Optional[_Union[_tensor_pb2.DataType, str]] = None) -> None: ...
        NAME_FIELD_NUMBER: _ClassVar[int]
        DEVICE_FIELD_NUMBER: _ClassVar[int]
        ID_FIELD_NUMBER: _ClassVar[int]
        INPUT_INFO_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_INFO_FIELD_NUMBER: _ClassVar[int]
        TEMPORARY_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
        IS_FINAL_FIELD_NUMBER: _ClassVar[int]
        CONTROL_INPUT_FIELD_NUMBER: _ClassVar[int]
        COMPUTE_COST_FIELD_NUMBER: _ClassVar[int]
        HOST_TEMP_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
        DEVICE_TEMP_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
        PERSISTENT_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
        COMPUTE_TIME_FIELD_NUMBER: _ClassVar[int]
        MEMORY_TIME_FIELD_NUMBER: _ClassVar[int]
        DEVICE_PERSISTENT_MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
        INACCURATE_FIELD_NUMBER: _ClassVar[int]
        name: str
        device: str
        id: int
        input_info: _containers.RepeatedCompositeFieldContainer[CostGraphDef.Node.InputInfo]
        output_info: _containers.RepeatedCompositeFieldContainer[CostGraphDef.Node.OutputInfo]
        temporary_memory_size: int
        is_final: bool
        control_input: _containers.RepeatedScalarFieldContainer[int]
        compute_cost: int
        host_temp_memory_size: int
        device_temp_memory_size: int
        persistent_memory_size: int
        compute_time: int
        memory_time: int
        device_persistent_memory_size: int
        inaccurate: bool
        def __init__(self, name: _Optional[str] = None, device: _Optional[str] = None, id: _Optional[int] = None, input_info: _Optional[_Iterable[_Union[CostGraphDef.Node.InputInfo, _Mapping[str, _Any]]]] = None, output_info: _Optional[_Iterable[_Union[CostGraphDef.Node.OutputInfo, _Mapping[str, _Any]]]] = None, temporary_memory_size: _Optional[int] = None, is_final: _Optional[bool] = None, control_input: _Optional[_Iterable[int]] = None, compute_cost: _Optional[int] = None, host_temp_memory_size: _Optional[int] = None, device_temp_memory_size: _Optional[int] = None, persistent_memory_size: _Optional[int] = None, compute_time: _Optional[int] = None, memory_time: _Optional[int] = None, device_persistent_memory_size: _Optional[int] = None, inaccurate: _Optional[bool] = None) -> None: ...
    class AggregatedCost(_message.Message):
        """The message AggregatedCost of TensorBoard's format."""
        __slots__ = ("cost", "dimension")
        COST_FIELD_NUMBER: _ClassVar[int]
        DIMENSION_FIELD_NUMBER: _ClassVar[int]
        cost: float
        dimension: str
        def __init__(self, cost: _Optional[float] = None, dimension: _Optional[str] = None) -> None: ...
    NODE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    node: _containers.RepeatedCompositeFieldContainer[CostGraphDef.Node]
    cost: _containers.RepeatedCompositeFieldContainer[CostGraphDef.AggregatedCost]
    def __init__(self, node: _Optional[_Iterable[_Union[CostGraphDef.Node, _Mapping[str, _Any]]]] = None, cost: _Optional[_Iterable[_Union[CostGraphDef.AggregatedCost, _Mapping[str, _Any]]]] = None) -> None: ...
