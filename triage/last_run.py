"""The capture of the last `triage run`, kept for `triage new --last-run`.

It lies in the user's state folder, readable by the user alone, unmasked: masking happens where it
leaves for a corpus.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from triage.capture_data import CAPTURE_KEYS
from triage.errors import UsageError
from triage.model import Capture

__all__ = ["capture_data", "last_run_file", "recall", "remember"]

_LARGEST = 4 << 20


def last_run_file() -> Path | None:
    """``$XDG_STATE_HOME/triage/last-run.json``, by default below ``~/.local/state``."""
    base = os.environ.get("XDG_STATE_HOME")
    if base and Path(base).is_absolute():
        return Path(base) / "triage" / "last-run.json"
    home = os.environ.get("HOME") or os.environ.get("LOCALAPPDATA")
    return Path(home) / ".local" / "state" / "triage" / "last-run.json" if home else None


def remember(capture: Capture) -> bool:
    """Keep one capture, whose streams are text or bytes; false where it can't be kept."""
    path = last_run_file()
    text = json.dumps(capture_data(capture)).encode()
    if path is None or len(text) > _LARGEST:
        return False
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(text)
        fresh.replace(path)
    except OSError:
        return False
    return True


def capture_data(capture: Capture) -> dict[str, Any]:
    """The capture as JSON data; bytes that are no UTF-8 become base64."""
    usual = Capture(exit_code=0)
    data: dict[str, Any] = {}
    for key in CAPTURE_KEYS:
        if key.endswith("_b64"):
            continue
        value = getattr(capture, key)
        if key != "exit_code" and value == getattr(usual, key):
            continue
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError:
                if key == "merged":
                    data["merged"], key = True, "stdout"
                key, value = f"{key}_b64", base64.b64encode(value).decode("ascii")
        data[key] = value
    return data


def recall() -> Any:
    """Return the kept capture's JSON data; raises `UsageError` where there is none."""
    path = last_run_file()
    if path is None or not path.is_file():
        raise UsageError("--last-run", "no run is remembered", "run `triage run -- CMD…` first")
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(str(path), f"can't be read: {error}", "run the command again") from None
