"""Invalid machines, plans and timelines. Each is a valid file with one edit, so only the edit can cause the error."""

import csv
import io
import json
import subprocess
import unittest

from support import OLD, SMALL, TILERAIL, TOPOLOGIES, CommandTest, kernels_text, machine_text
from waiting import HANG

GOOD_MACHINE = (TOPOLOGIES / "two-gpu.toml").read_text()

# One edit of two-gpu.toml (first occurrence), and the quotes in the error.
MACHINES = {
    "not TOML": ('name = "two-gpu"', 'name = "two-gpu', "7:"),
    "key of many parts": ("[kernels.flat]", "[kernels.flat" + 50000 * ".a" + "]",
                          ":69: key: has too many parts; expected at most 1000"),
    "no schema": ("schema = 1\n", "", "schema"),
    "schema of the future": ("schema = 1", "schema = 99", "99"),
    "no name": ('name = "two-gpu"\n', "", "name"),
    "name with a tab": ('name = "two-gpu"', 'name = "two\\tgpu"', ":7:8: name: 'two\\x09gpu' is not a name; expected 1 to 128 "),
    "long name": ('name = "two-gpu"', f'name = "{129 * "x"}"', "is not a name; expected 1 to 128 characters"),
    "group with a tab": (
        "[kernels.flat]",
        '[[group]]\nname = "a\\tb"\nforward = ["host->pcie0"]\ncapacity = "1 GB/s"\nsource = "round"\n\n[kernels.flat]',
        "group 'a\\x09b': its name is not allowed",
    ),
    "group with a NUL": (
        "[kernels.flat]",
        '[[group]]\nname = "a\\u0000b"\nforward = ["host->pcie0"]\ncapacity = "1 GB/s"\nsource = "round"\n\n[kernels.flat]',
        "group 'a\\x00b': its name is not allowed",
    ),
    "unknown field": ('kind = "host"', 'kind = "host"\ncolour = "red"', "colour"),
    "unknown kind of memory": ('kind = "host"', 'kind = "attic"', "attic"),
    "unknown kind of source": ('kind = "assumed"', 'kind = "guessed"', "guessed"),
    "source that is not listed": ('source = "round"', 'source = "rumour"', "rumour"),
    "no source": ('kind = "host"\nsource = "round"', 'kind = "host"', "source"),
    "two memories of one name": ('name = "gpu1"', 'name = "gpu0"', "gpu0"),
    "two GPUs of one number": ("device = 1", "device = 0", "0"),
    "negative device": ("device = 1", "device = -1", "-1"),
    "zero bandwidth": ('bandwidth = "12 GB/s"', 'bandwidth = "0 GB/s"', "0 GB/s"),
    "negative bandwidth": ('bandwidth = "12 GB/s"', 'bandwidth = "-12 GB/s"', "-12 GB/s"),
    "bandwidth without unit": ('bandwidth = "12 GB/s"', "bandwidth = 12", "12"),
    "unknown unit": ('bandwidth = "12 GB/s"', 'bandwidth = "12 Gb"', "12 Gb"),
    "unit of another quantity": ('latency = "5 us"', 'latency = "5 GB"', "5 GB"),
    "negative latency": ('latency = "5 us"', 'latency = "-5 us"', "-5 us"),
    "link from nowhere": ('from = "host"', 'from = "attic"', "attic"),
    "link to itself": ('from = "host"', 'from = "pcie0"', "pcie0"),
    "memory that no link reaches": ('to = ["gpu0", "gpu1"]', 'to = ["gpu0"]', "gpu1"),
    "no capacity": ('capacity = "1 GB"', 'capacity = "0 GB"', "0 GB"),
    "unknown kernels": ('kernels = "flat"', 'kernels = "bumpy"', "bumpy"),
    "engine that never copies": ("h2d = 1", "h2d = 0", "0"),
    "unknown dtype": ('dtype = "f64"', 'dtype = "f8"', "f8"),
    "efficiency above one": ("efficiency = [[1, 1.0]]", "efficiency = [[1, 1.5]]", "1.5"),
    "efficiency without points": ("efficiency = [[1, 1.0]]", "efficiency = []", "rates: has 0 entries; expected 1 to 4096"),
    "no multiprocessor": ("multiprocessors = 16", "multiprocessors = 0", "0"),
    "block of one side": ("block = [128, 128]", "block = [128]", "block"),
    "route over a missing link": (
        "[kernels.flat]",
        '[[route]]\nfrom = "gpu0"\nto = "gpu1"\nlinks = ["gpu0->attic"]\nsource = "round"\n\n[kernels.flat]',
        "gpu0->attic",
    ),
    "route that does not arrive": (
        "[kernels.flat]",
        '[[route]]\nfrom = "gpu0"\nto = "gpu1"\nlinks = ["gpu0->pcie0"]\nsource = "round"\n\n[kernels.flat]',
        "gpu1",
    ),
    "group of a missing link": (
        "[kernels.flat]",
        '[[group]]\nname = "g"\nforward = ["host->attic"]\ncapacity = "1 GB/s"\nsource = "round"\n\n[kernels.flat]',
        "host->attic",
    ),
    "group without links": (
        "[kernels.flat]",
        '[[group]]\nname = "g"\nforward = []\ncapacity = "1 GB/s"\nsource = "round"\n\n[kernels.flat]',
        "forward",
    ),
}


