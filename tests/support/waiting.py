"""Waiting for what another process does."""

import time


def wait_until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("did not happen within 30 s")
