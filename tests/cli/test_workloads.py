"""`predict` for several GPUs, with the topology's links and with measured ones."""

import json

from support import TOPOLOGIES, CommandTest, needs_simulator

HEADER = "src,dst,latency_s,bytes_per_s,with_src,with_dst,slowdown\n"
MATRIX = 8 * 2048**2  # bytes
METRICS = {"perf": lambda s, j: 1 / s, "edp": lambda s, j: 1 / (s * j), "pdp": lambda s, j: 1 / j}  # of equal flops


class WorkloadTest(CommandTest):
    def predict(self, *arguments, gemm="2K", topology="two-gpu"):
        return ["predict", "--gemm", gemm, "--tile", "1K", "--topology", topology, *arguments]

    def predicted(self, *arguments, **problem):
        result = json.loads(self.succeed(*self.predict("--json", "-", *arguments, **problem)))
        self.assertEqual((result["schema"], result["model"], result["tile"]), (1, "paralia", 1024))
        return {row["choice"]: row for row in result["predictions"]}


class Workloads(WorkloadTest):
    def test_all_devices_stand_beside_the_choice_of_each_metric_and_the_policy(self):
        rows = self.predicted()
        self.assertEqual(list(rows), ["all", *METRICS, "policy"])
        self.assertEqual(rows["all"]["devices"], ["gpu0", "gpu1"])
        for metric, value in METRICS.items():
            best, every = ([rows[row]["predicted_s"], rows[row]["predicted_energy_j"]] for row in (metric, "all"))
            self.assertGreaterEqual(value(*best), value(*every))
            self.assertAlmostEqual(sum(rows[metric]["shares"]), 1)
            self.assertEqual(len(rows[metric]["shares"]), len(rows[metric]["devices"]))
        for field in ("shares", "predicted_s", "predicted_energy_j"):
            self.assertIsNone(rows["policy"][field])

    @needs_simulator
    def test_the_simulator_is_given_the_plan_of_the_choice(self):
        rows = self.predicted("--place", "0:1:h", "--policy", "gemmex")
        for choice, policy in {"all": ["paralia"], "policy": ["gemmex"],
                               **{metric: ["paralia", "--set", f"devices=best(metric={metric})"] for metric in METRICS}}.items():
            summary = json.loads(self.succeed("simulate", *self.predict("--place", "0:1:h", "--json", "-")[1:],
                                              "--policy", *policy))
            row = rows[choice]
            self.assertEqual((row["simulated_s"], row["simulated_energy_j"], row["tile"], row["devices"]),
                             (summary["makespan_s"], summary["energy_j"], summary["tile"], summary["devices"]), choice)

    def test_one_gpu_is_bound_by_its_kernels_or_by_what_it_fetches(self):
        kernels, fetched = 2 * 2048**3 / 1e12, 3 * 10e-6 + 8 * (2048**2 + 2 * 2048 * 256) / 10e9
        for gemm, seconds in (("2K", kernels), ("2K,2K,256", fetched)):
            row = self.predicted("--devices", "1", "--model", "paralia", gemm=gemm)["all"]
            self.assertEqual((row["devices"], row["shares"]), (["gpu1"], [1]))
            self.assertAlmostEqual(row["predicted_s"], seconds, places=9)
            self.assertAlmostEqual(row["predicted_energy_j"], 250 * seconds, places=6)

    def test_without_watts_there_are_no_metrics_of_energy(self):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        self.write("plain.toml", "".join(line for line in text.splitlines(True) if not line.startswith("watts")))
        rows = self.predicted(topology="plain.toml")
        self.assertEqual(list(rows), ["all", "perf", "policy"])
        self.assertEqual([row["predicted_energy_j"] for row in rows.values()], [None] * 3)
        self.assertIn("no metrics of energy", self.succeed(*self.predict(topology="plain.toml")))

    def test_text_has_a_row_of_each_choice(self):
        title, empty, *table = self.succeed(*self.predict()).splitlines()
        self.assertEqual((title, empty), ("paralia counts kernels and transfers of tiles of 1024", ""))
        lines = [line.split() for line in table]
        self.assertEqual([line[0] for line in lines], ["choice", "all", *METRICS, "policy"])
        self.assertEqual(lines[1][1:4], ["0,1", "50.0", "50.0"])


