"""Writers of one audit file, made to run against each other or to be killed.

    audit_writers.py together FILE WRITERS EVENTS
    audit_writers.py killed FILE KILLS

Each event's `id` is its writer and number. `killed` prints, per killed writer, its number and how
many events it was told were recorded.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

from triage.audit import record

EVIDENCE = "bash: jqq: command not found " + "x" * 300


def write(path: str, name: int, first: int, count: int, told: int | None = None) -> None:
    for number in range(first, first + count):
        verdict = {"verdict": "failure", "rule": "command-not-found", "mode": 20,
                   "id": f"{name}-{number}", "evidence": [EVIDENCE] * (number % 5)}  # fmt: skip
        if not record(path, "call.failed", verdict=verdict):
            os._exit(1)
        if told is not None:
            os.write(told, b".")
    os._exit(0)


def together(path: str, writers: int, events: int) -> int:
    children = []
    for name in range(writers):
        child = os.fork()
        if child == 0:
            write(path, name, 0, events)
        children.append(child)
    return max(os.waitpid(child, 0)[1] for child in children)


def killed(path: str, kills: int) -> int:
    chance = random.Random(7)
    for name in range(kills):
        reader, told = os.pipe()
        child = os.fork()
        if child == 0:
            write(path, name, 0, 1 << 30, told)
        os.close(told)
        os.read(reader, 1)
        time.sleep(chance.uniform(0, 0.004))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        count = 1
        while piece := os.read(reader, 1 << 16):
            count += len(piece)
        os.close(reader)
        print(name, count)
    return 0


if __name__ == "__main__":
    record(os.devnull, "call.failed", verdict={"evidence": [EVIDENCE]})
    work = together if sys.argv[1] == "together" else killed
    raise SystemExit(work(sys.argv[2], *map(int, sys.argv[3:])))
