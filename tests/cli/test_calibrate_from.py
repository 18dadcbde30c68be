"""`calibrate --backend cuda --from`: machine files from recorded measurements, without the hardware."""

import copy
import json
import tomllib
import unittest

from support import OLD, CommandTest, needs_simulator

MIB = 1 << 20
PEAK = 50e12  # flop/s


def measured(value):
    return [value, 0.01, 5]


def copies(kind, rates, pages="spread"):
    """Simultaneous copies of 16 MiB; rates in B/s by (src, dst)."""
    flows = [[src, dst, 1, measured(rate)] for (src, dst), rate in rates.items()]
    run = {"kind": kind, "pages": pages, "copy_bytes": 16 * MIB, "column_bytes": 0, "flows": flows}
    return {**run, "total": measured(sum(rates.values()))}


def square(size):
    run = {"gpu": "gpu0", "dtype": "f64", "trans": "NN", "size": [size] * 3, "at_once": 1, "alignment": 0, "duty": 0.4}
    return {**run, "seconds": measured(4e-6 + 2 * size**3 / PEAK), "watts": 0, "watts_seconds": 0}


def device(number):
    record = {"name": f"gpu{number}", "number": number, "model": "Some GPU", "memory_bytes": 80e9}
    return {**record, "multiprocessors": 132, "idle_watts": 0, "limit_watts": 0}


# Two GPUs with 50 GB/s each from the host and 60 GB/s together; plain pages give 40.
MEASUREMENTS = {
    "schema": 1,
    "machine": "recorded",
    "date": "2001-02-03",
    "command": "tilerail calibrate",
    "host_bytes": 1e12,
    "devices": [device(0), device(1)],
    "latencies": [],
    "transfers": [copies("pair", {("host", f"gpu{i}"): 50e9}) for i in range(2)]
    + [copies("pair", {(f"gpu{i}", "host"): 45e9}) for i in range(2)]
    + [copies("pair", {("host", f"gpu{i}"): 40e9}, pages="plain") for i in range(2)]
    + [copies("pair", {(f"gpu{i}", "host"): 40e9}, pages="plain") for i in range(2)]
    + [copies("two to GPUs", {("host", "gpu0"): 30e9, ("host", "gpu1"): 30e9})],
    "strided": [],
    "kernels": [square(size) for size in (256, 512, 1024, 2048, 4096)],
    "memory": [{"gpu": "gpu0", "rate": measured(3e12)}],
    "issue": [],
}

FROM = ["calibrate", "--backend", "cuda", "--from", "m.json", "-o", "node.toml"]


