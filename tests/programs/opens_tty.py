"""Ask on the terminal itself, as tools do that want an answer from a person and nobody else."""

import sys

if __name__ == "__main__":
    try:
        terminal = open("/dev/tty", "r+b", buffering=0)  # noqa: PTH123, SIM115
    except OSError as error:
        sys.exit(f"deploy: cannot open /dev/tty: {error.strerror}")
    terminal.write(b"Type the name of the cluster to confirm: ")
    terminal.readline()
