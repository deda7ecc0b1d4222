"""The capture of the last `triage run`, kept for `triage new --last-run`.

It lies in the user's state folder, readable by the user alone, unmasked: masking happens where it
leaves for a corpus. Every run comes here, so no path is a `Path`: pathlib costs start-up time.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from triage.capture_data import CAPTURE_KEYS
from triage.errors import UsageError
from triage.model import Capture

__all__ = ["capture_data", "last_run_file", "recall", "remember"]

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_STREAMS = ("stdout", "stderr", "merged")
# Both streams as long as a run keeps them by default fit, were they base64 or full of escapes.
_LARGEST = 16 << 20


def last_run_file() -> str | None:
    """``$XDG_STATE_HOME/triage/last-run.json``, by default below ``~/.local/state``."""
    base = os.environ.get("XDG_STATE_HOME")
    if not base or not os.path.isabs(base):
        home = os.environ.get("HOME") or os.environ.get("LOCALAPPDATA")
        if not home:
            return None
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, "triage", "last-run.json")


def remember(capture: Capture) -> bool:
    """Keep one capture; false where it can't be kept, and then no earlier one is left either."""
    path = last_run_file()
    if path is None:
        return False
    fresh = f"{path}.{os.getpid()}"
    try:
        text = json.dumps(capture_data(capture)).encode()
        if len(text) <= _LARGEST:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o600)
            with os.fdopen(handle, "wb") as out:
                out.write(text)
            os.replace(fresh, path)
            return True
    except (OSError, ValueError):
        pass
    # What is there is another run's: taken for the last one, it would mislead.
    for stale in (fresh, path):
        with suppress(OSError):
            os.unlink(stale)
    return False


def capture_data(capture: Capture) -> dict[str, Any]:
    """The capture in the form of ruling 42; bytes that are no UTF-8 become base64."""
    usual = Capture(exit_code=0)
    data: dict[str, Any] = {}
    for key in CAPTURE_KEYS:
        if key.endswith("_b64"):
            continue
        value = getattr(capture, key)
        if key != "exit_code" and value == getattr(usual, key):
            continue
        if key in _STREAMS and not isinstance(value, str):
            if not isinstance(value, bytes):
                from triage.escalation import stream_bytes

                value = stream_bytes(value)
            try:
                value = value.decode()
            except UnicodeDecodeError:
                if key == "merged":
                    data["merged"], key = True, "stdout"
                from base64 import b64encode

                key, value = f"{key}_b64", b64encode(value).decode("ascii")
        data[key] = value
    return data


def recall() -> Any:
    """Return the kept capture's JSON data; raises `UsageError` where there is none."""
    path = last_run_file()
    if path is None or not os.path.isfile(path):
        raise UsageError("--last-run", "no run is remembered", "run `triage run -- CMD…` first")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(path, f"can't be read: {error}", "run the command again") from None
