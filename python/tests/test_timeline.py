"""Reading timelines, and their tables; needs only Python."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

import sample

from tilerail import TimelineError, read_timeline, summary_table
from tilerail.command import main
from tilerail.rows import CATEGORIES, natural, rows_of, thinned
from tilerail.timeline import KINDS


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text, name="t.csv"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def run_command(self, *arguments):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()


class Kinds(unittest.TestCase):
    def test_are_those_of_the_library(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(root, "plan", "op_kinds.cpp"), encoding="utf-8") as file:
            rows = re.findall(r'^    \{"(\w+)",.*?(nullptr|\w+_flops)\},$', file.read(), re.MULTILINE)
        self.assertGreaterEqual(len(rows), 4)
        self.assertEqual(sorted(KINDS), sorted(name for name, _ in rows))
        for name, flops in rows:
            if flops != "nullptr":
                self.assertIn(name, CATEGORIES, "kernels are drawn in a colour of their own")


class ReadTimeline(Folder):
    def test_columns_and_metadata(self):
        timeline = read_timeline(self.write(sample.csv_text()))
        self.assertEqual(len(timeline), 6)
        self.assertEqual(timeline.makespan, 0.0055)
        self.assertEqual(timeline.kind, ["copy", "gemm", "copy", "axpby", "copy", "join"])
        self.assertEqual(timeline.bytes, [1000, 0, 500, 0, 500, 0])
        self.assertEqual(timeline.flops[1], 4e6)
        self.assertEqual(timeline.label[0], "A[0:16,0:16]")
        self.assertEqual((timeline.ready[3], timeline.start[3], timeline.end[3]), (0.0035, 0.004, 0.0045))
        self.assertEqual(timeline.queues[timeline.queue[0]].route, ("host->pcie", "pcie->gpu0"))
        self.assertEqual(timeline.queues[timeline.queue[0]].shares, (1, 1))
        self.assertEqual([q.name for q in timeline.queues],
                         ["host->gpu0", "gpu0 compute 0", "gpu0->gpu1", "gpu1 compute 0", "gpu1->host #2"])
        self.assertEqual(timeline.devices, ["gpu0", "gpu1"])
        self.assertEqual(timeline.hosts, ["host"])
        self.assertEqual(timeline.metadata["policy"], "gemmex")

    def test_parts_of_copies_are_those_of_their_links(self):
        split = sample.csv_text().replace("host->pcie;pcie->gpu0", "host->pcie 1/4;pcie->gpu0")
        queue = read_timeline(self.write(split)).queues[0]
        self.assertEqual((queue.route, queue.shares), (("host->pcie", "pcie->gpu0"), (0.25, 1)))
        for wrong in ("0/4", "5/4", "1/", "/4", "1/x", "1.5/4", "a"):
            with self.assertRaisesRegex(TimelineError, "route: "):
                read_timeline(self.write(split.replace("1/4", wrong)))

    def test_energies_are_there_where_the_file_has_them(self):
        known = sample.csv_text().replace("# ops=", "# energy_j=1.5;2e-3\n# ops=")
        timeline = read_timeline(self.write(known))
        self.assertEqual(timeline.energies("energy_j"), [1.5, 0.002])
        self.assertIsNone(timeline.energies("counted_energy_j"))

    def test_a_prediction_may_have_an_interval(self):
        known = sample.csv_text().replace("# ops=", "# interval_s=0.5;1.5\n# ops=")
        self.assertEqual(read_timeline(self.write(known)).metadata["interval_s"], "0.5;1.5")

    def test_rows_in_any_order(self):
        timeline = read_timeline(self.write(sample.csv_text(sample.ROWS[::-1])))
        self.assertEqual(timeline.kind, ["copy", "gemm", "copy", "axpby", "copy", "join"])

    def test_no_operations(self):
        timeline = read_timeline(self.write(sample.csv_text([])))
        self.assertEqual((len(timeline), timeline.makespan), (0, 0.0))

    def test_bad_files_are_refused_with_their_line(self):
        good = sample.csv_text()
        cases = {
            "missing metadata": ("# tile=16\n", "", 11, "no '# tile='"),
            "unknown metadata": ("# tile=", "# tiles=", 7, "unknown key 'tiles'"),
            "doubled metadata": ("# tile=16", "# machine=x", 7, "'machine' is given twice"),
            "energy of one device of two": ("# ops=", "# energy_j=1\n# ops=", 13, "energy_j: 1 numbers; expected one"),
            "energy of no number": ("# ops=", "# energy_j=1;hot\n# ops=", 13, "energy_j: 'hot'"),
            "no key": ("# tile=16", "#tile=16", 7, "expected '# key=value'"),
            "other schema": ("# schema=1", "# schema=9", 12, "schema: '9'; expected 1"),
            "other columns": ("op,kind", "kind,op", 12, "other columns"),
            "unknown kind": ("1,gemm", "1,getrf", 14, "kind: 'getrf'"),
            "fewer cells": ("1,gemm,", "1,", 14, "12 columns; expected 13"),
            "bad bytes": (",1000,", ",1e3,", 13, "bytes: '1e3'"),
            "negative bytes": (",1000,", ",-1,", 13, "bytes: '-1'"),
            "nan": ("0.003,0.0035", "0.003,nan", 15, "end_s: 'nan'"),
            "infinite": ("0.003,0.0035", "0.003,inf", 15, "end_s: 'inf'"),
            "too large": ("0.003,0.0035", "0.003,1e99", 15, "end_s: '1e99'"),
            "underscore": ("0.003,0.0035", "0.003,1_0", 15, "end_s: '1_0'"),
            "end before start": ("0.003,0.0035", "0.003,0.002", 15, "end_s: 0.002 is before start_s 0.003"),
            "doubled op": ("1,gemm", "0,gemm", 14, "op: 0 is given twice"),
            "missing op": ("5,join", "6,join", 18, "op: 6 of 6 operations"),
            "fewer ops": ("# ops=6", "# ops=7", 18, "6 operations up to here; '# ops=' says 7"),
            "empty queue": ("host->gpu0,gpu0", ",gpu0", 13, "expected names"),
            "queue contradicts itself": ("compute 0,gpu1,", "compute 0,gpu0,", 18, "has another device"),
            "cut off": ("0.0055\n", "0.0055", 18, "the line is cut off"),
        }
        for name, (old, new, line, message) in cases.items():
            with self.subTest(name):
                before, found, after = good.rpartition(old)
                self.assertTrue(found, "the case changes nothing")
                path = self.write(before + new + after)
                with self.assertRaises(TimelineError) as caught:
                    read_timeline(path)
                self.assertTrue(str(caught.exception).startswith(f"{path}:{line}: "), caught.exception)
                self.assertIn(message, str(caught.exception))

    def test_cut_off_anywhere(self):
        text = sample.csv_text()
        for length in range(0, len(text), 7):
            with self.subTest(length), self.assertRaises(TimelineError):
                read_timeline(self.write(text[:length]))

    def test_files_that_are_no_text(self):
        path = os.path.join(self.folder, "t.csv")
        for content in (b"", b"\xff\xfe\x00", b"\x00" * 100 + b"\n", b"\x89PNG\r\n\x1a\n"):
            with open(path, "wb") as file:
                file.write(content)
            with self.subTest(content), self.assertRaises(TimelineError):
                read_timeline(path)
        with self.assertRaisesRegex(TimelineError, "cannot read .*No such file"):
            read_timeline(path + "x")
        with self.assertRaisesRegex(TimelineError, "cannot read .*Is a directory"):
            read_timeline(self.folder)


class Rows(Folder):
    def test_names_sort_with_numbers_as_numbers(self):
        names = ["gpu10", "gpu2", "host", "gpu2 #2"]
        self.assertEqual(sorted(names, key=natural), ["gpu2", "gpu2 #2", "gpu10", "host"])

    def test_a_row_for_each_queue_under_its_device(self):
        rows = rows_of(read_timeline(self.write(sample.csv_text())), merged=False)
        self.assertEqual([(row.device, row.label) for row in rows],
                         [("gpu0", "compute 0"), ("gpu0", "from host"), ("gpu1", "compute 0"), ("gpu1", "from gpu0"),
                          ("gpu1", "to host #2")])
        self.assertEqual(rows[0].bars, {"gemm": [(0.001, 0.003)]})
        self.assertEqual(rows[1].bars, {"in": [(0.0, 0.001)]})
        self.assertEqual(rows[2].bars, {"axpby": [(0.004, 0.0045)]})  # joins have no bar
        self.assertEqual(rows[3].bars, {"peer": [(0.003, 0.0035)]})
        self.assertEqual(rows[4].bars, {"out": [(0.0045, 0.0055)]})

    def test_merged_rows_hold_all_queues_of_a_role(self):
        second = sample.ROWS[1].replace("1,gemm,gpu0 compute 0", "6,gemm,gpu0 compute 1")
        rows = rows_of(read_timeline(self.write(sample.csv_text(sample.ROWS + [second]))), merged=True)
        self.assertEqual([(row.device, row.label) for row in rows],
                         [("gpu0", "kernels"), ("gpu0", "from host"), ("gpu1", "kernels"), ("gpu1", "from GPUs"),
                          ("gpu1", "to host")])
        self.assertEqual(rows[0].bars["gemm"], [(0.001, 0.003)] * 2)

    def test_thin_neighbours_become_one_bar(self):
        # Pixels of 1 s: bars of 0.1 s with gaps of 0.1 s merge; a gap of 5 s remains.
        thin = [(0.2 * i, 0.2 * i + 0.1) for i in range(100)] + [(30.0, 30.1)]
        merged = thinned(thin, 1.0)
        self.assertEqual(len(merged), 2)
        self.assertEqual(merged[0][0], 0.0)
        self.assertAlmostEqual(merged[0][1], 19.9)

    def test_wide_neighbours_stay_apart(self):
        self.assertEqual(thinned([(10.0, 20.0), (0.0, 10.0)], 1.0), [(0.0, 10.0), (10.0, 20.0)])

    def test_overlapping_bars_become_one(self):
        self.assertEqual(thinned([(0.0, 10.0), (5.0, 15.0)], 1.0), [(0.0, 15.0)])


class Tables(Folder):
    def test_summary_table(self):
        table = summary_table(read_timeline(self.write(sample.csv_text())))
        lines = table.splitlines()
        self.assertEqual(lines[0], "GEMM 64 x 32 x 16 f64 NT, A:B:C on host:host:gpu1")
        self.assertEqual(lines[1], "gemmex, tile 16, on two-gpu (sim)")
        # 4e6 flop in 5.5 ms
        self.assertEqual(lines[2], "6 operations, 5.5 ms, 0.0007273 TFLOP/s")
        self.assertEqual(lines[4].split(), ["queue", "ops", "busy", "of", "makespan", "waited", "bytes"])
        self.assertEqual(lines[5].split(), "gpu0 compute 0 1 2 ms 36.4% 0 s 0 B".split())
        # op 3 was ready at 3.5 ms and started at 4 ms; op 5 is a join
        self.assertEqual(lines[7].split(), "gpu1 compute 0 2 500 us 9.1% 500 us 0 B".split())
        self.assertEqual(len({len(line) for line in lines[4:]}), 1)

    def test_command(self):
        path = self.write(sample.csv_text())
        self.assertEqual(self.run_command("summary", path), (0, summary_table(path), ""))

    def test_command_reports_one_line(self):
        for arguments in (["summary", "no.csv"], ["summary"], [], ["draw"], ["summary", self.write("x")],
                          ["gantt", "a.csv"], ["gantt", "a.csv", "-o", "a.gif"]):
            with self.subTest(arguments):
                code, out, err = self.run_command(*arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertRegex(err, r"\Atilerail: [^\n]+\n\Z")


    def test_command_tells_that_nothing_takes_its_output(self):
        python = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([sys.executable, "-m", "tilerail", "summary", self.write(sample.csv_text())], cwd=python,
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Atilerail: cannot write to standard output: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
