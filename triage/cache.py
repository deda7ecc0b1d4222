"""The compiled table on disk: found by content hash, ignored when in doubt.

`triage.compiled` says what the bytes are. Two places hold them: the package
(``rules/compiled.jsonl``, made when the wheel is built) and the user's cache folder. It counts
only when its header names our format and the content hash of the rule files at hand, and its
checksum holds. A small stamp file remembers sizes and times of the rule files so that a later
process need not read them to know the hash. A stale, foreign, cut or unreadable file is passed
over without a word and the table compiled anew. All of it is data, nothing that could be executed.
"""

from __future__ import annotations

import _thread
import os
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from triage.compiled import FORMAT, Parts, pack, unpack
from triage.errors import LocatedIssue, RuleError
from triage.rules_folder import builtin_rules
from triage.table import Table

__all__ = ["PACKAGED", "builtin_rules", "load_table", "write_packaged"]

PACKAGED = "compiled.jsonl"
_FOLDERS = (("table", ".yaml"), ("sets", ".yaml"), ("modes", ".md"), ("agents", ".yaml"))
_SINGLE = ("vocabulary.yaml", "effects.yaml", "bundle.yaml", "policy.yaml", "secrets.yaml")

# One rule file: path, kind, layer, size, modification time in ns.
Listed = tuple[str, str, int, int, int]


_builtin: Table | None = None
_lock = _thread.allocate_lock()


def load_table(rules: Any = None, *, overlays: Sequence[Any] = (), cache: bool = True) -> Table:
    """Load a decision table; without arguments the built-in one, loaded once per process.

    `rules` is a folder laid out like ours (``table/``, ``sets/``, ``modes/``, ``schema/`` …).
    `overlays` are folders whose ``table/`` and ``sets/`` are added to it, in order. Raises
    `RuleError` (file:line:column, what, remedy) and loads nothing when any file is wrong.
    """
    global _builtin
    if rules is not None or overlays or not cache:
        return _load(rules, overlays, use_cache=cache)
    with _lock:
        if _builtin is None:
            _builtin = _load(None, ())
        return _builtin


def _load(rules: Any, overlays: Sequence[Any], *, use_cache: bool = True) -> Table:
    root = builtin_rules() if rules is None else os.fspath(rules)
    roots = [root, *(os.fspath(overlay) for overlay in overlays)]
    files = [item for layer, folder in enumerate(roots) for item in _list(folder, layer)]
    if not any(kind == "table" and layer == 0 for _, kind, layer, *_ in files):
        raise RuleError(
            [
                LocatedIssue(
                    f"{root}:1:1", "no table/*.yaml here", "name a folder laid out like rules/"
                )
            ]
        )
    digest = _stamped(roots, files) if use_cache else None
    if digest is not None:
        sections = _read(_cache_file(digest), digest) or _read(os.path.join(root, PACKAGED), digest)
        if sections is not None:
            return _table(sections, digest, roots)
    texts = [_text(path) for path, *_ in files]
    digest = _digest(roots, files, texts)
    if use_cache:
        sections = _read(_cache_file(digest), digest) or _read(os.path.join(root, PACKAGED), digest)
        if sections is not None:
            _stamp(roots, files, digest)
            return _table(sections, digest, roots)
    data = _compile(roots, files, texts)
    if use_cache and _write(_cache_file(digest), pack(data, digest)):
        _stamp(roots, files, digest)
    return _table(data, digest, roots)


def write_packaged(rules: str) -> str:
    """Compile `rules` into ``compiled.jsonl`` beside them (called when a wheel is built)."""
    files = _list(rules, 0)
    texts = [_text(path) for path, *_ in files]
    digest = _digest([rules], files, texts)
    target = os.path.join(rules, PACKAGED)
    with open(target, "wb") as out:
        out.write(pack(_compile([rules], files, texts), digest))
    return target


def _table(sections: Mapping[str, Any], digest: str, roots: Sequence[str]) -> Table:
    return Table(sections, content_hash=digest, roots=roots)