class LinkMaps(WorkloadTest):
    def one_gpu(self, text, *policy):
        self.write("map.csv", HEADER + text)
        asked = self.predicted("--devices", "0", "--model", "paralia", "--link-map", "map.csv", *policy)
        return asked["all"]["predicted_s"]

    def test_the_topologys_own_gives_the_same_predictions(self):
        for machine, place in (("two-gpu", "h:h:h"), ("clx-ai", "0:1:2")):
            self.succeed("topo", "show", machine, "--link-map", "map.csv")
            self.assertEqual(self.predicted("--place", place, "--link-map", "map.csv", topology=machine),
                             self.predicted("--place", place, topology=machine))

    def test_it_is_written_to_stdout_or_beside_the_text(self):
        text = self.succeed("topo", "show", "two-gpu", "--link-map", "map.csv")
        self.assertEqual(text, self.succeed("topo", "show", "two-gpu"))
        csv = self.succeed("topo", "show", "two-gpu", "--link-map", "-")
        self.assertEqual((self.folder / "map.csv").read_text(), csv)
        lines = csv.splitlines()
        self.assertEqual(lines[0] + "\n", HEADER)
        links = {tuple(line.split(",")[:2]): line.split(",")[2:4] for line in lines if line.endswith(",,,")}
        self.assertEqual(len(links), 6)
        self.assertEqual([float(value) for value in links["gpu0", "gpu1"]], [5e-6, 40e9])
        # Both GPUs share 12 GB/s, of which one alone takes 10.
        slowdown = next(line for line in lines if line.startswith("host,gpu0,,,host,gpu1,"))
        self.assertAlmostEqual(float(slowdown.split(",")[-1]), 10 / 6)

    def test_measured_links_take_the_place_of_the_topologys(self):
        links = "# one way\nhost,gpu0,0.001,1e9,,,\ngpu0,host,0.002,4e9,,,\n"
        fetched = 3 * (1e-3 + MATRIX / 1e9)
        self.assertAlmostEqual(self.one_gpu(links), fetched, places=9)
        slowed = 3 * (1e-3 + 1.5 * MATRIX / 1e9)
        both_ways = "host,gpu0,,,gpu0,host,1.5\n"
        self.assertAlmostEqual(self.one_gpu(links + both_ways, "--set", "routing=link-map"), slowed, places=9)
        self.assertAlmostEqual(self.one_gpu(links + both_ways), fetched, places=9)  # by the bottleneck rule reads count
        self.assertAlmostEqual(self.one_gpu(links + "gpu0,host,,,host,gpu0,1.5\n"), fetched, places=9)

    def test_devices_without_links_are_refused(self):
        self.write("map.csv", HEADER + "host,gpu0,0,1e9,,,\ngpu0,host,0,1e9,,,\n")
        self.assert_refused(self.predict("--link-map", "map.csv"), "--devices: there is no link from 'gpu1' to 'gpu0' in map.csv; expected")

    def test_bad_lines_are_refused_with_their_place(self):
        for bad, quoted in {
            "host,gpu1,0,1e9\n": "map.csv:3:1: 4 columns; expected 7: src,dst,",
            "attic,gpu1,0,1e9,,,\n": "map.csv:3:1: src: 'attic': no memory of two-gpu; expected one of: host, gpu0",
            "host,host,0,1e9,,,\n": "map.csv:3:6: dst: 'host': both ends of a link",
            "host,gpu0,0,1e9,,,\n": "map.csv:3:1: src: 'host': the second line of this link",
            "host,gpu1,fast,1e9,,,\n": "map.csv:3:11: latency_s: 'fast'; expected a number from 0 to 10",
            "host,gpu1,0,0,,,\n": "map.csv:3:13: bytes_per_s: '0': expected 1 MB/s to 1 PB/s",
            "host,gpu1,0,1e-300,,,\n": "map.csv:3:13: bytes_per_s: '1e-300': expected 1 MB/s to 1 PB/s",
            "host,gpu1,,1e9,,,\n": "map.csv:3:11: latency_s: ''; expected a number",
            "host,gpu1,0,1e9,host,,\n": "map.csv:3:17: with_src: 'host': expected nothing without a slowdown",
            "host,gpu0,0,,host,gpu1,2\n": "map.csv:3:11: latency_s: '0': expected nothing beside a slowdown",
            "host,gpu0,,,host,gpu1,2\n": "map.csv:3:13: with_src: 'host': no link to 'gpu1' so far; expected its line",
            "host,gpu0,,,host,gpu0,2\n": "map.csv:3:13: with_src: 'host': slows itself down",
            "gpu1,host,0,1e9,,,\nhost,gpu0,,,gpu1,host,-1\n": "map.csv:4:23: slowdown: '-1'; expected a number",
            "gpu1,host,0,1e9,,,\n" + 2 * "host,gpu0,,,gpu1,host,2\n": "map.csv:5:23: slowdown: '2': the second",
            "host,gpu1,0,1e9,,,": "map.csv:3:19: the line is cut off",
        }.items():
            self.write("map.csv", HEADER + "host,gpu0,0,1e9,,,\n" + bad)
            self.assert_refused(self.predict("--link-map", "map.csv"), quoted)
        for text, quoted in {
            "": "map.csv:1:1: no header; expected 'src,dst,",
            "# only this\n": "map.csv:1:1: no header",
            "src,dst\n": "map.csv:1:1: header 'src,dst'; expected 'src,dst,latency_s",
            HEADER: "map.csv:1:1: no link; expected at least one",
        }.items():
            self.write("map.csv", text)
            self.assert_refused(self.predict("--link-map", "map.csv"), quoted)
