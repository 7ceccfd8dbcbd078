"""Loads a user's file in a process of its own and says what it holds, so that no other process runs user code.

JSON on stdin (``path``, ``workflow``, and ``words``, ``values`` or ``describe``), one line of JSON on stdout.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

from . import secrets, spawn
from .definitions import load
from .errors import UserMistake
from .payload import Unrecordable


def answer(path: str, name: str | None, words: dict[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """Return the definition with the inputs as JSON by parameter name; raises UserMistake.

    ``words`` come from the command line and are read by the parameters' types; ``values`` are JSON already.
    """
    module = load(Path(path), name)
    workflow = module.pick(name)
    try:
        signature = workflow.signature
        inputs = dict(values)
        for word, text in words.items():
            if word not in signature.parameters:
                raise Unrecordable(f"{workflow.name} has no parameter {word!r}; it takes {signature.described()}")
            inputs[word] = signature.parameters[word].codec.from_word(text)
        for name in signature.secrets:
            inputs |= _secret(name, words.get(name), inputs)
        signature.decode_call(inputs)
    except (Unrecordable, TypeError) as error:
        raise UserMistake(str(error)) from None
    return {
        "workflow": workflow.name,
        "digest": module.digest,
        "inputs": inputs,
        "max_depth": workflow.max_depth,
        "concurrency": workflow.concurrency,
        "parameters": signature.described(),
        "secrets": [name for name in signature.secrets if secrets.named(inputs.get(name))],
        # Those of the workflow itself go before those that others in its file name.
        "limits": {k: v for one in (*module.workflows.values(), workflow) for k, v in one.limits.items()},
        "budget": workflow.budget,
        "needs": {stage: dict(needs) for stage, needs in module.needs.items()},
    }


def described(path: str, name: str | None) -> dict[str, Any]:
    """Return what the workflow takes and what it says of itself; raises UserMistake."""
    workflow = load(Path(path), name).pick(name)
    try:
        parameters = workflow.signature.parameters.values()
    except TypeError as error:
        raise UserMistake(str(error)) from None
    return {
        "workflow": workflow.name,
        "doc": inspect.getdoc(workflow.function) or "",
        "parameters": [
            {"name": p.name, "annotation": p.annotation, "required": p.required, "default": p.default}
            for p in parameters
        ],
    }


def _secret(name: str, word: str | None, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return how a secret input is recorded: by its name. Its value was given on the line, or in the environment."""
    if word is not None:
        secrets.remember(name, word)
    elif isinstance(inputs.get(name), str):
        secrets.remember(name, inputs[name])
    elif name in inputs or secrets.value_of(name) is None:
        return {}
    return {name: {secrets.REFERENCE: name}}


def main() -> None:
    """Run the probe. What the file prints while it is imported goes to stderr, never into the answer."""
    out = os.dup(1)
    os.dup2(2, 1)
    spawn.forget_import_root()
    secrets.take(os.environ)
    asked = json.loads(sys.stdin.buffer.read())
    try:
        if asked.get("describe"):
            told = {"ok": True} | described(asked["path"], asked["workflow"])
        else:
            told = {"ok": True} | answer(asked["path"], asked["workflow"], asked["words"], asked["values"])
    except UserMistake as mistake:
        told = {"ok": False, "message": str(mistake)}
    except BaseException as error:
        told = {"ok": False, "message": f"{asked['path']} cannot be imported: {type(error).__name__}: {error}"}
    os.write(out, json.dumps(told).encode() + b"\n")
    os._exit(0)


if __name__ == "__main__":
    main()
