"""`frozen`: what ``dataclass(frozen=True, slots=True)`` makes, for a process of milliseconds.

`dataclasses` imports inspect and compiles half a dozen methods for each class; for the classes
that every verdict needs this cost twice what starting Python costs. Here the methods are shared,
not compiled. What only `dataclasses` and `inspect` ask for (`fields`, `replace`, `asdict`,
`signature`) is made when they ask, from a true dataclass with the same fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["fresh", "frozen", "replaced"]


class _Fresh:
    """A default that each instance gets its own of."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def fresh(*, factory: Callable[[], T]) -> T:
    """Declare a default that `factory` makes for each instance."""
    declared: Any = _Fresh(factory)
    made: T = declared
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(fresh,))
def frozen(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """Decorate a class of annotated names: frozen, slotted, a dataclass to all who ask.

    `kw_only` and `eq` mean what they mean to `dataclasses.dataclass`. Fields whose name begins
    with an underscore are neither shown nor compared; those with a `fresh` default are no part of
    the hash. The class has no base class, and no `InitVar` or `ClassVar`.
    """

    def made(cls: type[T]) -> type[T]:
        space: dict[str, Any] = dict(cls.__dict__)
        names = tuple(cls.__annotations__)
        defaults = {name: space.pop(name) for name in names if name in space}
        for name in ("__dict__", "__weakref__"):
            space.pop(name, None)
        space["__slots__"] = names
        space["__match_args__"] = () if kw_only else names
        shown = tuple(name for name in names if not name.startswith("_"))
        space["_shown"] = shown
        space["_hashed"] = tuple(
            name for name in shown if not isinstance(defaults.get(name), _Fresh)
        )
        # `__repr__` may be the class's own.
        for name, method in {**_METHODS, **(_EQUAL if eq else {})}.items():
            space.setdefault(name, method)
        for name in _ASKED:
            space[name] = _Asked(name, kw_only, eq, defaults)
        remade: Any = type(cls.__name__, (), space)
        remade.__init__ = _init_of(remade, names, defaults, kw_only)
        result: type[T] = remade
        return result

    return made


def replaced(item: T, **changes: Any) -> T:
    """Return `item` of a frozen class with some fields changed, as `dataclasses.replace` does."""
    made: T = _replace(item, **changes)
    return made


def _init_of(
    cls: Any, names: tuple[str, ...], defaults: dict[str, Any], kw_only: bool
) -> Callable[..., None]:
    """The constructor of one class; it may still set what nobody can set later."""
    setters = [cls.__dict__[name].__set__ for name in names]
    pairs = list(zip(names, setters, strict=True))
    most = 0 if kw_only else len(names)

    def init(self: Any, *values: Any, **named: Any) -> None:
        given = len(values)
        if given > most:
            raise TypeError(f"{cls.__qualname__}() takes {most} positional values, got {given}")
        for set_value, value in zip(setters, values, strict=False):
            set_value(self, value)
        if given == len(names) and not named:
            return
        known = {**defaults, **named} if defaults else named
        for name, set_value in pairs[given:] if given else pairs:
            try:
                value = known[name]
            except KeyError:
                raise TypeError(f"{cls.__qualname__}() misses {name!r}") from None
            set_value(self, value.factory() if value.__class__ is _Fresh else value)
        if (given and named) or len(known) > len(names):
            odd = next((name for name in named if name not in names[given:]), None)
            if odd is not None:
                told = f"got {odd!r}, which it has not, or has already"
                raise TypeError(f"{cls.__qualname__}() {told}")

    init.__name__ = "__init__"
    return init


def _compared(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self._shown]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: Any) -> int:
    return hash(tuple(getattr(self, name) for name in self._hashed))


def _refuse(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__qualname__} is frozen: {name!r} stays as it is")


def _replace(self: Any, /, **changes: Any) -> Any:
    return type(self)(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_METHODS: dict[str, Callable[..., Any]] = {
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__replace__": _replace,
    "__getstate__": _state,
    "__setstate__": _set_state,
}
_EQUAL: dict[str, Callable[..., Any]] = {"__eq__": _eq, "__hash__": _hash}
_ASKED = ("__dataclass_fields__", "__dataclass_params__", "__signature__")


class _Asked:
    """An attribute of the dataclass protocol, made when somebody asks for it."""

    __slots__ = ("defaults", "eq", "kw_only", "name")

    def __init__(self, name: str, kw_only: bool, eq: bool, defaults: dict[str, Any]) -> None:
        self.name = name
        self.kw_only = kw_only
        self.eq = eq
        self.defaults = defaults

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import dataclass, field

        space: dict[str, Any] = {
            name: field(default_factory=value.factory) if isinstance(value, _Fresh) else value
            for name, value in self.defaults.items()
        }
        space["__annotations__"] = owner.__annotations__
        space["__module__"] = owner.__module__
        # Nobody makes instances of the twin; it is only looked at.
        twin: Any = dataclass(frozen=True, eq=self.eq, kw_only=self.kw_only)(
            type(owner.__name__, (), space)
        )
        if self.name == "__signature__":
            from inspect import signature

            value: Any = signature(twin)
        else:
            value = getattr(twin, self.name)
        setattr(owner, self.name, value)
        return value
