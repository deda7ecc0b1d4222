"""What the seed's sixteen rows do as they are written, beside what the table does, on the corpus.

    python benchmarks/literal_seed.py [CORPUS]

A literal reader knows no command and no context: row 3 is a time-out without a word, row 6 exit 2
or the word usage, row 12 any ``401``. Modes are the seed's own, its first one first. What no row
takes is no failure at exit 0, and row 16 otherwise, which the seed keeps for exit 1 with prose.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from triage.cache import load_table  # noqa: E402
from triage.cases import Case, load_cases  # noqa: E402
from triage.engine import classify, signals_for  # noqa: E402
from triage.envelope import extract  # noqa: E402
from triage.listing import seed_rows  # noqa: E402
from triage.score import judge_case  # noqa: E402
from triage.signals import Signals  # noqa: E402

__all__ = ["literal_row", "main"]

_ENORMOUS = 1_000_000


def _says(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.search(text) is not None


_failed = _says(r"error|fail|fatal|exception|denied|refused|not found|cannot")
_version = _says(r"SyntaxError|ImportError|requires? (?:python|node|version)|unsupported version")
_usage = _says(r"usage:|--help")
_bad_json = _says(r"invalid json|not valid json|json.{0,20}(?:decode|parse)|unexpected token")
_crash = _says(r"traceback|panic:|unhandled")
_limited = _says(r"\b429\b|rate.?limit|quota")
_denied = _says(r"401|403|unauthorized|forbidden|token")
_network = _says(r"ECONNREFUSED|could not resolve|getaddrinfo|ENOTFOUND|\bDNS\b|TLS|SSL|proxy")


def literal_row(signals: Signals) -> int:
    """Return the first of the seed's rows that holds to the letter, 0 for none."""
    out, err, code = signals.stdout.text, signals.stderr.text, signals.exit.normal
    found = extract(signals.stdout.raw)
    value = found.value if found.found else None
    mixed = isinstance(value, (dict, list)) and (found.has_before or found.has_after)
    rows = (
        isinstance(value, dict) and value.get("ok") is False,
        code == 0 and _failed(out + err),
        signals.capture.timed_out and not (out + err).strip(),
        code == 127 or "command not found" in err,
        _version(err),
        code == 2 or _usage(err),
        _bad_json(out + err),
        _crash(err),
        mixed or (signals.stdout.had_escapes and value is not None),
        signals.stdout.size > _ENORMOUS or signals.mid_structure,
        code == 11 or _limited(out + err),
        code in (7, 8) or _denied(out + err),
        _network(err),
        code is not None and 129 <= code <= 143,
        not err.isascii(),
        code != 0,
    )
    return next((number for number, holds in enumerate(rows, 1) if holds), 0)


def main(arguments: list[str]) -> int:
    """Print both readings' figures; returns 0."""
    table = load_table()
    modes = {row["number"]: row["modes"] for row in seed_rows(table)}
    cases = [
        case
        for case in load_cases(Path(arguments[0]) if arguments else ROOT / "corpus")
        if not case.synthetic and case.verdict in ("failure", "not_failure")
    ]
    failures = [case for case in cases if case.verdict == "failure"]
    labelled = [case for case in failures if case.modes]
    literal = {case.id: literal_row(signals_for(case.capture, table)) for case in cases}
    ours = {case.id: judge_case(case, classify(case.capture, table)) for case in cases}

    def right(case: Case) -> bool:
        return literal[case.id] in {case.row or 0, *case.row_alt}

    def first_mode(case: Case) -> bool:
        return any(mode in case.modes for mode in modes.get(literal[case.id], [])[:1])

    figures = (
        ("right row, alternatives accepted", cases, right, lambda case: ours[case.id].accepted),
        ("acceptable mode", labelled, first_mode, lambda case: bool(ours[case.id].mode_accepted)),
        (
            "failures called fine",
            failures,
            lambda case: literal[case.id] == 0 and 0 not in case.row_alt,
            lambda case: ours[case.id].got == 0 and 0 not in case.row_alt,
        ),
    )
    print(f"{len(cases)} captures{'':24}seed to the letter      the table")
    for name, among, theirs, own in figures:
        cells = [sum(map(holds, among)) for holds in (theirs, own)]
        shown = [f"{count:>6} ({100 * count / max(1, len(among)):5.1f} %)" for count in cells]
        print(f"{name:<36}{shown[0]:>18}{shown[1]:>18}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
