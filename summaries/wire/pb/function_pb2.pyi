from summaries.wire.pb import node_pb2 as _node_pb2
from summaries.wire.pb import tensor_pb2 as _tensor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import Any as _Any, ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpDef(_message.Message):
    """The message OpDef of TensorBoard's format."""
    __slots__ = ("name", "input_arg", "output_arg", "attr", "summary", "description", "deprecation", "is_aggregate", "is_stateful", "is_commutative", "allows_uninitialized_input", "control_output", "is_distributed_communication")
    class ArgDef(_message.Message):
        """The message ArgDef of TensorBoard's format."""
        __slots__ = ("name", "description", "type", "type_attr", "number_attr", "type_list_attr", "handle_data", "is_ref", "experimental_full_type")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        TYPE_ATTR_FIELD_NUMBER: _ClassVar[int]
        NUMBER_ATTR_FIELD_NUMBER: _ClassVar[int]
        TYPE_LIST_ATTR_FIELD_NUMBER: _ClassVar[int]
        HANDLE_DATA_FIELD_NUMBER: _ClassVar[int]
        IS_REF_FIELD_NUMBER: _ClassVar[int]
        EXPERIMENTAL_FULL_TYPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        description: str
        type: _tensor_pb2.DataType
        type_attr: str
        number_attr: str
        type_list_attr: str
        handle_data: _containers.RepeatedCompositeFieldContainer[_tensor_pb2.ResourceHandleProto.DtypeAndShape]
        is_ref: bool
        experimental_full_type: _node_pb2.FullTypeDef
        def __init__(self, name: _Optional[str] = None, description: _Optional[str] = None, type: _Optional[_Union[_tensor_pb2.DataType, str]] = None, type_attr: _Optional[str] = None, number_attr: _Optional[str] = None, type_list_attr: _Optional[str] = None, handle_data: _Optional[_Iterable[_Union[_tensor_pb2.ResourceHandleProto.DtypeAndShape, _Mapping[str, _Any]]]] = None, is_ref: _Optional[bool] = None, experimental_full_type: _Optional[_Union[_node_pb2.FullTypeDef, _Mapping[str, _Any]]] = None) -> None: ...
    class AttrDef(_message.Message):
        """The message AttrDef of TensorBoard's format."""
        __slots__ = ("name", "type", "default_value", "description", "has_minimum", "minimum", "allowed_values")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        HAS_MINIMUM_FIELD_NUMBER: _ClassVar[int]
        MINIMUM_FIELD_NUMBER: _ClassVar[int]
        ALLOWED_VALUES_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        default_value: _node_pb2.AttrValue
        description: str
        has_minimum: bool
        minimum: int
        allowed_values: _node_pb2.AttrValue
        def __init__(self, name: _Optional[str] = None, type: _Optional[str] = None, default_value: _Optional[_Union[_node_pb2.AttrValue, _Mapping[str, _Any]]] = None, description: _Optional[str] = None, has_minimum: _Optional[bool] = None, minimum: _Optional[int] = None, allowed_values: _Optional[_Union[_node_pb2.AttrValue, _Mapping[str, _Any]]] = None) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_ARG_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ARG_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DEPRECATION_FIELD_NUMBER: _ClassVar[int]
    IS_AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    IS_STATEFUL_FIELD_NUMBER: _ClassVar[int]
    IS_COMMUTATIVE_FIELD_NUMBER: _ClassVar[int]
    ALLOWS_UNINITIALIZED_INPUT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    IS_DISTRIBUTED_COMMUNICATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    input_arg: _containers.RepeatedCompositeFieldContainer[OpDef.ArgDef]
    output_arg: _containers.RepeatedCompositeFieldContainer[OpDef.ArgDef]
    attr: _containers.RepeatedCompositeFieldContainer[OpDef.AttrDef]
    summary: str
    description: str
    deprecation: OpDeprecation
    is_aggregate: bool
    is_stateful: bool
    is_commutative: bool
    allows_uninitialized_input: bool
    control_output: _containers.RepeatedScalarFieldContainer[str]
    is_distributed_communication: bool
    def __init__(self, name: _Optional[str] = None, input_arg: _Optional[_Iterable[_Union[OpDef.ArgDef, _Mapping[str, _Any]]]] = None, output_arg: _Optional[_Iterable[_Union[OpDef.ArgDef, _Mapping[str, _Any]]]] = None, attr: _Optional[_Iterable[_Union[OpDef.AttrDef, _Mapping[str, _Any]]]] = None, summary: _Optional[str] = None, description: _Optional[str] = None, deprecation: _Optional[_Union[OpDeprecation, _Mapping[str, _Any]]] = None, is_aggregate: _Optional[bool] = None, is_stateful: _Optional[bool] = None, is_commutative: _Optional[bool] = None, allows_uninitialized_input: _Optional[bool] = None, control_output: _Optional[_Iterable[str]] = None, is_distributed_communication: _Optional[bool] = None) -> None: ...

class OpDeprecation(_message.Message):
    """The message OpDeprecation of TensorBoard's format."""
    __slots__ = ("version", "explanation")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    version: int
    explanation: str
    def __init__(self, version: _Optional[int] = None, explanation: _Optional[str] = None) -> None: ...

