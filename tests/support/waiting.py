"""Waiting for other processes."""

import time

HANG = 600  # s: ends endless tests; no test needs so long, even on a busy machine


def wait_until(holds):
    for _ in range(20 * HANG):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {HANG} s")


def has_ended(stat):
    """Whether a process has ended, by its file /proc/PID/stat: its parent may not have waited for it yet."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
