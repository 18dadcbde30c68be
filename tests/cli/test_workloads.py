"""`predict` for several GPUs, with the topology's links and with measured links."""

import json

from support import TOPOLOGIES, CommandTest, needs_simulator

HEADER = "src,dst,latency_s,bytes_per_s,with_src,with_dst,slowdown\n"
METRICS = {"perf": lambda s, j: 1 / s, "edp": lambda s, j: 1 / (s * j), "pdp": lambda s, j: 1 / j}  # for equal flops


class WorkloadTest(CommandTest):
    def predict(self, *arguments, gemm="2K", topology="two-gpu"):
        return ["predict", "--gemm", gemm, "--tile", "1K", "--topology", topology, *arguments]

    def predicted(self, *arguments, **problem):
        result = json.loads(self.succeed(*self.predict("--json", "-", *arguments, **problem)))
        self.assertEqual((result["schema"], result["model"], result["tile"]), (1, "paralia", 1024))
        return {row["choice"]: row for row in result["predictions"]}


class Workloads(WorkloadTest):
    def test_the_table_has_all_devices_each_metric_and_the_policy(self):
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

    def test_without_watts_there_are_no_metrics_of_energy(self):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        self.write("plain.toml", "".join(line for line in text.splitlines(True) if not line.startswith("watts")))
        rows = self.predicted(topology="plain.toml")
        self.assertEqual(list(rows), ["all", "perf", "policy"])
        self.assertEqual([row["predicted_energy_j"] for row in rows.values()], [None] * 3)
        self.assertIn("no metrics of energy", self.succeed(*self.predict(topology="plain.toml")))

    def test_text_has_a_row_of_each_choice(self):
        *table, note = self.succeed(*self.predict()).splitlines()
        self.assertEqual(note, "paralia counts kernels and transfers of tiles of 1024")
        lines = [line.split() for line in table]
        self.assertEqual([line[0] for line in lines], ["choice", "all", *METRICS, "policy"])
        self.assertEqual(lines[1][1:3], ["gpu0,gpu1", "50.0%,50.0%"])


class LinkMaps(WorkloadTest):
    def test_link_maps_are_written_to_stdout_or_in_addition_to_the_text(self):
        text = self.succeed("topo", "show", "two-gpu", "--link-map", "map.csv")
        self.assertEqual(text, self.succeed("topo", "show", "two-gpu"))
        csv = self.succeed("topo", "show", "two-gpu", "--link-map", "-")
        self.assertEqual((self.folder / "map.csv").read_text(), csv)
        lines = csv.splitlines()
        self.assertEqual(lines[0] + "\n", HEADER)
        links = {tuple(line.split(",")[:2]): line.split(",")[2:4] for line in lines if line.endswith(",,,")}
        self.assertEqual(len(links), 6)
        self.assertEqual([float(value) for value in links["gpu0", "gpu1"]], [5e-6, 40e9])
        # Both GPUs share 12 GB/s; a single one uses 10.
        slowdown = next(line for line in lines if line.startswith("host,gpu0,,,host,gpu1,"))
        self.assertAlmostEqual(float(slowdown.split(",")[-1]), 10 / 6)
