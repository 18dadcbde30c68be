"""The rooms of the source and their allowed includes: the targets of CMake and the links between them.

A room is a folder, or some headers, that one or more targets make includable (`tilerail_room` in cmake/Tilerail.cmake).
Its name is its first path, or the common parent of several folders. Its files may include the rooms linked by their
target, and the public links of these.
"""

import os.path
import re

COMMAND = re.compile(r"^\s*(tilerail_library|tilerail_room|target_link_libraries)\s*\(([^()]*)\)", re.MULTILINE)
OUTSIDE = {"build", "out", "tests", "bench", "fuzz", "examples"}  # unrestricted includes; never included


def name_of(paths):
    folders = [path for path in paths if not path.endswith(".hpp")]
    return os.path.commonpath(folders) if len(folders) > 1 else paths[0]


class House:
    """The contents of the CMakeLists.txt files below a folder."""

    def __init__(self, root):
        self.paths = {}  # target: its includable folders and headers
        self.public, self.private = {}, {}  # target: its linked targets
        for file in sorted(root.rglob("CMakeLists.txt")):
            folder = file.parent.relative_to(root)
            if folder.parts and folder.parts[0] not in OUTSIDE:
                for command, words in COMMAND.findall(re.sub(r"#.*", "", file.read_text())):
                    self._read(folder.as_posix(), command, words.split())
        self.room = {target: name_of(paths) for target, paths in self.paths.items()}

    def _read(self, folder, command, words):
        target = words[0].removeprefix("tilerail_")
        public, private = self.public.setdefault(target, set()), self.private.setdefault(target, set())
        paths = self.paths.setdefault(target, [])
        if command == "tilerail_room":
            paths[:] = words[1:]
            return
        if not paths:
            paths.append(folder)
        linked = public
        for word in words[1:]:
            linked = private if word == "PRIVATE" else public if word in {"PUBLIC", "INTERFACE"} else linked
            if word.startswith("tilerail::"):
                linked.add(word.removeprefix("tilerail::"))

    def links(self):
        """{room: the rooms linked directly by its targets}."""
        links = {room: set() for room in self.room.values()}
        for target, room in self.room.items():
            links[room] |= {self.room[other] for other in self.public[target] | self.private[target]} - {room}
        return links

    def may_include(self, target):
        """The targets that files of `target` may include."""
        found, new = set(), self.public[target] | self.private[target]
        while new:
            found |= new
            new = set().union(*(self.public.get(each, ()) for each in new)) - found
        return found

    def room_of(self, path):
        """The room of a file; a .cpp file has the room of its header. None outside of all rooms."""
        header = re.sub(r"\.cpp$", ".hpp", path)
        inside = [
            (len(start), self.room[target])
            for target, paths in self.paths.items()
            for start in paths
            if header == start or path.startswith(f"{start}/")
        ]
        return max(inside, default=(0, None))[1]

    def rooms_below(self, room):
        """The rooms that the files of a room may include."""
        targets = [target for target in self.room if self.room[target] == room]
        return {self.room[other] for target in targets for other in self.may_include(target)} - {room}


def below(links, start):
    """Everything that `start` links, directly or not, in a graph {node: nodes}."""
    found, new = set(), links[start]
    while new:
        found |= new
        new = set().union(*(links.get(each, ()) for each in new)) - found
    return found
