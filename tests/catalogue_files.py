"""Message catalogues written for a test, byte by byte as the GNU gettext manual lays them out."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["INVENTED", "catalogue_bytes", "write_catalogue", "write_invented"]

# A language nobody speaks; its words are in no rule and in no catalogue of any machine.
INVENTED: Mapping[str, Mapping[str, str]] = {
    "libc": {
        "No such file or directory": "Nulum velka ost dirgano",
        "Permission denied": "Vetika refuzla",
        "Is a directory": "Estu dirgo",
        "Success": "Prosperla nun",
    },
    "coreutils": {
        "cannot access %s": "nepova atlunt %s",
        "cannot stat %s": "nepova skrudi %s",
        "cannot remove %s": "nepova elprenol %s",
        "cannot unlink %s": "nepova elprenol %s",
        "%s and %s are the same file": "%2$s kaj %1$s estu sama velkado",
        "-r not specified; omitting directory %s": "-r mankla; %s estu lasita forta",
        "Try '%s --help' for more information.\n": "Provla «%s --help» por plu da sciado.\n",
        "List information about the FILEs (the current directory by default).\n": (
            "Montrol sciadon pri VELKAJ (la nuna dirgano se nenio alia).\n"
        ),
    },
    "bash": {"line %d: ": "vico %d: ", "%s: command not found": "%s: ordono netrovla"},
    "apt": {"Unable to locate package %s": "Pakedo %s ne povas estu trovla"},
    "git": {
        "fatal: ": "pereiga: ",
        "not a git repository (or any of the parent directories): %s": (
            "nenia gitejo (nek iu ajn el la supraj dirganoj): %s"
        ),
    },
}


def catalogue_bytes(
    messages: Mapping[str, str | Sequence[str]], *, charset: str = "UTF-8", order: str = "<"
) -> bytes:
    """Return the bytes of a ``.mo`` file; a list of translations is one of plural forms."""
    header = f"Content-Type: text/plain; charset={charset}\n"
    pairs = [(b"", header.encode("ascii"))]
    for original, translation in messages.items():
        forms = [translation] if isinstance(translation, str) else translation
        pairs.append((original.encode(charset), "\0".join(forms).encode(charset)))
    pairs.sort()
    start = 28 + 16 * len(pairs)
    tables: list[list[int]] = [[], []]
    strings = b""
    for side, table in enumerate(tables):
        for pair in pairs:
            table += [len(pair[side]), start + len(strings)]
            strings += pair[side] + b"\0"
    head = (0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    numbers = [*head, *tables[0], *tables[1]]
    return struct.pack(f"{order}{len(numbers)}I", *numbers) + strings


def write_catalogue(
    root: Path,
    language: str,
    domain: str,
    messages: Mapping[str, str | Sequence[str]],
    *,
    charset: str = "UTF-8",
    order: str = "<",
) -> Path:
    """Write one catalogue to where a system keeps it, and return its path."""
    path = root / language / "LC_MESSAGES" / f"{domain}.mo"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(catalogue_bytes(messages, charset=charset, order=order))
    return path


def write_invented(root: Path) -> tuple[str, ...]:
    """Write the invented language below `root`, and return the roots to search."""
    for domain, messages in INVENTED.items():
        write_catalogue(root, "qx", domain, messages)
    return (str(root),)
