"""What names the machine that records, and what is written in its place."""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DEMO_USER", "Scrubber"]

DEMO_DIR = "/work/demo"
DEMO_HOME = "/home/dev"
DEMO_USER = "dev"
DEMO_HOST = "host"
DEMO_KERNEL = "6.1.0-18-amd64"


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces what names the recording machine; order matters, longest first."""

    pairs: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def of_this_machine(cls, base: Path, ports: Mapping[int, int]) -> Scrubber:
        """Collect this machine's directories, home, kernel, user and host.

        Further pairs come from the variable RECORD_REPLACE, as ``FROM=TO`` joined by colons:
        the places where tools were installed for the recording.
        """
        pairs = [(str(base / "demo"), DEMO_DIR), (str(base / "home"), DEMO_HOME)]
        pairs += [(str(base / "tmp"), "/tmp"), (str(base), "/work"), (base.name, "work")]
        for item in filter(None, os.environ.get("RECORD_REPLACE", "").split(":")):
            old, _, new = item.partition("=")
            pairs.append((old, new))
        pairs.append((str(Path.home()), DEMO_HOME))
        pairs.append((os.uname().release, DEMO_KERNEL))
        host = socket.gethostname()
        for user in (getpass.getuser(), DEMO_USER):
            pairs.append((f"{user}@{host}", f"{DEMO_USER}@{DEMO_HOST}"))
        if len(host) > 3:  # a shorter one is a word that output may hold for other reasons
            pairs.append((host, DEMO_HOST))
        pairs += [(str(real), str(written)) for real, written in ports.items()]
        return cls(tuple((old.encode(), new.encode()) for old, new in pairs))

    def bytes(self, data: bytes) -> bytes:
        """Return `data` with every name of this machine replaced."""
        for old, new in self.pairs:
            if old[:1].isdigit():  # a port: never inside a longer number
                data = re.sub(rb"(?<!\d)" + re.escape(old) + rb"(?!\d)", new, data)
            else:
                data = data.replace(old, new)
        return data

    def text(self, text: str) -> str:
        """Return `text` with every name of this machine replaced."""
        return self.bytes(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