def put(path, value):
    """An edit of a JSON document: replaces the value at `path`."""

    def edit(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return edit


def remove(*path):
    def edit(document):
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return edit


def first(document, kind):
    return next(i for i, op in enumerate(document["ops"]) if op["op"] == kind)


def of_first(kind, key, value):
    return lambda document: document["ops"][first(document, kind)].update({key: value})


def wider_view(document):
    document["ops"][first(document, "copy")]["y"][3] += 1000


def odd_offset(document):
    next(buffer for buffer in document["buffers"] if buffer[1] == "arena")[8] += 4  # of f64
    document["peak_bytes"] = [peak + 4 for peak in document["peak_bytes"]]


# One edit of a plan, and the quotes in the error.
PLANS = {
    "no schema": (remove("schema"), "/schema"),
    "schema of the future": (put(["schema"], 99), "99"),
    "no operations": (remove("ops"), "/ops"),
    "negative size": (put(["problem", "m"], -64), "-64"),
    "size that is a text": (put(["problem", "n"], "64"), "/problem/n"),
    "unknown dtype": (put(["problem", "dtype"], "f8"), "f8"),
    "alpha that is not a number": (put(["problem", "alpha"], None), "/problem/alpha"),
    "unknown kind of operation": (of_first("copy", "op", "teleport"), "teleport"),
    "queue that is not there": (of_first("copy", "queue", 12345), "12345"),
    "dependency on itself": (lambda d: d["ops"][first(d, "gemm")].update({"deps": [first(d, "gemm")]}), "depends on"),
    "dependency on a missing operation": (of_first("gemm", "deps", [99999]), "99999"),
    "buffer that is not there": (lambda d: put(["ops", first(d, "gemm"), "a", 0], 777)(d), "777"),
    "view outside its buffer": (wider_view, "1032"),
    "peak that is too small": (lambda d: d["peak_bytes"].__setitem__(slice(None), [1] * len(d["peak_bytes"])), "peak"),
    "tile between two elements": (odd_offset, "offset must be a multiple"),
    "GPU that is not a device of the plan": (lambda d: d["devices"].pop(), "must be one of the plan's devices"),
    "changed after it was written": (put(["problem", "alpha"], 2), "hash"),
}


def edit_row(column, value):
    """Replaces one cell of the last row of a timeline's CSV."""

    def edit(lines):
        header = next(line for line in lines if not line.startswith("#"))
        cells = next(csv.reader([lines[-1]]))
        cells[header.split(",").index(column)] = value
        row = io.StringIO()
        csv.writer(row, lineterminator="").writerow(cells)
        lines[-1] = row.getvalue()

    return edit


def edit_metadata(key, value):
    def edit(lines):
        index = next(i for i, line in enumerate(lines) if line.startswith(f"# {key}="))
        lines[index] = f"# {key}={value}"

    return edit


TIMELINES = {
    "empty file": (lambda lines: lines.clear(), "bad.csv"),
    "no metadata": (lambda lines: lines.__delitem__(0), "bad.csv"),
    "schema of the future": (edit_metadata("schema", "99"), "99"),
    "cut off": (lambda lines: lines.__delitem__(-1), "bad.csv"),
    "start that is a word": (edit_row("start_s", "soon"), "soon"),
    "start not a number": (edit_row("start_s", "nan"), "nan"),
    "negative start": (edit_row("start_s", "-1"), "-1"),
    "end before start": (edit_row("end_s", "0"), "end"),
    "unknown kind": (edit_row("kind", "teleport"), "teleport"),
    "operation twice": (edit_row("op", "0"), "0"),
    "operation that is not there": (edit_row("op", "99999"), "99999"),
    "negative bytes": (edit_row("bytes", "-5"), "-5"),
    "another plan": (edit_metadata("plan_hash", "0123456789abcdef"), "0123456789abcdef"),
}


class BadMachines(CommandTest):
    def test_each_bad_machine_is_refused_with_its_place(self):
        for name, (old, new, quoted) in MACHINES.items():
            with self.subTest(name):
                bad = GOOD_MACHINE.replace(old, new, 1)
                self.assertNotEqual(bad, GOOD_MACHINE, "the edit no longer fits two-gpu.toml")
                self.write("bad.toml", bad)
                self.assert_refused(["topo", "validate", "bad.toml"], quoted)
                self.assert_refused(["topo", "validate", "bad.toml"], "bad.toml:")
                self.assert_refused(["plan", *SMALL[:-1], "bad.toml", "-o", "plan.json"], quoted)

    def test_a_pipe_is_read_like_a_file(self):
        for text, code in ((GOOD_MACHINE, 0), ("x = 1\n" + GOOD_MACHINE, 2)):
            done = subprocess.run([TILERAIL, "topo", "validate", "/dev/stdin"], input=text, text=True, check=False,
                                  capture_output=True, timeout=HANG)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_a_machine_that_is_not_text_is_refused(self):
        (self.folder / "bad.toml").write_bytes(bytes(range(256)))
        self.assert_refused(["topo", "show", "bad.toml"], "bad.toml:")


class BadPlans(CommandTest):
    def test_each_bad_plan_is_refused(self):
        self.succeed("plan", *SMALL, "-o", "good.json")
        good = (self.folder / "good.json").read_text()
        self.write("out.json", OLD)
        for name, (edit, quoted) in PLANS.items():
            with self.subTest(name):
                document = json.loads(good)
                edit(document)
                self.write("bad.json", json.dumps(document))
                outputs = ["--json", "out.json", "--timeline", "out.csv"]
                self.assert_refused(["simulate", "--plan", "bad.json", *outputs], quoted)
                self.assert_refused(["run", "--backend", "host", "--plan", "bad.json", *outputs], quoted)

    def test_a_plan_for_another_machine_is_refused(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        machines = "plan.json: plan: made for machine 'two-gpu', whose memories differ from "
        self.assert_refused(["simulate", "--plan", "plan.json", "--topology", "pcie-tree-8"],
                            machines + "'pcie-tree-8'")
        self.write("other.toml", machine_text("other", 2, [("host", "gpu[0-1]", 10)],
                                              kernels_text('rates = [[64, "1 GFLOP/s"]]')).replace("gpu[", "acc["))
        self.assert_refused(["simulate", "--plan", "plan.json", "--topology", "other.toml"],
                            machines + "'other'")

    def test_a_plan_that_is_not_json_is_refused(self):
        self.succeed("plan", *SMALL, "-o", "good.json")
        good = (self.folder / "good.json").read_text()
        for name, text in {"empty": "", "cut off": good[: len(good) // 2], "a list": "[]", "TOML": "schema = 1"}.items():
            with self.subTest(name):
                self.write("bad.json", text)
                self.assert_refused(["simulate", "--plan", "bad.json"], "bad.json")


class BadTimelines(CommandTest):
    def test_each_bad_timeline_is_refused_on_either_side(self):
        self.succeed("run", "--backend", "host", *SMALL, "--timeline", "good.csv")
        good = (self.folder / "good.csv").read_text().splitlines()
        self.write("out.json", OLD)
        for name, (edit, quoted) in TIMELINES.items():
            with self.subTest(name):
                lines = list(good)
                edit(lines)
                self.write("bad.csv", "".join(line + "\n" for line in lines))
                outputs = ["--json", "out.json", "--trace", "both.json", "--gantt", "both.svg"]
                self.assert_refused(["compare", "bad.csv", "good.csv", *outputs], quoted)
                self.assert_refused(["compare", "good.csv", "bad.csv", *outputs], quoted)

    def test_a_timeline_that_is_not_utf8_is_refused(self):
        self.succeed("run", "--backend", "host", *SMALL, "--timeline", "good.csv")
        good = (self.folder / "good.csv").read_bytes()
        for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80"):  # invalid byte; truncated character; half of a pair
            (self.folder / "bad.csv").write_bytes(good.replace(b"policy=", b"policy=" + bad))
            self.assert_refused(["compare", "bad.csv", "good.csv"], f"byte 0x{bad[0]:02x} is not UTF-8")
        (self.folder / "good.csv").write_bytes(good.replace(b"policy=", "policy=\u00b5".encode()))
        self.succeed("compare", "good.csv", "good.csv")

    def test_a_timeline_of_another_plan_is_refused(self):
        self.succeed("run", "--backend", "host", *SMALL, "--timeline", "good.csv")
        self.succeed("run", "--backend", "host", *SMALL, "--set", "caching=off", "--timeline", "other.csv")
        self.assert_refused(["compare", "good.csv", "other.csv"], "plan")


if __name__ == "__main__":
    unittest.main()