class FunctionDefLibrary(_message.Message):
    """The message FunctionDefLibrary of TensorBoard's format."""
    __slots__ = ("function", "gradient", "registered_gradients")
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_GRADIENTS_FIELD_NUMBER: _ClassVar[int]
    function: _containers.RepeatedCompositeFieldContainer[FunctionDef]
    gradient: _containers.RepeatedCompositeFieldContainer[GradientDef]
    registered_gradients: _containers.RepeatedCompositeFieldContainer[RegisteredGradient]
    def __init__(self, function: _Optional[_Iterable[_Union[FunctionDef, _Mapping[str, _Any]]]] = None, gradient: _Optional[_Iterable[_Union[GradientDef, _Mapping[str, _Any]]]] = None, registered_gradients: _Optional[_Iterable[_Union[RegisteredGradient, _Mapping[str, _Any]]]] = None) -> None: ...

class FunctionDef(_message.Message):
    """The message FunctionDef of TensorBoard's format."""
    __slots__ = ("signature", "node_def", "ret", "attr", "control_ret", "arg_attr", "resource_arg_unique_id")
    class ArgAttrs(_message.Message):
        """The message ArgAttrs of TensorBoard's format."""
        __slots__ = ("attr",)
        class AttrEntry(_message.Message):
            """The message AttrEntry of TensorBoard's format."""
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _node_pb2.AttrValue
            def __init__(self, key: _Optional[str] = None, value: _Optional[_Union[_node_pb2.AttrValue, _Mapping[str, _Any]]] = None) -> None: ...
        ATTR_FIELD_NUMBER: _ClassVar[int]
        attr: _containers.MessageMap[str, _node_pb2.AttrValue]
        def __init__(self, attr: _Optional[_Mapping[str, _node_pb2.AttrValue]] = None) -> None: ...
    class RetEntry(_message.Message):
        """The message RetEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = None, value: _Optional[str] = None) -> None: ...
    class AttrEntry(_message.Message):
        """The message AttrEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _node_pb2.AttrValue
        def __init__(self, key: _Optional[str] = None, value: _Optional[_Union[_node_pb2.AttrValue, _Mapping[str, _Any]]] = None) -> None: ...
    class ControlRetEntry(_message.Message):
        """The message ControlRetEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = None, value: _Optional[str] = None) -> None: ...
    class ArgAttrEntry(_message.Message):
        """The message ArgAttrEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: FunctionDef.ArgAttrs
        def __init__(self, key: _Optional[int] = None, value: _Optional[_Union[FunctionDef.ArgAttrs, _Mapping[str, _Any]]] = None) -> None: ...
    class ResourceArgUniqueIdEntry(_message.Message):
        """The message ResourceArgUniqueIdEntry of TensorBoard's format."""
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: int
        def __init__(self, key: _Optional[int] = None, value: _Optional[int] = None) -> None: ...
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    NODE_DEF_FIELD_NUMBER: _ClassVar[int]
    RET_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    CONTROL_RET_FIELD_NUMBER: _ClassVar[int]
    ARG_ATTR_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ARG_UNIQUE_ID_FIELD_NUMBER: _ClassVar[int]
    signature: OpDef
    node_def: _containers.RepeatedCompositeFieldContainer[_node_pb2.NodeDef]
    ret: _containers.ScalarMap[str, str]
    attr: _containers.MessageMap[str, _node_pb2.AttrValue]
    control_ret: _containers.ScalarMap[str, str]
    arg_attr: _containers.MessageMap[int, FunctionDef.ArgAttrs]
    resource_arg_unique_id: _containers.ScalarMap[int, int]
    def __init__(self, signature: _Optional[_Union[OpDef, _Mapping[str, _Any]]] = None, node_def: _Optional[_Iterable[_Union[_node_pb2.NodeDef, _Mapping[str, _Any]]]] = None, ret: _Optional[_Mapping[str, str]] = None, attr: _Optional[_Mapping[str, _node_pb2.AttrValue]] = None, control_ret: _Optional[_Mapping[str, str]] = None, arg_attr: _Optional[_Mapping[int, FunctionDef.ArgAttrs]] = None, resource_arg_unique_id: _Optional[_Mapping[int, int]] = None) -> None: ...

class GradientDef(_message.Message):
    """The message GradientDef of TensorBoard's format."""
    __slots__ = ("function_name", "gradient_func")
    FUNCTION_NAME_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_FUNC_FIELD_NUMBER: _ClassVar[int]
    function_name: str
    gradient_func: str
    def __init__(self, function_name: _Optional[str] = None, gradient_func: _Optional[str] = None) -> None: ...

class RegisteredGradient(_message.Message):
    """The message RegisteredGradient of TensorBoard's format."""
    __slots__ = ("gradient_func", "registered_op_type")
    GRADIENT_FUNC_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_OP_TYPE_FIELD_NUMBER: _ClassVar[int]
    gradient_func: str
    registered_op_type: str
    def __init__(self, gradient_func: _Optional[str] = None, registered_op_type: _Optional[str] = None) -> None: ...
