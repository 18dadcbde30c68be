"""Includes: no upward includes, no cycles, and no bypass of the include paths."""

import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PUBLIC = "api/include"  # public headers, included without the room's name


def of_files(root, paths):
    """{path: its quoted includes} of C++ files."""
    return {path.as_posix(): INCLUDE.findall((root / path).read_text()) for path in paths}


def resolved(included, known):
    """The included file's path from the root; None if it does not exist."""
    return next((path for path in (included, f"{PUBLIC}/{included}") if path in known), None)


def circle(edges):
    """A cycle in a graph {node: nodes}, as its nodes in order with the first repeated, or []."""
    done = set()

    def walk(node, way):
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        found = next((found for next_node in sorted(edges.get(node, ())) if (found := walk(next_node, [*way, node]))), [])
        done.add(node)
        return found

    return next((found for node in sorted(edges) if (found := walk(node, []))), [])


def of_folders(headers, room):
    """{folder: the room's other folders included by its files}, from {path: paths}. The room itself is a folder too."""
    edges = {}
    for path, included in headers.items():
        folder = path.rpartition("/")[0]
        others = {to.rpartition("/")[0] for to in included if to.startswith(f"{room}/")} - {folder}
        if path.startswith(f"{room}/"):
            edges.setdefault(folder, set()).update(others)
    return edges


def faults(files, house):
    found = []
    files_of = {}  # {file: its includes}
    for path, includes in files.items():
        room = house.room_of(path)
        allowed = house.rooms_below(room) if room else None
        for included in includes:
            target = resolved(included, files)
            files_of.setdefault(path, set()).add(target)
            if target is None:
                found.append(f'{path}: "{included}" is not a path from the root')
            elif allowed is not None and house.room_of(target) not in allowed | {room}:
                found.append(f"{path}: includes {target}, but {room} links {', '.join(sorted(allowed)) or 'no room'}")
    headers = {path: {to for to in included if to} for path, included in files_of.items()}
    rooms = sorted(set(house.room.values()))
    graphs = [("rooms", house.links()), ("files", headers), *(("folders", of_folders(headers, room)) for room in rooms)]
    for name, graph in graphs:
        if way := circle(graph):
            found.append(f"a circle of {name}: {' -> '.join(way)}")
    return found
