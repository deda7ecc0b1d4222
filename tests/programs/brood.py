"""Fork many children that are hard to get rid of, then wait for ever.

    brood.py TOKEN COUNT marked|orphans

TOKEN (digits) stands in the command line of every one of them, so that a test can count them.
With `orphans` some of them give up environment, session and parent, all three.
"""

import os
import signal
import sys
import time


def hold_out(kind: int, token: str, *, orphans: bool) -> None:
    """Be one child: stubborn, in a session of its own, an orphan, or with nothing inherited."""
    if kind % 2:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if kind in (2, 3):
        os.setsid()
    if kind in (4, 5):
        # A daemon's double fork: its parent is gone, its session another.
        os.setsid()
        if os.fork():
            os._exit(0)
    if kind == 6:
        # Nothing inherited but the parent; or not even that one.
        if orphans:
            os.setsid()
            if os.fork():
                os._exit(0)
        os.execve("/bin/sleep", ["sleep", f"600.{token}"], {})
    if kind != 1:
        # All but one kind let go of the output.
        for fd in (1, 2):
            os.close(fd)
    while True:
        time.sleep(600)


if __name__ == "__main__":
    token, count = sys.argv[1], int(sys.argv[2])
    for number in range(count):
        if os.fork() == 0:
            hold_out(number % 7, token, orphans=sys.argv[3] == "orphans")
    print(f"{count} are out", flush=True)
    print("and nothing follows", file=sys.stderr, flush=True)
    while True:
        time.sleep(600)
