from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import Any as _Any, ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Layout(_message.Message):
    """The message Layout of TensorBoard's format."""
    __slots__ = ("version", "category")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    version: int
    category: _containers.RepeatedCompositeFieldContainer[Category]
    def __init__(self, version: _Optional[int] = None, category: _Optional[_Iterable[_Union[Category, _Mapping[str, _Any]]]] = None) -> None: ...

class Category(_message.Message):
    """The message Category of TensorBoard's format."""
    __slots__ = ("title", "chart", "closed")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CHART_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    title: str
    chart: _containers.RepeatedCompositeFieldContainer[Chart]
    closed: bool
    def __init__(self, title: _Optional[str] = None, chart: _Optional[_Iterable[_Union[Chart, _Mapping[str, _Any]]]] = None, closed: _Optional[bool] = None) -> None: ...

class Chart(_message.Message):
    """The message Chart of TensorBoard's format."""
    __slots__ = ("title", "multiline", "margin")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MULTILINE_FIELD_NUMBER: _ClassVar[int]
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    title: str
    multiline: MultilineChartContent
    margin: MarginChartContent
    def __init__(self, title: _Optional[str] = None, multiline: _Optional[_Union[MultilineChartContent, _Mapping[str, _Any]]] = None, margin: _Optional[_Union[MarginChartContent, _Mapping[str, _Any]]] = None) -> None: ...

class MultilineChartContent(_message.Message):
    """The message MultilineChartContent of TensorBoard's format."""
    __slots__ = ("tag",)
    TAG_FIELD_NUMBER: _ClassVar[int]
    tag: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tag: _Optional[_Iterable[str]] = None) -> None: ...

class MarginChartContent(_message.Message):
    """The message MarginChartContent of TensorBoard's format."""
    __slots__ = ("series",)
    class Series(_message.Message):
        """The message Series of TensorBoard's format."""
        __slots__ = ("value", "lower", "upper")
        VALUE_FIELD_NUMBER: _ClassVar[int]
        LOWER_FIELD_NUMBER: _ClassVar[int]
        UPPER_FIELD_NUMBER: _ClassVar[int]
        value: str
        lower: str
        upper: str
        def __init__(self, value: _Optional[str] = None, lower: _Optional[str] = None, upper: _Optional[str] = None) -> None: ...
    SERIES_FIELD_NUMBER: _ClassVar[int]
    series: _containers.RepeatedCompositeFieldContainer[MarginChartContent.Series]
    def __init__(self, series: _Optional[_Iterable[_Union[MarginChartContent.Series, _Mapping[str, _Any]]]] = None) -> None: ...
