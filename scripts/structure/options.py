"""Command-line options: only cli/ may name them, because Python and the C API have other names for the same things."""

import re

import functions

NO_PRODUCT = ("tests/", "bench/", "fuzz/", "examples/")
OWN = ("cli/", *NO_PRODUCT)  # may name them, or have their own options
OPTION = re.compile(r"--([a-z][a-z-]*)")
OTHER_TOOL = re.compile(r"'(?!tilerail)[\w-]+ [^']*'")  # a command in quotes


def literals(text):
    """The string literals of a C++ source."""
    return [found.group() for found in functions.LITERALS.finditer(text) if found.group().startswith(('"', 'R"'))]


def defined(root, paths):
    """The names of all options at the start of literals in cli/."""
    texts = (text for path in paths if path.as_posix().startswith("cli/") for text in literals((root / path).read_text()))
    return {found.group(1) for text in texts if (found := OPTION.match(text.strip('"').split(",")[-1]))}


def faults(root, paths, allowed):
    names = defined(root, paths)
    found = []
    for path in (path.as_posix() for path in paths):
        if path.startswith(OWN) or path in allowed:
            continue
        for text in literals((root / path).read_text()):
            found += [f"{path}: names the option --{name} of the command" for name in OPTION.findall(OTHER_TOOL.sub("", text)) if name in names]
    return found
