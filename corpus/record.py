"""Record one real command, or a plan of many, as corpus cases.

One case::

    python corpus/record.py --chapter 06-usage --id git-log-badflag --tool git --row 6 \\
        --modes 14,35 --why 'git refuses a flag it does not know' -- git log --bogus

Many cases, documented by the file that made them::

    python corpus/record.py --batch corpus/plans/06-usage.yaml

The label is an argument, so it is written before anything runs; nothing here knows the
classifier. Each command runs in an empty temporary directory with a home of its own, in its own
session, under a limit. What names the recording machine (directories, home, user, host, the port
of a fixture) is replaced; nothing else of the output is touched.

A case whose stream is not plain text keeps the raw bytes beside it (``<id>.stdout.bin``) and
names them (``stdout_file``).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fixtures.serve import canonical_port  # noqa: E402
from recorder.case import expectation, stream, write_case  # noqa: E402
from recorder.plan import CHAPTERS, Plan, RecordError, plan_from_mapping, read_plans  # noqa: E402
from recorder.run import Observed, observe  # noqa: E402
from recorder.scrub import Scrubber  # noqa: E402

# Streams longer than this belong in chapter 10 only; elsewhere a smaller command says the same.
USUAL_BYTES = 20_000


def record(plan: Plan) -> dict[str, Any]:
    """Run the command of `plan` and return the case as the mapping that is written to YAML.

    Streams are `str` where they are clean text, else `bytes`. Raises `RecordError` where the
    preparation fails or the status is not the one the plan foresaw.
    """
    base = Path(tempfile.mkdtemp(prefix="case-"))
    try:
        seen = observe(plan, base)
        ports = {seen.port: canonical_port(plan.fixture)} if plan.fixture else {}
        return _case(plan, seen, Scrubber.of_this_machine(base, ports))
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _case(plan: Plan, seen: Observed, scrub: Scrubber) -> dict[str, Any]:
    capture: dict[str, Any] = {"command": scrub.text(seen.line), "exit_code": seen.exit_code}
    if plan.pty or plan.merge:
        capture["merged"] = True
    capture["stdout"] = stream(scrub.bytes(seen.stdout))
    capture["stderr"] = stream(scrub.bytes(seen.stderr))
    capture["timed_out"] = seen.timed_out
    capture["duration_s"] = seen.duration_s
    if plan.interpreter not in ("bash", "sh") and isinstance(plan.command, str):
        capture["shell"] = plan.interpreter
    surroundings = {
        "stdin": "null" if plan.pty else plan.stdin,
        "pty": plan.pty,
        "env": {name: scrub.text(value) for name, value in plan.env.items()},
        "cwd": plan.cwd,
        "fixture": plan.fixture,
        "user": plan.user,
        "limit_s": plan.timeout_s if seen.timed_out else None,
    }
    usual = {"stdin": "null", "pty": False, "env": {}, "cwd": "."}
    how = {
        key: scrub.text(value) if isinstance(value, str) else value
        for key, value in surroundings.items()
        if value != usual.get(key)
    }
    return {
        "id": plan.id,
        "tool": plan.tool,
        "tool_version": scrub.text(seen.version),
        "source": plan.source,
        "capture": capture,
        **({"how": how} if how else {}),
        "expect": expectation(plan.verdict, plan.row, plan.row_alt, plan.modes, plan.literal_row),
        "labelled_by": plan.labelled_by,
        "why": plan.why,
    }


def _summary(case: Mapping[str, Any]) -> str:
    def shown(value: str | bytes) -> str:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        return repr(text if len(text) <= 260 else f"{text[:130]} … {text[-130:]}")

    capture, expect = case["capture"], case["expect"]
    limit = " TIMED OUT" if capture["timed_out"] else ""
    lines = [
        f"{case['id']}  row {expect['row']} {expect['verdict']} {expect.get('modes', [])}",
        f"  $ {capture['command']}",
        f"  exit {capture['exit_code']}{limit} {capture['duration_s']}s  {case['tool_version']}",
    ]
    for name in ("stdout", "stderr"):
        if capture[name]:
            lines.append(f"  {name}[{len(capture[name])}] {shown(capture[name])}")
            if len(capture[name]) > USUAL_BYTES:
                lines.append(f"  !! {name} is longer than {USUAL_BYTES}: choose a smaller call")
    return "\n".join(lines)


def _numbers(text: str) -> list[int]:
    return [int(item) for item in text.split(",") if item]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--batch", type=Path, help="a plan file under corpus/plans/")
    parser.add_argument("--only", help="regular expression: record only these ids of the plan")
    parser.add_argument("--missing", action="store_true", help="only cases not on disk yet")
    parser.add_argument("--out", type=Path, default=HERE, help="corpus directory to write to")
    parser.add_argument("--dry-run", action="store_true", help="run and show, write nothing")
    parser.add_argument("--chapter", choices=CHAPTERS)
    parser.add_argument("--id")
    parser.add_argument("--tool")
    parser.add_argument("--row", type=int, help="the seed's row; 0 for no failure")
    parser.add_argument("--row-alt", type=_numbers, default=[])
    parser.add_argument("--modes", type=_numbers, default=[])
    verdicts = ("failure", "not_failure", "ambiguous", "insufficient")
    parser.add_argument("--verdict", choices=verdicts)
    parser.add_argument("--why")
    parser.add_argument("--setup", default="", help="shell lines run first in the directory")
    parser.add_argument("--timeout", type=float, default=6.0)
    parser.add_argument("--stdin", default="null", help="null, open, text:... or a file")
    parser.add_argument("--pty", action="store_true")
    parser.add_argument("--merge", action="store_true", help="both streams into one")
    parser.add_argument("--env", action="append", default=[], metavar="K=V")
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--fixture", help="see corpus/fixtures/serve.py; {url}, {port} in the call")
    parser.add_argument("--kill", default="KILL", choices=("KILL", "TERM", "INT"))
    parser.add_argument("--exit", default="python", choices=("python", "shell"))
    parser.add_argument("--expect-exit", type=int)
    parser.add_argument("--user", help="run as this user (root only)")
    parser.add_argument("--version", help="a line that prints the tool's version")
    parser.add_argument("--interpreter", default="bash", help="which shell runs --shell")
    parser.add_argument("--shell", metavar="LINE")
    parser.add_argument("--pipefail", action="store_true")
    parser.add_argument("cmd", nargs="*", metavar="CMD", help="after --")
    return parser


def _single(options: argparse.Namespace) -> Plan:
    for name in ("chapter", "id", "tool", "why"):
        if getattr(options, name) is None:
            raise RecordError(f"--{name} is missing")
    entry: dict[str, Any] = {
        name: getattr(options, name)
        for name in (
            *("chapter", "id", "tool", "why", "row", "row_alt", "modes", "setup", "timeout"),
            *("stdin", "pty", "merge", "cwd", "fixture", "kill", "exit", "expect_exit", "user"),
            *("version", "interpreter", "pipefail"),
        )
    }
    entry["env"] = dict(item.split("=", 1) for item in options.env)
    if options.verdict:
        entry["verdict"] = options.verdict
    entry |= {"shell": options.shell} if options.shell else {"cmd": options.cmd}
    return plan_from_mapping(entry, options.id)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what the options ask for; returns 0, or 1 where a case could not be recorded."""
    options = _parser().parse_args(arguments)
    failed = 0
    try:
        plans = read_plans(options.batch) if options.batch else [_single(options)]
    except RecordError as problem:
        print(f"record: {problem}", file=sys.stderr)
        return 2
    for plan in plans:
        if options.only and not re.search(options.only, plan.id):
            continue
        if options.missing and (options.out / plan.chapter / f"{plan.id}.yaml").exists():
            continue
        try:
            case = record(plan)
            if not options.dry_run:
                write_case(case, plan.chapter, options.out)
        except (RecordError, OSError, subprocess.SubprocessError, KeyError) as problem:
            failed += 1
            print(f"record: {plan.id}: {problem}", file=sys.stderr)
            continue
        print(_summary(case), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
