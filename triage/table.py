"""The decision table in memory: frozen rows, loaded from the compiled form.

`triage.cache.load_table` makes one; overlays (a project's ``.triage/rules/``, the user's
configuration folder) bring chapters that sort among ours and may disable rows by id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.frozen import frozen
from triage.match import Matcher
from triage.prefilter import Prefilter

if TYPE_CHECKING:
    from triage.effects import Rules
    from triage.modes import Mode
    from triage.policy import Policy

__all__ = ["VERSION", "Row", "Table"]

# The version of the built-in table; rows keep their ids for ever.
VERSION = "0.1.0"


@frozen()
class Row:
    """One row: its condition, where it routes, what to do, and why it stands where it stands."""

    number: int
    id: str
    row: int | None
    chapter: str
    title: str | None
    modes: tuple[int, ...]
    modes_by: Mapping[str, Mapping[str, Sequence[int]]]
    when: Sequence[Any]
    capture: Mapping[str, Sequence[int]]
    verdict: str
    flags: tuple[str, ...]
    agent: Mapping[str, Any] | None
    do: Mapping[str, Any]
    do_by: Mapping[str, Mapping[str, Mapping[str, Any]]]
    retry: Mapping[str, Any] | None
    why: str


class Table:
    """A compiled decision table; shared between threads, never changed after loading."""

    __slots__ = (
        "_derived",
        "_modes",
        "_rows",
        "_sections",
        "hash",
        "matcher",
        "prefilter",
        "roots",
    )

    def __init__(
        self,
        sections: Any,
        *,
        content_hash: str,
        roots: Sequence[str] = (),
        prefilter: str = "auto",
    ) -> None:
        """`roots` are the rule folders, the overlays after the first.

        `sections` maps a name of `triage.compile.SECTIONS` to data; it may parse lazily.
        `prefilter` is auto, literals, re2 or off (every row is looked at; for tests).
        """
        self._sections = sections
        hot = sections["hot"]
        self.hash = content_hash
        self.roots = tuple(roots)
        self.matcher = Matcher(
            hot["patterns"],
            hot["predicates"],
            hot.get("quick", ""),
            hot["clauses"],
            hot.get("lines", ""),
        )
        self.prefilter = Prefilter(hot, prefilter)
        self._rows: dict[int, Row] = {}
        self._modes: dict[int, Mode] = {}
        self._derived: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._sections["hot"]["rows"])

    def __iter__(self) -> Iterator[Row]:
        return (self.row(number) for number in range(len(self)))

    def row(self, number: int) -> Row:
        found = self._rows.get(number)
        if found is None:
            data = self._sections["hot"]["rows"][number]
            found = self._rows[number] = Row(
                number,
                data["id"],
                data["row"],
                data["chapter"],
                data["title"],
                tuple(data["modes"]),
                data["modes_by"],
                data["when"],
                data["capture"],
                data["verdict"],
                tuple(data["flags"]),
                data["agent"],
                data["do"],
                data["do_by"],
                data["retry"],
                data["why"],
            )
        return found

    @property
    def last_resort(self) -> Row:
        """The last row, which takes what no other took."""
        return self.row(len(self) - 1)

    @property
    def predicate_names(self) -> Sequence[str]:
        """The names of vocabulary.yaml, by the number conditions know them by."""
        names: Sequence[str] = self._sections["hot"]["predicate_names"]
        return names

    def mode(self, number: int) -> Mode:
        """Return the document of §`number`."""
        mode: Mode | None = self._modes.get(number)
        if mode is None:
            from triage.modes import mode_from_data

            mode = self._modes[number] = mode_from_data(self._sections["modes"][number])
        return mode

    @property
    def policy(self) -> Policy:
        """The retry policy of this table."""
        policy: Policy | None = self._derived.get("policy")
        if policy is None:
            from triage.policy import policy_from_data

            policy = self._derived["policy"] = policy_from_data(self._sections["policy"]["policy"])
        return policy

    @property
    def bundles(self) -> Mapping[str, Any]:
        """The non-interactive bundles of this table, as data."""
        bundles: Mapping[str, Any] = self._sections["policy"]["bundle"]
        return bundles

    @property
    def effects(self) -> Rules:
        """What this table knows of read-only and changing command forms."""
        rules: Rules | None = self._derived.get("effects")
        if rules is None:
            from triage.effects import Rules

            rules = self._derived["effects"] = Rules.from_data(self._sections["effects"])
        return rules

    def section(self, name: str) -> Any:
        """Return the data of one section: effects, policy, secrets, agents, cold."""
        return self._sections[name]

    def info(self) -> dict[str, Any]:
        """What a verdict says of its table: content hash, version, overlays, rows."""
        return {
            "hash": self.hash,
            "version": VERSION,
            "rows": len(self),
            "overlays": list(self.roots[1:]),
        }

    def with_prefilter(self, mode: str) -> Table:
        """Return the same table with another prefilter (for tests and benchmarks)."""
        return Table(
            self._sections,
            content_hash=self.hash,
            roots=self.roots,
            prefilter=mode,
        )
