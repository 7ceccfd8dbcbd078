"""A function's parameters and result as codecs: how arguments become JSON and come back typed."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .codec import Codec
from .payload import Unrecordable

#: Characters of a default value that a person is shown.
DEFAULT_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter that a caller gives; ``default`` is text for a person, empty if there is none."""

    name: str
    codec: Codec
    required: bool
    annotation: str
    default: str


class Signature:
    """The callable's own parameters (without ``ctx`` for workflows) and its result."""

    __slots__ = ("_by_place", "_inspected", "name", "parameters", "result", "secrets")

    def __init__(self, function: Callable[..., Any], *, skip_first: bool) -> None:
        self.name = function.__name__
        hints = _hints(function)
        listed = list(inspect.signature(function).parameters.values())[1 if skip_first else 0 :]
        odd = [p.name for p in listed if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if odd:
            raise TypeError(
                f"{self.name}: *args and **kwargs ({', '.join(odd)}) cannot be recorded; name the parameters"
            )
        self._inspected = inspect.Signature(listed)
        self._by_place = all(p.kind is not p.KEYWORD_ONLY for p in listed)
        self.parameters = {
            p.name: Parameter(
                p.name,
                Codec(hints.get(p.name, Any), f"{self.name}({p.name})"),
                p.default is p.empty,
                _spelled(hints.get(p.name, Any)),
                "" if p.default is p.empty else _shown(p.default),
            )
            for p in listed
        }
        #: The parameters that are secrets.
        self.secrets = tuple(name for name, parameter in self.parameters.items() if parameter.codec.is_secret)
        self.result = Codec(hints.get("return", Any), f"result of {self.name}")

    def bind_call(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments by parameter name, typed and as JSON; raises TypeError for a call that does not fit."""
        given: Iterable[tuple[str, object]]
        if not kwargs and len(args) == len(self.parameters) and self._by_place:
            given = zip(self.parameters, args, strict=True)
        else:
            try:
                given = self._inspected.bind(*args, **kwargs).arguments.items()
            except TypeError as error:
                raise TypeError(f"{self.name}: {error}") from None
        typed, plain = {}, {}
        for name, value in given:
            typed[name], plain[name] = self.parameters[name].codec.take(value)
        return typed, plain

    def child_call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, Any]:
        """Return the JSON arguments of a child, which must say everything: a secret only by the root's name for it."""
        typed, plain = self.bind_call(args, kwargs)
        for name, parameter in self.parameters.items():
            if name in plain and plain[name] is not None and parameter.codec.loses_secret(typed[name], plain[name]):
                raise Unrecordable(
                    f"{self.name}({name}): a secret goes to a child only as a SecretStr parameter of its own, and "
                    "only one that is an input of the root run"
                )
        return plain

    def decode_call(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return typed keyword arguments from a JSON object; raises Unrecordable, naming what is unknown or missing."""
        unknown = [name for name in given if name not in self.parameters]
        if unknown:
            raise Unrecordable(f"{self.name} has no parameter {unknown[0]!r}; it takes {self.described()}")
        missing = [p.name for p in self.parameters.values() if p.required and p.name not in given]
        if missing:
            raise Unrecordable(f"{self.name} needs {missing[0]!r}; it takes {self.described()}")
        return {name: self.parameters[name].codec.decode_value(value) for name, value in given.items()}

    def item_call(self, item: object) -> dict[str, Any]:
        """Return the JSON arguments of one item of a map: a value for a workflow of one parameter, else a dict."""
        if len(self.parameters) == 1:
            return self.child_call((item,), {})
        if isinstance(item, Mapping):
            return self.child_call((), {str(name): value for name, value in item.items()})
        raise TypeError(f"{self.name} takes {len(self.parameters)} parameters, so each item must be a dict of them")

    def described(self) -> str:
        """Return the parameters in one line, for messages."""
        parts = [f"{p.name}: {p.annotation}" + ("" if p.required else " (optional)") for p in self.parameters.values()]
        return ", ".join(parts) or "no parameters"


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"{function.__name__}: the type hint {error.name!r} cannot be resolved") from None


def _spelled(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _shown(default: object) -> str:
    try:
        text = repr(default)
    except Exception:
        return f"a {type(default).__name__}"
    return text if len(text) <= DEFAULT_LIMIT else text[: DEFAULT_LIMIT - 1] + "…"
