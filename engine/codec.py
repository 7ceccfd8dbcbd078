"""Values of a declared type as JSON, by pydantic: what a stage returns live is what its replay returns, or it fails."""

from __future__ import annotations

import json
import math
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from . import secrets
from .errors import Blocked
from .payload import MAX_PAYLOAD_BYTES, Unrecordable, dumps, parsed

#: What pydantic writes in place of a secret.
_ASTERISKS = str(SecretStr("x"))
#: Types whose values are their own JSON; a value of exactly such a declared type needs no validation.
_OWN_JSON = (int, str, bool, type(None))


class Codec:
    """Turns values of one declared type into JSON text and back, by pydantic."""

    __slots__ = ("_adapter", "_own_json", "_secretive", "_what", "is_secret")

    def __init__(self, annotation: Any, what: str) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        self._own_json = annotation if annotation in _OWN_JSON else None
        self._what = what
        #: Whether the values are secrets: recorded by their names only.
        self.is_secret = annotation is SecretStr or (
            get_origin(annotation) in (Annotated, Union, UnionType) and SecretStr in get_args(annotation)
        )
        self._secretive: bool | None = None

    def take(self, value: object) -> tuple[Any, Any]:
        """Return the value as its declared type and as JSON types; raises Unrecordable."""
        if type(value) is self._own_json:
            return value, value
        typed, plain = self._convert(value)
        if isinstance(typed, SecretStr):
            return typed, secrets.reference(typed.get_secret_value())
        if _holds_none(plain):
            self._refuse_lost_numbers(typed)
        return typed, plain

    def encode(self, value: object) -> str:
        """Return the value as JSON text; raises Unrecordable."""
        if type(value) is int is self._own_json:
            return str(value)
        typed, plain = self._convert(value)
        try:
            text = dumps(plain)
        except (TypeError, ValueError, RecursionError):
            raise Unrecordable(f"{self._what}: {_odd_place(plain, '$')}") from None
        if _ASTERISKS in text and self.loses_secret(typed, plain):
            raise Unrecordable(f"{self._what}: it holds a SecretStr, whose value is recorded nowhere")
        if "null" in text:
            self._refuse_lost_numbers(typed)
        if len(text) > MAX_PAYLOAD_BYTES:
            raise Unrecordable(
                f"{self._what}: {len(text)} bytes are over the limit of {MAX_PAYLOAD_BYTES}; "
                "write it to a file and return its path"
            )
        return text

    def _convert(self, value: object) -> tuple[Any, Any]:
        try:
            typed = self._adapter.validate_python(value)
            return typed, self._adapter.dump_python(typed, mode="json", warnings="error")
        except ValidationError as error:
            raise Unrecordable(f"{self._what}: {self._first(error)}") from None
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise Unrecordable(f"{self._what}: {error}") from None

    def _refuse_lost_numbers(self, typed: object) -> None:
        """Raise for a NaN or infinity that became null: where no type is declared, pydantic does that silently."""
        if place := _odd_number(self._adapter.dump_python(typed), "$"):
            raise Unrecordable(f"{self._what}: {place}")

    def decode_value(self, value: Any) -> Any:
        """Return the typed value of parsed JSON; raises Unrecordable."""
        if type(value) is self._own_json:
            return value
        if self.is_secret and value is not None:
            value = self._looked_up(value)
        try:
            return (
                self._adapter.validate_python(value) if _is_plain(value) else self._adapter.validate_json(dumps(value))
            )
        except ValidationError as error:
            raise Unrecordable(f"{self._what}: {self._first(error)}") from None

    def _looked_up(self, value: object) -> str:
        """Return the value of a secret that is recorded by its name; raises Blocked where it was not given."""
        name = secrets.named(value)
        found = None if name is None else secrets.value_of(name)
        if found is None:
            raise Blocked(
                f"the value of the secret input {name or '?'} is not recorded and was not given: "
                f"{secrets.INPUT_PREFIX}{name or 'NAME'}=… poolboard resume RUN"
            )
        return found

    def loses_secret(self, typed: object, plain: object) -> bool:
        """Whether a secret somewhere in a value would be recorded as asterisks, and lost."""
        if isinstance(typed, SecretStr):
            return secrets.named(plain) is None
        return self._own_json is None and self._has_secret() and _holds_asterisks(plain)

    def _has_secret(self) -> bool:
        """Whether the declared type has a secret anywhere in it; looked up once."""
        if self._secretive is None:
            try:
                self._secretive = '"writeOnly": true' in json.dumps(self._adapter.json_schema())
            except Exception:  # a type without a schema cannot be looked into
                self._secretive = False
        return self._secretive

    def _first(self, error: ValidationError) -> str:
        """Return what is wrong with a value, and the value, unless a secret may be in it."""
        return _first(error, hide=self.is_secret or self._has_secret())

    def decode(self, text: str) -> Any:
        """Return the typed value of JSON text; raises Unrecordable."""
        return int(text) if self._own_json is int and text.isdecimal() else self.decode_value(parsed(text))

    def from_word(self, word: str) -> Any:
        """Return the JSON value of a command-line word: as it stands if the type takes it, else read as JSON."""
        try:
            return self._dumped(self._adapter.validate_python(word))
        except ValidationError as error:
            first = self._first(error)
        try:
            return self._dumped(self._adapter.validate_json(word))
        except ValidationError:
            raise Unrecordable(f"{self._what}: {first}") from None

    def _dumped(self, typed: object) -> Any:
        plain = self._adapter.dump_python(typed, mode="json")
        if not self.is_secret and self.loses_secret(typed, plain):
            raise Unrecordable(f"{self._what}: a SecretStr must be a parameter of its own, not inside another")
        return plain


def _is_plain(value: object) -> bool:
    return isinstance(value, (int, float, bool)) or value is None


def _holds_asterisks(plain: object) -> bool:
    """Whether a value holds what pydantic writes for a secret."""
    if isinstance(plain, str):
        return plain == _ASTERISKS
    if isinstance(plain, dict):
        return any(map(_holds_asterisks, plain.values()))
    return any(map(_holds_asterisks, plain)) if isinstance(plain, list) else False


def _first(error: ValidationError, *, hide: bool) -> str:
    found = error.errors(include_url=False, include_context=False)[0]
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found["loc"])
    shown = secrets.MASK if hide else repr(found["input"])
    return f"{path}: {found['msg']} (got {shown if len(shown) <= 80 else shown[:77] + '…'})"


def _holds_none(plain: object) -> bool:
    if isinstance(plain, dict):
        return any(map(_holds_none, plain.values()))
    return any(map(_holds_none, plain)) if isinstance(plain, list) else plain is None


def _odd_number(value: object, path: str) -> str:
    """Return where a number is not finite, empty if all are."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path} is {value}, which JSON cannot hold"
    inner: list[tuple[str, object]] = []
    if isinstance(value, dict):
        inner = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    return next((found for place, item in inner if (found := _odd_number(item, place))), "")


def _odd_place(value: object, path: str) -> str:
    """Return where a value is not JSON. Depth is bounded by json's own recursion limit, which already raised."""
    if number := _odd_number(value, path):
        return number
    return f"{path} holds something that JSON cannot hold"
