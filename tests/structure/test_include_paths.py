"""Files can include only what their target links: tested with the compiler, with every target's include paths."""

import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["TILERAIL_SOURCE"])
sys.path.insert(0, str(SOURCE / "scripts/structure"))

import rooms  # noqa: E402
import sources  # noqa: E402


def include_paths():
    """{target: its include paths} of this build; none for a target without sources."""
    lines = (line.split(";") for line in pathlib.Path(os.environ["INCLUDE_PATHS"]).read_text().splitlines())
    return {target.removeprefix("tilerail_"): paths for target, *paths in lines}


def compiled(text, paths, *options):
    """The compiler's result for a C++ file with this text."""
    command = [os.environ["CXX"], "-std=c++20", *options, *(f"-I{path}" for path in paths), "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd="/", check=False)


class IncludePaths(unittest.TestCase):
    def assert_refused(self, header, paths):
        refused = compiled(f'#include "{header}"\n', paths, "-fsyntax-only")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(header, refused.stderr.splitlines()[0])

    def test_an_executor_can_include_costs_and_no_scheduler(self):
        paths = include_paths()["host"]
        self.assertEqual(compiled('#include "cost/estimate.hpp"\n', paths, "-fsyntax-only").returncode, 0)
        self.assert_refused("sched/scheduler.hpp", paths)

    def test_the_command_can_include_studies_and_neither_backends_nor_the_fit(self):
        paths = include_paths()["cli"]
        self.assertEqual(compiled('#include "study/job.hpp"\n', paths, "-fsyntax-only").returncode, 0)
        for header in ("backends/factory.hpp", "backends/simulator.hpp", "backends/host/measure/calibrate.hpp",
                       "calibration/fit_topology.hpp", "check/reference.hpp"):
            self.assert_refused(header, paths)

    def test_every_target_finds_the_headers_of_what_it_links_and_no_others(self):
        house, built = rooms.House(SOURCE), include_paths()
        headers = {}  # one per room
        for path in sources.files(SOURCE, {".hpp"}):
            headers.setdefault(house.room_of(path.as_posix()), path.as_posix())
        asked = "".join(f'#if __has_include("{header}")\n{header}\n#endif\n' for header in headers.values())
        for target, linked in list(house.public.items()):
            house.public[target], house.private[target] = linked & built.keys(), house.private[target] & built.keys()
        for target, paths in built.items():
            if paths:
                found = set(compiled(asked, paths, "-E", "-P").stdout.split())
                linked = {house.room[each] for each in house.may_include(target) | {target}}
                self.assertEqual(found, {headers[room] for room in linked}, target)


if __name__ == "__main__":
    unittest.main()
