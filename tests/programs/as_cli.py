"""What the command line does around `triage.run`, for tests that need a process of its own.

    as_cli.py OPTIONS-AS-JSON WORD...

The options are keywords of `run`, `report`: a file for the escalation bundle, and `peak`: a file
for the most memory this process ever had, in KiB.
"""

import json
import sys
from pathlib import Path

from triage.interrupts import end_by
from triage.run import run

if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    report, peak = options.pop("report", None), options.pop("peak", None)
    argv = None if "shell_line" in options else sys.argv[2:]
    outcome = run(argv, exclusive=True, passthrough=True, **options)
    if report:
        Path(report).write_text(outcome.report(), encoding="utf-8")
    if peak:
        # ru_maxrss would count what the caller had before it became this program.
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        Path(peak).write_text(status.partition("VmHWM:")[2].split()[0], encoding="utf-8")
    if outcome.interrupted is not None:
        end_by(outcome.interrupted)
    sys.exit(outcome.exit_status)