class CalibrateFrom(CommandTest):
    def record(self, change=lambda measurements: None):
        measurements = copy.deepcopy(MEASUREMENTS)
        change(measurements)
        self.write("m.json", json.dumps(measurements))

    def machine(self, name):
        return tomllib.loads((self.folder / name).read_text())

    def test_both_kinds_of_host_buffers_have_a_file(self):
        self.record()
        text = self.succeed(*FROM)
        for name, rate in (("node.toml", "50 GB/s"), ("node-plain.toml", "40 GB/s")):
            self.assertIn("valid", self.succeed("topo", "validate", name))
            links = {(link["from"], link["to"]): link for link in self.machine(name)["link"]}
            self.assertEqual(links["host", "gpu0"]["bandwidth"], rate)
        self.assertIn("spread host pages: 5 runs of copies: median error", text)
        self.assertIn("plain host pages: 4 runs of copies: median error", text)
        self.assertIn("5 kernels: median error", text)

    def test_invalid_names_of_machines_are_refused(self):
        self.record()
        host = ["calibrate", "--backend", "host", "-o", "host.toml"]
        for name in ("", 129 * "x", "a\nb"):
            for command in (FROM, host):
                with self.subTest(name, command=command):
                    self.assert_refused([*command, "--name", name], "is not a name; expected 1 to 128 characters")
        self.record(lambda measurements: measurements.update(machine="a\nb"))
        self.assert_refused(FROM, "m.json: /machine: '\"a\\nb\"' is not 1 to 128 characters")

    def test_shared_limits_of_copies_are_found(self):
        self.record()
        self.succeed(*FROM)
        group = next(g for g in self.machine("node.toml")["group"] if g["name"] == "host to GPUs")
        self.assertEqual(group["forward"], ["host->gpu0", "host->gpu1"])
        self.assertEqual(group["capacity"], [[1, "50 GB/s"], [2, "60 GB/s"]])

    def test_every_table_has_a_measured_source(self):
        self.record()
        self.succeed(*FROM)
        sources = self.machine("node.toml")["sources"]
        self.assertEqual({source["kind"] for source in sources.values()}, {"measured"})
        self.assertIn("2001-02-03", sources["copies"]["text"])

    @needs_simulator
    def test_the_machine_can_be_simulated(self):
        self.record()
        self.succeed(*FROM)
        result = json.loads(self.succeed("simulate", "--gemm", "2K", "--topology", "node.toml", "--json", "-"))
        # No faster than the kernels, nor than 4 matrices at the GPUs' total of 60 GB/s.
        self.assertGreater(result["makespan_s"], 2 * 2048**3 / (2 * PEAK))
        self.assertGreater(result["makespan_s"], 2 * 2048**2 * 8 / 60e9)

    def test_options_set_the_name_and_copy_the_measurements(self):
        self.record()
        self.succeed(*FROM, "--name", "other", "--measurements", "again.json")
        self.assertEqual(self.machine("node.toml")["name"], "other")
        self.assertEqual(self.machine("node-plain.toml")["name"], "other-plain")
        self.assertEqual(json.loads((self.folder / "again.json").read_text()), {**MEASUREMENTS, "machine": "other"})
        first = (self.folder / "node.toml").read_text()
        self.succeed("calibrate", "--backend", "cuda", "--from", "again.json", "-o", "node.toml")
        self.assertEqual((self.folder / "node.toml").read_text(), first)

    def test_bad_measurements_are_refused_and_nothing_is_written(self):
        def set_rate(measurements):
            measurements["transfers"][0]["total"][0] = -1

        for change, quoted in (
            (lambda m: m.pop("kernels"), "m.json: /kernels: is missing"),
            (lambda m: m.update(colour="red"), "m.json: /colour"),
            (lambda m: m.update(devices=[]), "m.json: /devices: '[]'"),
            (set_rate, "m.json: /transfers/0/total/0: '-1'"),
            (lambda m: m.update(kernels=[]), "no kernel times"),
            (lambda m: m.update(memory=[]), "no memory rate"),
            (lambda m: m.update(transfers=m["transfers"][1:2]), "no copy from "),
        ):
            with self.subTest(quoted):
                self.record(change)
                self.write("node.toml", OLD)
                self.assert_refused(FROM, quoted)

    def test_bad_arguments_are_refused(self):
        self.record()
        for arguments, quoted in (
            (["calibrate", "--backend", "cuda", "--from", "absent.json", "-o", "node.toml"], "absent.json"),
            (["calibrate", "--backend", "cuda", "--from", "m.json"], "-o"),
            ([*FROM, "--workers", "2"], "--workers"),
            ([*FROM, "--devices", "1"], "--devices"),
            ([*FROM, "--seconds", "5"], "--seconds"),
            ([*FROM, "--measurements", "node.toml"], "node.toml"),
            (["calibrate", "--backend", "host", "--from", "m.json", "-o", "node.toml"], "--from"),
            (["calibrate", "--backend", "host", "--measurements", "x.json", "-o", "node.toml"], "--measurements"),
            (["calibrate", "--backend", "sim", "-o", "node.toml"], "'sim'"),
        ):
            with self.subTest(quoted):
                self.assert_refused(arguments, quoted)

    def test_without_a_gpu_measuring_is_hardware_that_is_absent(self):
        arguments = ["calibrate", "--backend", "cuda", "-o", "node.toml"]
        self.assert_refused(arguments, "no CUDA ", code=3, CUDA_VISIBLE_DEVICES="")


if __name__ == "__main__":
    unittest.main()
