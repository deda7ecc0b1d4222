"""Signals become messages, and a process that ends by one ends by that one."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading

from triage.interrupts import Interrupts


def test_a_message_wakes_whoever_waits_and_is_taken_once() -> None:
    box = Interrupts()
    threading.Thread(target=box.post, args=(15,)).start()
    poll = select.poll()
    poll.register(box.fd, select.POLLIN)
    assert poll.poll(60_000)
    assert box.take() == [15]
    assert box.take() == []
    assert poll.poll(0) == []
    assert box.first == 15
    box.close()


def test_a_flood_of_messages_blocks_nobody_and_the_first_is_remembered() -> None:
    box = Interrupts()
    box.post(2)
    for _ in range(200_000):
        box.post(15)
    assert len(box.take()) == 200_001
    assert box.first == 2
    box.close()


def test_handlers_are_put_back() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = [signal.getsignal(number) for number in numbers]
    box = Interrupts()
    with box.listening():
        os.kill(os.getpid(), signal.SIGHUP)
        assert box.take() == [signal.SIGHUP]
    assert [signal.getsignal(number) for number in numbers] == before
    box.close()


def test_an_end_by_a_signal_is_seen_as_one() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        program = f"from triage.interrupts import end_by; end_by({int(number)})"
        assert subprocess.run([sys.executable, "-c", program]).returncode == -number
