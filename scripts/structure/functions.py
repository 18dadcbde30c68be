"""Lengths of functions: lines from the start of the signature to the closing brace.

C++ is parsed without a compiler. Comments and literals are blanked; then every opening brace starts a scope: a
container (namespace, class), a function, or a part of an expression (initialisers). A lambda counts as lines of its
function.
"""

import ast
import re

MOST_LINES = 50

LITERALS = re.compile(
    r'R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)"'  # raw strings first: they may contain anything
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not the digit separator in 1'000
    r"|//[^\n]*|/\*.*?\*/"
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
CONTAINER = re.compile(r"^(?:inline\s+|typedef\s+)*(?:namespace|class|struct|union|enum|extern)\b[^(]*$")
TEMPLATE = re.compile(r"^(?:template\s*<(?:[^<>]|<[^<>]*>)*>\s*)+")
OPERATOR = re.compile(r"\boperator\s*[^\s\w(]+")
ACCESS = {"public", "private", "protected"}
NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def blanked(text):
    """The text with literals, comments and preprocessor lines replaced by the same number of newlines."""
    return LITERALS.sub(lambda match: '""' * match.group().startswith(('"', "R")) + "\n" * match.group().count("\n"), text)


def scope_of(head):
    """The kind of scope after `head` in a container: "container", "function" or "part" of an expression."""
    head = TEMPLATE.sub("", head.strip())
    if not head or CONTAINER.match(head):
        return "container"
    plain = OPERATOR.sub("operator", head)
    signature = plain.split("(")[0]
    if "(" not in plain or "=" in signature:
        return "function" if re.search(r"=\s*\[", plain) and not plain.endswith(("=", ",")) else "part"
    depth = 0
    for position, letter in enumerate(plain):
        depth += (letter in "({") - (letter in ")}")
        if letter == ":" and depth == 0 and ":" not in plain[position - 1] + plain[position + 1 : position + 2]:
            return "function" if plain.endswith((")", "}")) else "part"  # after a constructor's initialisers
    return "function" if depth == 0 else "part"


def cpp_functions(text):
    """(name, first line, lines) of every function with a body."""
    code, found, scopes = blanked(text), [], [("container", 0, "")]
    head, line, start = "", 1, 1
    for letter in code:
        kind = scopes[-1][0]
        if letter == "\n":
            line += 1
        if not head.strip():
            start = line
        if letter == "{":
            opened = scope_of(head) if kind == "container" else kind if kind == "function" else "part"
            scopes.append((opened, start, head if kind == "container" else ""))
        elif letter == "}":
            opened, first, its_head = scopes.pop()
            if opened == "function" and its_head:
                found.append((function_name(its_head), first, line - first + 1))
            if opened == "part":
                head = its_head + "{}" if its_head else head
                continue
        if letter in "{};" and kind != "part":
            head = "" if letter != "{" or scopes[-1][0] != "part" else head
        else:
            head = "" if letter == ":" and head.strip() in ACCESS else head + letter
    return found


def function_name(head):
    match = NAME.search(TEMPLATE.sub("", head.strip()))
    return match.group(1) if match else head.strip().split("=")[0].split()[-1]


def python_functions(text):
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in nodes]


def lengths(root, paths):
    """{path: [(name, first line, lines)]} of sources in C++ and Python."""
    result = {}
    for path in paths:
        text = (root / path).read_text()
        if path.suffix != ".sh":
            result[path] = python_functions(text) if path.suffix == ".py" else cpp_functions(text)
    return result


def faults(bodies, allowed):
    """Functions that are too long, and unnecessary exceptions in `allowed`."""
    long = {
        f"{path} {name}": f"{count} lines at line {line}, more than {MOST_LINES}"
        for path, each in bodies.items()
        for name, line, count in each
        if count > MOST_LINES
    }
    found = [f"{where}: {why}" for where, why in long.items() if where not in allowed]
    there = {where for where in allowed if where.split()[0] in map(str, bodies)}
    return found + [f"{where}: has an unnecessary exception" for where in sorted(there - long.keys())]
