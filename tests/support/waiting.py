"""Waiting for what another process does."""

import time

HANG = 600  # s: no test needs so long, however busy the machine is; it ends one that would never end


def wait_until(holds):
    for _ in range(20 * HANG):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {HANG} s")


def has_ended(stat):
    """Whether a process has, by its file /proc/PID/stat: whoever started it may not have asked yet."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
