"""Prediction intervals: machines with uncertainties, and the commands that print intervals."""

import json
import re
import unittest

from support import TOPOLOGIES, CommandTest, kernels_text, machine_text, needs_simulator, rows

UNCERTAINTY = """
[uncertainty]
kernels = { f64 = 0.1 }
copies = 0.2
source = "made"
"""
# A product on one GPU, from and to its own memory: the path is a single kernel.
KERNEL = ["--gemm", "512", "--tile", "512", "--place", "0:0:0", "--beta", "0", "--devices", "0", "--policy",
          "cocopelia", "--topology", "m.toml"]


def machine(uncertainty=UNCERTAINTY):
    return machine_text("m", 2, [("host", "gpu[0-1]", 10)], kernels_text('square = [[512, "1 ms"]]') + uncertainty)


class Intervals(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("m.toml", machine())

    def test_bad_tables_are_refused_at_their_place(self):
        for wrong, quoted in (
            ("{ f64 = 1 }", "uncertainty: kernels: f64: '1' is out of range; expected a share of the time, 0 to 0.99"),
            ("{ f65 = 0.1 }", "uncertainty: kernels: 'f65' is an unknown key"),
            ("0.1", "uncertainty: kernels"),
        ):
            with self.subTest(wrong):
                text = machine(UNCERTAINTY.replace("{ f64 = 0.1 }", wrong))
                line = 1 + text[: text.index(wrong)].count("\n")
                self.write("bad.toml", text)
                self.assert_refused(["topo", "validate", "bad.toml"], f"bad.toml:{line}:")
                self.assert_refused(["topo", "validate", "bad.toml"], quoted)

    @needs_simulator
    def test_simulate_prints_the_interval_of_the_makespan(self):
        result = json.loads(self.succeed("simulate", *KERNEL, "--json", "-"))
        makespan, interval = result["makespan_s"], result["interval"]
        self.assertAlmostEqual(makespan, 1e-3, delta=1e-5)
        self.assertAlmostEqual(interval["low_s"], 0.9 * makespan, delta=1e-9)
        self.assertAlmostEqual(interval["high_s"], 1.1 * makespan, delta=1e-9)
        self.assertEqual(interval["level"], 0.9)
        self.assertIn("interval    900.0 us to 1.100 ms in 90% of cases\n", self.succeed("simulate", *KERNEL))

    @needs_simulator
    def test_without_uncertainty_there_is_no_interval(self):
        self.write("m.toml", machine(""))
        self.assertNotIn("interval", json.loads(self.succeed("simulate", *KERNEL, "--json", "-")))
        self.assertNotIn("interval", self.succeed("simulate", *KERNEL))
        self.assertNotIn("predicted", self.succeed("plan", *KERNEL))

    def test_plan_prints_the_interval(self):
        self.assertIn("predicted   1.000 ms, 900.0 us to 1.100 ms in 90% of cases\n", self.succeed("plan", *KERNEL))

    @needs_simulator
    def test_compare_prints_whether_the_interval_contains_the_measurement(self):
        self.succeed("simulate", *KERNEL, "--timeline", "p.csv")
        text = (self.folder / "p.csv").read_text()
        self.assertIn("\n# interval_s=9e-04;0.0011\n", text)
        for longer, side, holds in ((1.05, "lies in it", True), (1.2, "is above it", False), (0.8, "is below it", False)):
            def stretched(match):
                return "," + ",".join(repr(longer * float(time)) for time in match[0][1:].split(","))

            measured = re.sub("# interval_s=.*\n", "", text).replace("backend=sim", "backend=host")
            self.write("m.csv", re.sub(r",[0-9.e-]+,[0-9.e-]+,[0-9.e-]+$", stretched, measured, flags=re.MULTILINE))
            output = self.succeed("compare", "p.csv", "m.csv")
            self.assertIn(f"in 90% of cases; the measured one {side}", output)
            self.assertEqual(json.loads(self.succeed("compare", "p.csv", "m.csv", "--json", "-"))["interval"]["holds"],
                             holds)
        self.write("bad.csv", text.replace("# interval_s=", "# interval_s=x"))
        self.assert_refused(["compare", "bad.csv", "m.csv"], "interval_s: 'x")

    @needs_simulator
    def test_cases_count_measurements_within_their_intervals(self):
        self.write("cases.csv", "m,n,k,tile,policy\n256,256,256,128,gemmex\n128,128,128,128,baseline\n")
        command = ["compare", "--cases", "cases.csv", "--backend", "host", "--topology", "m.toml", "--iters", "1"]
        text = self.succeed(*command, "--csv", "r.csv")
        results = rows(self.folder / "r.csv")
        for row in results:
            low, measured, high = (float(row[key]) for key in ("interval_low_s", "measured_s", "interval_high_s"))
            self.assertLess(low, float(row["predicted_s"]))
            self.assertEqual(row["in_interval"], "yes" if low <= measured <= high else "no")
        held = sum(row["in_interval"] == "yes" for row in results)
        self.assertIn(f"in the 90% prediction interval: {held} of 2, {50 * held}%", text)

    @needs_simulator
    def test_very_wide_intervals_are_marked_as_useless(self):
        for share, wide in ((0.1, False), (0.49, False), (0.99, True)):
            uncertainty = UNCERTAINTY.replace("f64 = 0.1", f"f64 = {share}").replace("copies = 0.2", f"copies = {share}")
            self.write("m.toml", machine(uncertainty))
            self.assertEqual("wider than +-50%: too wide to be useful\n" in self.succeed("simulate", *KERNEL), wide)

    @needs_simulator
    def test_the_table_of_a_sweep_has_intervals(self):
        self.succeed("sweep", *KERNEL, "--vary", "beta=0,1", "--csv", "s.csv")
        for row in rows(self.folder / "s.csv"):
            low, makespan, high = (float(row[key]) for key in ("interval_low_s", "makespan_s", "interval_high_s"))
            self.assertAlmostEqual(makespan - low, 0.1 * makespan, delta=1e-9)
            self.assertAlmostEqual(high - makespan, 0.1 * makespan, delta=1e-9)

    def test_shipped_calibrated_machines_have_uncertainty(self):
        for name in ("hgx-h200-1", "hgx-h200-2", "hgx-h100-1", "hgx-h100-2", "hgx-h200-4", "hgx-h200-4-plain"):
            self.assertIn("\n[uncertainty]\n", (TOPOLOGIES / f"{name}.toml").read_text())


class Check(CommandTest):
    @needs_simulator
    def test_a_new_description_is_checked_with_ten_plans(self):
        done = self.run_command("calibrate", "--backend", "host", "--seconds", "2", "-o", "m.toml", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)  # on a busy machine, any figures are possible
        self.assertIn("valid", self.succeed("topo", "validate", "m.toml"))
        text = done.stdout[done.stdout.index("\n10 plans, predicted by the description and run\n"):]
        self.assertEqual(text.count(" passed\n"), 10)
        self.assertRegex(text, r"10 cases: error median [0-9.]+%, .*largest [0-9.]+%: [0-9]+,.* x[12], .*tile [0-9]+\n")
        # On a busy machine, the time may suffice for only one batch of a figure, without an uncertainty.
        has_uncertainty = "[uncertainty]" in (self.folder / "m.toml").read_text()
        self.assertEqual("in the 90% prediction interval: " in text, has_uncertainty)

    def test_recorded_measurements_have_no_hardware_to_check(self):
        self.write("m.json", "{}")
        self.assert_refused(["calibrate", "--backend", "cuda", "--from", "m.json", "-o", "n.toml", "--check"],
                            "--check: has no meaning with --from")


if __name__ == "__main__":
    unittest.main()
