"""The rooms of the house and which of them may include which: the targets of CMake and the links between them.

A room is a folder, or a header, that one or two targets make includable (`tilerail_room` in cmake/Tilerail.cmake). Its
files may include what its targets link, directly or not.
"""

import re

COMMAND = re.compile(r"^\s*(tilerail_library|tilerail_room|target_link_libraries)\s*\(([^()]*)\)", re.MULTILINE)
OUTSIDE = {"build", "out", "tests", "bench", "fuzz", "examples"}  # these include anything, and nobody includes them


def targets(root):
    """({target: its folder or header}, {target: the targets that it links}), as the CMakeLists.txt files say."""
    place, links = {}, {}
    for file in sorted(root.rglob("CMakeLists.txt")):
        folder = file.parent.relative_to(root)
        if folder.parts and folder.parts[0] not in OUTSIDE:
            for command, words in COMMAND.findall(re.sub(r"#.*", "", file.read_text())):
                name, *rest = words.split()
                target = name.removeprefix("tilerail_")
                if command == "tilerail_room":
                    place[target] = rest[0]
                else:
                    place.setdefault(target, folder.as_posix())
                    links.setdefault(target, set()).update(word[10:] for word in rest if word.startswith("tilerail::"))
    return place, links


def links_of(root):
    """{room: the rooms that it links itself}."""
    place, links = targets(root)
    rooms = {room: set() for room in place.values()}
    for target, linked in links.items():
        rooms[place[target]] |= {place[other] for other in linked} - {place[target]}
    return rooms


def below(links, start):
    """What `start` links, directly or not, in a graph {node: nodes}."""
    found, new = set(), links[start]
    while new:
        found |= new
        new = set().union(*(links.get(each, ()) for each in new)) - found
    return found


def room_of(rooms, path):
    """The room that a file is in: the longest that holds it; None outside of all."""
    inside = [room for room in rooms if f"{path}/".startswith(f"{room}/")]
    return max(inside, key=len, default=None)
