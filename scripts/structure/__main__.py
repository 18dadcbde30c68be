"""Prints the structure of the source and violations of its rules; exit code 1 if any exist.

    python3 scripts/structure [FOLDER]     FOLDER: the root of a source tree; default: this script's
"""

import pathlib
import sys

import allowed
import functions
import includes
import messages
import options
import pages
import rooms
import sources


def print_lengths(lines, bodies):
    print(f"files      {len(lines)}, {sum(lines.values())} lines, median {sources.median(lines):g}")
    for path, count in sorted(lines.items(), key=lambda item: -item[1])[:3]:
        print(f"           {count:4} {path}")
    print(f"functions  {sum(len(each) for each in bodies.values())}")
    longest = [(count, path, name) for path, each in bodies.items() for name, _, count in each]
    for count, path, name in sorted(longest, reverse=True)[:3]:
        print(f"           {count:4} {path} {name}")


def print_rooms(links):
    width = max(map(len, links))
    for label, room in zip(["rooms", *[""] * len(links)], links):
        print(f"{label:10} {room:{width}}  links {', '.join(sorted(links[room])) or 'no room'}")


def main(root):
    lines = sources.lengths(root)
    bodies = functions.lengths(root, lines)
    house = rooms.House(root)
    print_lengths(lines, bodies)
    print_rooms(house.links())
    faults = sources.file_faults(lines)
    faults += functions.faults(bodies, allowed.LONG_FUNCTIONS)
    faults += includes.faults(includes.of_files(root, sources.files(root, sources.CPP)), house)
    faults += options.faults(root, sources.files(root, sources.CPP), allowed.OPTIONS)
    faults += messages.faults(root, sources.files(root, sources.CPP))
    faults += pages.faults(root)
    for fault in faults:
        print(f"fault      {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else sources.ROOT))