def _list(folder: str, layer: int) -> list[Listed]:
    found: list[Listed] = []
    for kind, suffix in _FOLDERS:
        try:
            with os.scandir(os.path.join(folder, kind)) as entries:
                listed = [(e.path, e.stat()) for e in entries if e.name.endswith(suffix)]
        except OSError:
            continue
        found += [(p, kind, layer, s.st_size, s.st_mtime_ns) for p, s in sorted(listed)]
    for name in _SINGLE:
        path = os.path.join(folder, name)
        try:
            stat = os.stat(path)
        except OSError:
            continue
        kind = name.removesuffix(".yaml")
        found.append((path, kind, layer, stat.st_size, stat.st_mtime_ns))
    return found


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RuleError(
            [LocatedIssue(f"{path}:1:1", f"can't be read: {error.strerror}", "make it readable")]
        ) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RuleError(
            [LocatedIssue(f"{path}:{line}:1", "not UTF-8", "save the file as UTF-8")]
        ) from None


def _digest(roots: Sequence[str], files: Sequence[Listed], texts: Sequence[str]) -> str:
    """The content hash: names relative to their roots, layers and bytes; no paths, no times."""
    from hashlib import blake2b

    total = blake2b(FORMAT.encode(), digest_size=16)
    for (path, _, layer, *_), text in zip(files, texts, strict=True):
        name = _relative(path, roots[layer])
        data = text.encode()
        total.update(f"\0{layer}\0{name}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def _compile(roots: Sequence[str], files: Sequence[Listed], texts: Sequence[str]) -> dict[str, Any]:
    from pathlib import Path

    from triage.compile import compile_rules
    from triage.rule_sources import RuleFile

    rule_files = []
    for (path, kind, layer, *_), text in zip(files, texts, strict=True):
        relative = _relative(path, roots[layer])
        rule_files.append(RuleFile(Path(path), _shown(path), relative, kind, layer, text))
    return compile_rules(Path(roots[0]), rule_files)


def _relative(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _shown(path: str) -> str:
    """A path as a person would type it: relative where it lies below the current folder."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if relative.startswith("..") else relative


def _cache_folder() -> str | None:
    base = os.environ.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        home = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("HOME")
        if not home:
            return None
        base = home if os.name == "nt" else os.path.join(home, ".cache")
    return os.path.join(base, "triage")


def _cache_file(digest: str) -> str | None:
    folder = _cache_folder()
    return None if folder is None else os.path.join(folder, f"table-{digest}.jsonl")


def _stamp_file(roots: Sequence[str]) -> str | None:
    folder = _cache_folder()
    name = zlib.crc32("\0".join(map(os.path.abspath, roots)).encode("utf-8", "surrogatepass"))
    return None if folder is None else os.path.join(folder, f"stamp-{name:08x}.json")


def _facts(files: Sequence[Listed]) -> str:
    return repr(
        [(os.path.abspath(path), layer, size, time) for path, _, layer, size, time in files]
    )


def _stamped(roots: Sequence[str], files: Sequence[Listed]) -> str | None:
    path = _stamp_file(roots)
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            first, facts = file.read().split("\n", 1)
    except (OSError, ValueError):
        return None
    word, _, digest = first.partition(" ")
    fresh = word == FORMAT and facts == _facts(files) and len(digest) == 32 and digest.isalnum()
    return digest if fresh else None


def _stamp(roots: Sequence[str], files: Sequence[Listed], digest: str) -> None:
    text = f"{FORMAT} {digest}\n{_facts(files)}"
    _write(_stamp_file(roots), text.encode("utf-8", "replace"))


def _read(path: str | None, digest: str) -> Parts | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return unpack(file.read(), digest)
    except OSError:
        return None


def _write(path: str | None, data: bytes) -> bool:
    """Write a cache file in one step; where that can't be done, there is no cache."""
    if path is None:
        return False
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        from contextlib import suppress

        # What was begun is of no use to anyone; where it can't be removed either, it stays.
        with suppress(OSError):
            os.remove(temporary)
        return False
    return True
