"""Documentation pages: valid links and paths, sorted terms, line widths."""

import re

import sources

COLUMNS = 120
GLOSSARY = "docs/glossary.md"
MAP = "CONTRIBUTING.md"
PATH = re.compile(r"`((?!build/|out/)[\w.-]+/[\w./*-]*)`")
TARGET = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\b(docs/\w+\.md)#([\w-]+)")  # in comments, messages and tables: docs/model.md#eta
TERM = re.compile(r"\* \*\*(.+?)\*\*")


def outside_code(text):
    """The lines of a page outside of fenced blocks."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield line


def sections(text):
    """The anchors of a page's headings, as web sites form them: lower case, hyphens for blanks, no other
    punctuation."""
    headings = (line.lstrip("#") for line in outside_code(text) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def targets(path, text):
    """(file from the root, section or "") for every link in a file, and for every section it names."""
    found = dict.fromkeys(NAMED.findall(text))
    if path.suffix == ".md":
        for name, _, section in (each.partition("#") for each in TARGET.findall(text) if "://" not in each):
            found[((path.parent / name).as_posix() if name else path.as_posix(), section)] = None
    return found


def link_faults(root):
    """Links in pages, and pages named in sources, with a missing file or section."""
    known, faults = {}, []
    for path in sources.files(root, sources.CODE | {".md", ".toml"}):
        for name, section in targets(path, (root / path).read_text(errors="replace")):
            target = (root / name).resolve()
            if not target.exists():
                faults.append(f"{path}: links {name}, which does not exist")
            elif section and target.suffix == ".md":
                if target not in known:
                    known[target] = sections(target.read_text())
                if section not in known[target]:
                    faults.append(f"{path}: links {name}#{section}, which has no such section")
    return faults


def map_faults(root):
    """Missing paths in the map of the code."""
    if not (root / MAP).exists():
        return []
    named = dict.fromkeys(PATH.findall((root / MAP).read_text()))
    return [f"{MAP}: names {path}, which does not exist" for path in named if not any(root.glob(path.rstrip("/")))]


def order_faults(root):
    """Glossary terms out of alphabetical order."""
    if not (root / GLOSSARY).exists():
        return []
    terms = TERM.findall((root / GLOSSARY).read_text())
    return [
        f"{GLOSSARY}: '{term}' stands before '{after}'"
        for term, after in zip(terms, terms[1:])
        if term.lower() >= after.lower()
    ]


def width_faults(root):
    """Lines that are too wide. Lines without a space, such as URLs, and rows of tables cannot be broken."""
    faults = []
    for path in sources.files(root, {".md"}):
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            if len(line) > COLUMNS and " " in line.strip() and not line.startswith("|"):
                faults.append(f"{path}:{number}: {len(line)} columns, more than {COLUMNS}")
    return faults


def faults(root):
    return link_faults(root) + map_faults(root) + order_faults(root) + width_faults(root)
