"""Messages of errors: only InputError joins a problem and the expected value, which is a field of its own."""

import re

import options

COMPOSER = "model/base/error.cpp"
JOINED = re.compile(r'"\s*\n\s*"')  # between the lines of a literal


def faults(root, paths):
    found = []
    for path in (path.as_posix() for path in paths):
        if path.startswith(options.NO_PRODUCT) or path == COMPOSER:
            continue
        if any("; expected" in text for text in options.literals(JOINED.sub("", (root / path).read_text()))):
            found.append(f"{path}: writes '; expected' into a message, not into the field of InputError")
    return found
