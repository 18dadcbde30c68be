"""Placement of matrices: every spelling of --place, its explanation in the output, and the use of memories."""

import json
import re
import unittest

from support import SOURCE, CommandTest, kernels_text, machine_text, needs_simulator


def spellings():
    """The spellings in the table of docs/formats.md."""
    text = (SOURCE / "docs" / "formats.md").read_text()
    table = text[text.index("| spelling | memory |"):text.index("## Settings")]
    return [word for line in table.splitlines()[2:] if line.startswith("|")
            for word in re.findall(r"`([^`]+)`", line.split("|")[1])]


class PlacesTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed("topo", "new", "--gpus", "4", "--sockets", "2", "--kernels", "two-gpu", "-o", "two.toml")

    def planned(self, place, *arguments, topology="two.toml"):
        return self.succeed("plan", "--gemm", "1K", "--topology", topology, "--place", place, *arguments)


class Spellings(PlacesTest):
    def test_every_spelling_of_the_table_works(self):
        words = spellings()
        self.assertGreaterEqual(len(words), 10)
        for word in words:
            with self.subTest(word):
                self.planned(f"{word}:h:{'h' if word == 'g*' else word}")

    def test_every_spelling_names_the_memory_of_the_table(self):
        for word, name in (("h", "host0"), ("h0", "host0"), ("h1", "host1"), ("h*", "h[*]"), ("h/cols", "h/cols"), ("3", "gpu3"),
                           ("gpu2", "gpu2"), ("host1", "host1")):
            self.assertRegex(self.planned(f"{word}:h:h"), f"place={name}:host0:host0")

    def test_help_names_the_table(self):
        self.assertIn("docs/formats.md#places", re.sub(r"\s+", "", self.succeed("simulate", "--help")))

    def test_numbers_of_hosts_are_those_of_numa_domains(self):
        self.write("topo.txt", "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-7\t0\n"
                               "GPU1\tSYS\t X \t24-31\t13\n")
        self.succeed("topo", "import", "--nvidia-smi", "topo.txt", "--kernels", "two-gpu", "-o", "m.toml")
        self.assertIn("place=host13:host0:host0", self.planned("h13:h0:h", topology="m.toml"))
        for absent in ("h1", "h3", "h130"):
            self.assert_refused(["plan", "--gemm", "1K", "--topology", "m.toml", "--place", f"{absent}:h:h"],
                                f"--place: '{absent}' is not a memory of")

    def test_hosts_of_other_names_are_counted(self):
        right = '[[memory]]\nname = "right"\nkind = "host"\nsource = "made"\n'
        text = machine_text("named", 2, [(host, "gpu[0-1]", 10) for host in ("left", "right")],
                            right + kernels_text('rates = [[1024, "5 TFLOP/s"]]'))
        self.write("named.toml", text.replace('name = "host"', 'name = "left"'))
        self.assertIn("place=right:left:left", self.planned("h1:h0:h", topology="named.toml"))


@needs_simulator
class Note(PlacesTest):
    WORDS = "'h' is host0, one of 2 host memories; h* spreads over all"

    def test_one_memory_of_several_is_named(self):
        job = ["--gemm", "512", "--topology", "two.toml"]
        for command in (["simulate"], ["run", "--backend", "host"], ["plan"]):
            self.assertRegex(self.succeed(*command, *job), rf"\nnote +{re.escape(self.WORDS)}\n")
        self.assertEqual(json.loads(self.succeed("simulate", *job, "--json", "-"))["note"], self.WORDS)
        for command in (["sweep", "--vary", "beta=0,1"], ["whatif", "--only", "link:cpu0->gpu0", "--jobs", "1"], ["predict"]):
            self.assertTrue(self.succeed(*command, *job).startswith(f"note: {self.WORDS}\n"), command)
        self.write("cases.csv", "m,n,k\n64,64,64\n")
        compared = self.succeed("compare", "--cases", "cases.csv", "--backend", "host", *job[2:], "--iters", "1")
        self.assertEqual(compared.count(f"\nnote: {self.WORDS}\n"), 1)

    def test_unambiguous_places_have_no_note(self):
        for place in ("h0:h0:h0", "h*:h*:h*", "0:1:2"):
            self.assertNotIn("note", self.succeed("simulate", "--gemm", "512", "--topology", "two.toml", "--place", place))
        self.assertNotIn("note", self.succeed("simulate", "--gemm", "512", "--topology", "two-gpu"))


@needs_simulator
class Memories(PlacesTest):
    MATRIX = 8 * 1024**2  # bytes

    def memories(self, *arguments):
        summary = json.loads(self.succeed("simulate", "--gemm", "1K", "--topology", "two.toml", *arguments, "--json", "-"))
        return {memory["name"]: memory for memory in summary["memories"]}, summary

    def test_each_memory_contains_its_matrices_and_tiles(self):
        memories, summary = self.memories("--place", "h*:2:h1", "--topo-set", "memory:host1.capacity=1 GB")
        self.assertEqual(memories["host0"]["matrix_bytes"], self.MATRIX / 2)
        self.assertIsNone(memories["host0"]["capacity_bytes"])
        self.assertEqual(memories["host1"]["matrix_bytes"], 1.5 * self.MATRIX)
        self.assertEqual(memories["host1"]["capacity_bytes"], 1e9)
        self.assertEqual(memories["gpu2"]["matrix_bytes"], self.MATRIX)
        for name, memory in memories.items():
            self.assertEqual(memory["tile_bytes"], summary["peak_bytes"][name])
        self.assertNotIn("h*", memories)

    def test_text_has_the_use_of_each_memory(self):
        text = self.succeed("simulate", "--gemm", "1K", "--topology", "two.toml", "--place", "h1:h1:h1",
                            "--topo-set", "memory:host1.capacity=100 MB")
        self.assertRegex(text, r"\nmemory +matrices +tiles +capacity +used\n")
        self.assertRegex(text, r"\nhost1 +25\.17 MB +0 B +100\.0 MB +25\.2%\n")
        self.assertRegex(text, r"\ngpu0 +0 B +[0-9.]+ MB +[0-9.]+ GB +[0-9.]+%\n")

    def test_a_problem_that_does_not_fit_is_refused(self):
        job = ["simulate", "--gemm", "1K", "--topology", "two.toml", "--topo-set", "memory:host0.capacity=25 MB"]
        self.assert_refused(job, "--place: 'host0' has 25.00 MB, and 25.17 MB are needed: 25.17 MB for matrices, 0 B for tiles")
        self.succeed(*job, "--place", "h*:h*:h*")


if __name__ == "__main__":
    unittest.main()
