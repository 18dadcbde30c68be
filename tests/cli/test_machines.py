"""Machines changed by settings, with every command that accepts a machine."""

import csv
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from support import HANG, SMALL, SOURCE, TILERAIL, CommandTest, kernels_text, machine_text, needs_simulator

DOUBLED = ["--topo-set", "link:*.bandwidth=x2"]
NAME = "two-gpu+link:*.bandwidth=x2"


class Settings(CommandTest):
    def test_a_setting_is_shown_with_its_source(self):
        shown = self.succeed("topo", "show", "two-gpu", *DOUBLED)
        self.assertIn(NAME + ":", shown)
        self.assertRegex(shown, r"host->pcie0 +24.00 GB/s")
        self.assertIn("set: link:*.bandwidth=x2", shown)
        self.assertIn("valid", self.succeed("topo", "validate", "two-gpu", *DOUBLED))

    def test_a_plan_names_the_machine_it_was_made_for(self):
        self.assertEqual(json.loads(self.succeed("plan", *SMALL, *DOUBLED, "-o", "-"))["machine"], NAME)

    @needs_simulator
    def test_a_saved_plan_runs_on_the_changed_machine_of_its_name(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        summary = json.loads(self.succeed("simulate", "--plan", "plan.json", *DOUBLED, "--json", "-"))
        self.assertEqual(summary["machine"], NAME)

    def test_a_plan_of_a_changed_machine_names_its_machine(self):
        self.succeed("plan", *SMALL, *DOUBLED, "-o", "plan.json")
        self.assert_refused(["simulate", "--plan", "plan.json"], f"--topology: '{NAME}' is the machine of plan.json")
        self.assert_refused(["simulate", "--plan", "plan.json", "--topo-set", "gpus=9"], "--topology")

    @needs_simulator
    def test_faster_links_take_less_time(self):
        def makespan(*more):
            return json.loads(self.succeed("simulate", *SMALL, "--json", "-", *more))["makespan_s"]

        self.assertLess(makespan(*DOUBLED), makespan())
        self.assertEqual(makespan(*DOUBLED, "--topo-set", "link:*.bandwidth=x0.5"), makespan())

    @needs_simulator
    def test_cases_and_predictions_take_settings(self):
        self.write("cases.csv", "m,n,k,policy\n64,64,64,gemmex\n")
        compared = self.succeed("compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu",
                                "--topo-set", "gpus=1", "--csv", "-")
        self.assertEqual([row["devices"] for row in csv.DictReader(compared.splitlines())], ["1"])
        predict = ["predict", "--gemm", "2K", "--topology", "two-gpu", "--devices", "0"]
        self.assertNotEqual(self.succeed(*predict, *DOUBLED), self.succeed(*predict))

    def test_settings_that_match_nothing_are_refused(self):
        self.assert_refused(["topo", "show", "two-gpu", "--topo-set", "memory:gpu7.capacity=1 GB"],
                            "memory: 'gpu7' does not exist; known: 'host', 'gpu0', 'gpu1'")
        self.assert_refused(["plan", *SMALL, "--topo-set", "gpus=3"], "'3' is out of range; expected 1 to 2")


class Removed(CommandTest):
    """Links and GPUs removed by a setting."""
    BROKEN = ["--topo-set", "link:gpu0<->gpu3=none"]

    def makespan(self, *more):
        return json.loads(self.succeed("simulate", "--gemm", "8K", "--topology", "clx-ai", "--devices", "0,3", "--place",
                                       "0:0:3", "--json", "-", *more))["makespan_s"]

    def test_show_lacks_a_removed_link(self):
        self.assertIn("gpu0->gpu3", self.succeed("topo", "show", "clx-ai"))
        shown = self.succeed("topo", "show", "clx-ai", *self.BROKEN)
        self.assertNotRegex(shown, "\n *gpu0->gpu3 ")
        self.assertIn("clx-ai+link:gpu0<->gpu3=none", shown)
        self.assertIn("set: link:gpu0<->gpu3=none", shown)

    @needs_simulator
    def test_a_broken_bridge_costs_time(self):
        whole, broken = self.makespan(), self.makespan(*self.BROKEN)
        self.assertGreater(broken, whole)
        self.assertEqual(self.makespan("--topo-set", "link:gpu0<->gpu3=x1"), whole)

    @needs_simulator
    def test_a_sweep_has_the_machine_with_and_without_a_link(self):
        self.succeed("sweep", "--gemm", "8K", "--topology", "clx-ai", "--devices", "0,3", "--place", "0:0:3", "--vary",
                     "link:gpu0<->gpu3=x1,none", "--csv", "s.csv")
        with open(self.folder / "s.csv", newline="") as file:
            times = [float(row["makespan_s"]) for row in csv.DictReader(file)]
        self.assertEqual(times, [self.makespan(), self.makespan(*self.BROKEN)])

    @needs_simulator
    def test_whatif_changes_the_remaining_machine(self):
        asked = ["whatif", "--gemm", "2K", "--topology", "clx-ai", "--devices", "0,3", "--each", "--jobs", "1"]
        self.assertIn("link:gpu0->gpu3", self.succeed(*asked, "--only", "link:gpu0->gpu*", "--place", "0:0:3"))
        self.assertNotIn("link:gpu0->gpu3 ", self.succeed(*asked, *self.BROKEN, "--only", "link:gpu0->gpu*", "--place", "0:0:3"))
        self.assert_refused([*asked, *self.BROKEN, "--only", "link:gpu0->gpu3"], "is not a part of clx-ai")

    def test_a_gpu_can_be_removed(self):
        left = ["--gemm", "1K", "--topology", "clx-ai", "--topo-set", "memory:gpu3=none"]
        plan = json.loads(self.succeed("plan", *left, "--set", "devices=all", "-o", "-"))
        self.assertNotIn("gpu3", plan["memories"])
        self.assert_refused(["plan", *left, "--place", "3:h:h"], "--place: '3' is not a memory of clx-ai+memory:gpu3=none")

    def test_hosts_and_their_last_links_cannot_be_removed(self):
        self.assert_refused(["topo", "show", "two-gpu", "--topo-set", "link:pcie0->gpu0=none"],
                            "two-gpu+link:pcie0->gpu0=none: memory 'gpu0': unreachable memory; expected a path from a host")
        self.assert_refused(["topo", "show", "two-gpu", "--topo-set", "memory:host=none"],
                            "'host' is host memory; expected GPUs")
        self.assert_refused(["plan", *SMALL, "--topo-set", "link:gpu0->gpu7=none"], "link: 'gpu0->gpu7' does not exist")


SHORT = machine_text("short", 4, [("host", "gpu[0-3]", 10)], kernels_text('rates = [[1024, "5 TFLOP/s"]]'))


class Flat(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("short.toml", SHORT)

    def test_a_flat_file_shows_the_same_machine_alone(self):
        flat = self.succeed("topo", "show", "short.toml", "--flat")
        self.assertEqual(flat.count("[[memory]]"), 5)
        shown = self.succeed("topo", "show", "short.toml")
        (self.folder / "short.toml").unlink()
        self.write("flat.toml", flat)
        self.assertEqual(self.succeed("topo", "show", "flat.toml"), shown)
        self.assertEqual(self.succeed("topo", "show", "flat.toml", "--flat"), flat)

    def test_the_first_error_of_a_file_is_reported(self):
        self.write("short.toml", SHORT.replace("10 GB/s", "10 Gb").replace("1 us", "1").replace("schema = 1", "schema = 3"))
        for action in ("show", "validate"):
            self.assert_refused(["topo", action, "short.toml"], "short.toml:1:10: schema: '3'")


class Facts(CommandTest):
    def test_show_prints_routes_nearest_hosts_and_bisection(self):
        shown = self.succeed("topo", "show", "pcie-tree-8")
        self.assertRegex(shown, r"GPU to GPU +32 +5 +.* 18.0  gpu0 plx0 root0 root1 plx2 gpu4")
        self.assertRegex(shown, r"gpu0 to gpu7 +host +24.0 +24.0 +10.0 +10.0 +9.0 +9.0")
        self.assertIn("Bisection: the first 4 GPUs, each with its partner among the last 4: 18.0 GB/s forward", shown)

    def test_the_list_names_the_kernels_of_a_machine(self):
        self.write("mine.toml", machine_text("mine", 2, [("host", "gpu[0-1]", 10)],
                                             kernels_text('rates = [[64, "1 GFLOP/s"]]'), 'description = "made up"'))
        self.assertRegex(self.succeed("topo", "list", TILERAIL_TOPOLOGIES=str(self.folder)),
                         r"mine +1 host, 2 GPUs with kernels k: made up\n")

    def test_without_machines_the_searched_folders_are_named(self):
        (self.folder / "bin").mkdir()
        program = shutil.copy(TILERAIL, self.folder / "bin")
        for arguments, words in ((["topo", "new", "--gpus", "2", "--kernels", "h200"], "expected a machine"),
                                 (["topo", "show", "h200"], "expected a .toml file")):
            error = subprocess.run([program, *arguments], cwd=self.folder, env={**os.environ, "TILERAIL_TOPOLOGIES": ""},
                                   capture_output=True, text=True, timeout=HANG).stderr
            self.assertIn(words, error)
            self.assertRegex(error, "; TILERAIL_TOPOLOGIES names no folder of machines\n$")

    def test_a_broken_machine_does_not_hide_the_others_of_the_list(self):
        self.write("bad.toml", "schema = 7")
        listed = self.succeed("topo", "list", TILERAIL_TOPOLOGIES=str(self.folder))
        self.assertIn("two-gpu", listed)
        self.assertRegex(listed, r"bad +cannot be read: .*bad.toml:1:")


class Import(CommandTest):
    SEEDS = SOURCE / "fuzz/seeds"

    def test_each_tool_gives_a_machine(self):
        for option, seed, gpus in (("--nvidia-smi", "smi.txt", 4), ("--nccl", "nccl.xml", 3),
                                   ("--nvbandwidth", "nvbandwidth.json", 3), ("--p2p", "p2p.txt", 2)):
            self.succeed("topo", "import", option, self.SEEDS / seed, "--kernels", "h200", "-o", "m.toml")
            self.assertIn(f"{gpus} GPUs,", self.succeed("topo", "validate", "m.toml"))
            self.assertIn('kind = "assumed"', (self.folder / "m.toml").read_text())

    def test_the_examples_of_the_help_run(self):
        self.write("topo.txt", (self.SEEDS / "smi.txt").read_text())
        self.write("nccl.xml", (self.SEEDS / "nccl.xml").read_text())
        self.write("rates.json", (self.SEEDS / "nvbandwidth.json").read_text())
        self.write("p2p.txt", (self.SEEDS / "p2p.txt").read_text())
        examples = re.findall("tilerail (topo import .*)", self.succeed("topo", "import", "--help").split("Examples:")[1])
        self.assertEqual(len(examples), 4)
        for example in examples:
            self.succeed(*example.split())

    def test_other_files_are_refused(self):
        self.write("text.txt", "nothing")
        for option in ("--nvidia-smi", "--nccl", "--nvbandwidth", "--p2p"):
            self.assert_refused(["topo", "import", option, "text.txt", "--kernels", "h200", "-o", "m.toml"], "text.txt:1")
            self.assert_refused(["topo", "import", option, "no.txt", "--kernels", "h200"], "no.txt")
        self.assert_refused(["topo", "import", "--kernels", "h200"],
                            "file: is missing; expected one file of nvidia-smi, nccl, nvbandwidth or p2p")
        self.assert_refused(["topo", "import", "--nccl", "text.txt"],
                            "--kernels: is missing; expected the kind of GPU, such as h200")
        self.assert_refused(["topo", "import", "--nccl", "a", "--nvidia-smi", "b", "--kernels", "h200"],
                            "is given together with nvidia-smi; expected one file of")
        seed = ["topo", "import", "--nccl", self.SEEDS / "nccl.xml", "--kernels", "h200"]
        self.assert_refused([*seed, "--nvlink", "fast"], "--nvlink: 'fast'")
        self.assert_refused([*seed, "--kernels", "h300"], "--kernels")
        self.assert_refused([*seed, "--name", ""], "--name: '' is not a name; expected 1 to 128 characters")
        self.assert_refused([*seed, "--pcie", "9"], "--pcie: '9' is not a generation of PCIe and has no unit")

    SMI = """\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tPHB\t0-15\t2\t\tN/A
GPU1\tPHB\t X \t0-15\t2\t\tN/A
"""

    def imported(self, more="", kernels="h200"):
        self.write("smi.txt", self.SMI + more)
        self.succeed("topo", "import", "--nvidia-smi", "smi.txt", "--kernels", kernels, "-o", "m.toml")
        return self.succeed("topo", "show", "m.toml").split("Pair bandwidth")[1].split("Routes")[0]

    def rate(self, pairs, src, dst):
        """GB/s of a copy; None without a route."""
        heading, *rows = [line.split() for line in pairs.splitlines()[1:] if line]
        row = next(row for row in rows if row[0] == src)
        cell = row[heading.index(dst) - len(heading)]
        return None if cell == "-" else float(cell)

    def test_pcie_follows_the_kind_of_gpu(self):
        for kernels, generation in (("v100", 15.75), ("a100", 31.5), ("h200", 63)):
            self.assertAlmostEqual(self.rate(self.imported(kernels=kernels), "host2", "gpu0"), generation * 0.87, delta=0.05)

    def test_gpus_without_peer_access_copy_over_the_host(self):
        self.assertIsNotNone(self.rate(self.imported(), "gpu0", "gpu1"))
        states = "\tGPU0\tGPU1\t\nGPU0\tX\tCNS\t\nGPU1\tCNS\tX\t\n"
        self.assertIsNone(self.rate(self.imported(states), "gpu0", "gpu1"))
        plan = json.loads(self.succeed("plan", "--gemm", "4K", "--place", "0:1:0", "--topology", "m.toml", "--set",
                                       "peer-copies=staged", "-o", "-"))
        ends = [{plan["memories"][end] for end in queue[1:3]} for queue in plan["queues"] if queue[0] == "copy"]
        self.assertIn({"host2", "gpu1"}, ends)
        self.assertNotIn({"gpu0", "gpu1"}, ends)

    def test_missing_matrices_and_unused_cases_of_nvbandwidth_are_reported(self):
        self.write("b.json", json.dumps({"nvbandwidth": {"testcases": [
            {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["55.00", "54.00"]]},
            {"name": "device_local_copy", "status": "Error"}]}}))
        done = self.run_command("topo", "import", "--nvbandwidth", "b.json", "--kernels", "h200", "-o", "m.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "tilerail: b.json: no matrix device_to_device_memcpy_read_ce or "
                         "device_to_device_memcpy_write_ce; the machine has no copies between GPUs\n"
                         "tilerail: b.json: these test cases are not used: device_local_copy (Error)\n")


class Export(CommandTest):
    def test_a_platform_has_the_memories_and_routes(self):
        self.succeed("topo", "export", "two-gpu", "--simgrid", "p.xml", "--topo-set", "name=mine")
        platform = xml.etree.ElementTree.parse(self.folder / "p.xml").getroot()
        self.assertEqual(platform.find("zone").get("id"), "mine")
        self.assertEqual([host.get("id") for host in platform.iter("host")], ["host", "gpu0", "gpu1"])
        self.assertEqual(len(list(platform.iter("route"))), 6)

    def test_too_large_a_machine_is_refused(self):
        self.succeed("topo", "new", "--gpus", "300", "--kernels", "h200", "-o", "large.toml")
        self.assert_refused(["topo", "export", "large.toml", "--simgrid", "p.xml"], "memories: '301' is out of range; expected at most 256")
        self.assert_refused(["topo", "export", "two-gpu"],
                            "topo export: is missing; expected a file, such as --simgrid machine.xml")


class New(CommandTest):
    TWO_ISLANDS = ["topo", "new", "--gpus", "16", "--islands", "2", "--sockets", "4", "--pcie", "5", "--nvlink", "450",
                   "--bridge", "100", "--kernels", "h200"]

    def test_a_new_machine_contains_its_command_and_loads(self):
        self.succeed(*self.TWO_ISLANDS, "-o", "new.toml")
        text = (self.folder / "new.toml").read_text()
        self.assertEqual(text.splitlines()[0].split(" ")[:4], ["#", "tilerail", "topo", "new"])
        self.assertIn("16 GPUs, ", self.succeed("topo", "validate", "new.toml"))
        self.assertEqual(self.succeed(*self.TWO_ISLANDS), text)
        changed = self.succeed("topo", "show", "new.toml", "--topo-set", "link:nvsw0<->nvsw1.bandwidth=400 GB/s")
        self.assertRegex(changed, r"nvsw1->nvsw0 +400.0 GB/s")

    def test_pcie_follows_the_gpus(self):
        for kernels, generation in (("a100", "4"), ("v100", "3"), ("k40", "3"), ("h200", "5"), ("hgx-h100-1", "5")):
            machine = ["topo", "new", "--gpus", "2", "--kernels", kernels]
            default, asked = self.succeed(*machine), self.succeed(*machine, "--pcie", generation)
            self.assertEqual(default.splitlines()[1:], asked.splitlines()[1:], kernels)

    def test_hosts_are_named_sockets(self):
        self.assert_refused(["topo", "new", "--gpus", "4", "--hosts", "2", "--kernels", "h200"], "--hosts")
        self.assert_refused(["topo", "new", "--gpus", "4", "--socket-link", "50", "--kernels", "h200"],
                            "--socket-link: there is one socket")

    @needs_simulator
    def test_a_machine_from_a_few_figures_is_as_fast_as_the_measured_one(self):
        self.succeed("topo", "new", "--gpus", "8", "--sockets", "2", "--nvlink", "388", "--kernels", "h200", "-o", "new.toml")

        def makespan(machine, place):
            return json.loads(self.succeed("simulate", "--gemm", "16K", "--topology", machine, "--place", place, "--json",
                                           "-"))["makespan_s"]

        self.assertAlmostEqual(makespan("new.toml", "h*:h*:h*") / makespan("hgx-h200", "h:h:h"), 1, delta=0.1)

    def test_a_thousand_gpus_are_shown_in_lines_that_grow_with_them(self):
        self.succeed("topo", "new", "--gpus", "1024", "--sockets", "128", "--islands", "64", "--nvlink", "450", "--bridge",
                     "100", "--kernels", "h200", "-o", "large.toml")
        self.assertIn("1024 GPUs, ", self.succeed("topo", "validate", "large.toml"))
        self.assertLess(len(self.succeed("topo", "show", "large.toml").splitlines()), 10 * 1024)

    def test_an_option_that_does_not_fit_leaves_no_file(self):
        self.write("new.toml", "old")
        self.assert_refused([*self.TWO_ISLANDS[:-1], "h300", "-o", "new.toml"], "--kernels: 'h300' is not a kind of GPU")
        self.assert_refused(["topo", "new", "--gpus", "3", "--sockets", "2", "--kernels", "h200"], "--sockets: '2' does not divide the 3 GPUs")
        self.assert_refused(["topo", "new", "--kernels", "h200"], "--gpus")
        self.assert_refused(["topo", "new", "--gpus", "8", "--per-uplink", "5", "--kernels", "h200"],
                            "--per-uplink: '5' does not divide the 8 GPUs of a socket; expected a divisor of 8")
        self.assert_refused(["topo", "new", "--gpus", "8", "--kernels", "h200", "--name", ""],
                            "--name: '' is not a name; expected 1 to 128 characters")


if __name__ == "__main__":
    unittest.main()
