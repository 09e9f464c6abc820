"""A computed attribute that users may replace, as they may the plain ones of torch's and tensorboardX's writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["computed"]

_Value = TypeVar("_Value")


class computed(Generic[_Value]):  # noqa: N801 - used as `property` is
    """Like `property`, but an assignment to the instance takes its place, and deleting that brings it back.

    Subclasses of a writer keep values of their own under names such as `log_dir`. So our own code must not read them.

    Args:
        getter: computes the value.

    >>> class Circle:
    ...     radius = 1
    ...     @computed
    ...     def diameter(self):
    ...         return 2 * self.radius
    >>> circle = Circle()
    >>> before, circle.diameter = circle.diameter, 5
    >>> before, circle.diameter
    (2, 5)
    """

    def __init__(self, getter: Callable[[Any], _Value]) -> None:
        self.__doc__ = getter.__doc__
        self._getter = getter

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | _Value:
        return self if instance is None else self._getter(instance)
