"""The experiments on H200: with results created here, and with tiny cases on the host backend."""

import csv
import itertools
import shutil
import unittest

from support import DEFAULTS, REMARKS, SOURCE, TILERAIL, HardwareTest, csv_rows, table_after

import h200_accuracy
import harness

NAMES = ["h200_accuracy", "h200_models", "h200_peers", "h200_ranking", "h200_scaling"]


class Options(HardwareTest):
    def test_bad_arguments_are_refused(self):
        topology = SOURCE / "topologies/two-gpu.toml"
        (self.folder / "no.toml").write_text("x = 1\n")
        cases = [([], "--topology FILE to measure, or --from-saved CSV"),
                 (["--topology", topology, "--from-saved", "x.csv"], "or --from-saved"),
                 (["--topology", "none.toml"], "none.toml: No such file"),
                 (["--topology", "no.toml"], "'no.toml' is not a topology"),
                 (["--topology", topology, "--gpus", "3"], "'3' is more than the 2"),
                 (["--topology", topology, "--gpus", "0"], "'0' is not a positive"),
                 (["--topology", topology, "--backend", "moon"], "'moon'"),
                 (["--from-saved", "none.csv"], "none.csv: No such file")]
        # All experiments have the same options: each option is tried with two experiments.
        for (arguments, quoted), name in zip(cases * 2, itertools.cycle(NAMES)):
            with self.subTest(name=name, arguments=arguments):
                self.assert_refused(["run", name, "--", *arguments], quoted)

    def test_bad_results_are_refused_with_their_place(self):
        self.save_results()
        self.assert_refused(["run", NAMES[0], "--", "--from-saved", "saved.csv"], "has no results")
        self.save_results({}, {"measured_s": -1})
        self.assert_refused(["run", NAMES[1], "--", "--from-saved", "saved.csv"], "saved.csv:7: measured_s: '-1'")
        (self.folder / "saved.csv").write_text("m,n\n1,2\n")
        for name in NAMES:
            self.assert_refused(["run", name, "--", "--from-saved", "saved.csv"], "columns are 'm,n'; expected 'm,n,k")

    def test_results_are_saved_batch_by_batch(self):
        arguments = ["--quick", "--no-check", "--batch", 2]
        one = self.measure("h200_peers", "--fewer-gpus", *arguments)[2]
        self.assertEqual(len(one), 4)
        self.assertEqual({row["check"] for row in one}, {""})
        self.assertEqual([row["label"] for row in one],
                         [row["label"] for row in self.measure("h200_peers", "--fewer-gpus", *arguments[:2])[2]])

        # A program that fails in the second call of compare, after the first batch.
        program = self.folder / "tilerail"
        program.write_text(f'#!/bin/sh\n[ "$1" != compare ] || mkdir "$0.once" 2>/dev/null || exit 3\n'
                           f'exec "{shutil.which(TILERAIL)}" "$@"\n')
        program.chmod(0o755)
        done = self.run_command("run", "h200_peers", "-o", "part", "--", "--tilerail", program, "--topology",
                                SOURCE / "topologies/two-gpu.toml", "--backend", "host", "--shrink", 128,
                                "--fewer-gpus", *arguments)
        self.assertEqual(done.returncode, 3, done.stderr)
        remarks, rows = csv_rows(self.folder / "part/h200_peers.csv")
        self.assertEqual((len(rows), remarks["cases"]), (2, "2 of 4"))

    def test_a_wrong_result_is_named_and_ends_with_code_1(self):
        self.save_results({"check": "FAILED", "k": 77})
        done = self.run_command("run", "h200_scaling", "--", "--from-saved", "saved.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong result: 4096 x 4096 x 77 f64 h:h:h, tilerail, tile 1024, 8 GPUs", done.stdout)

    def test_shrunk_cases_divide_sizes_and_tile_and_lose_the_name_of_the_problem(self):
        case = harness.Case(1000, 640, 50, tile=128, label="x").shrunk(64)
        self.assertEqual((case.m, case.n, case.k, case.tile, case.label), (15, 10, 1, 2, "x / 64"))
        self.assertIsNone(harness.Case(1, 1, 1).shrunk(2).tile)


class Peers(HardwareTest):
    def test_each_problem_is_compared_with_its_fastest_peer(self):
        with open(SOURCE / "experiments/reference/hgx_h200_peers.csv", encoding="utf-8") as file:
            peers = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))
                     if (row["M"], row["K"], row["loc_A"], row["gpus"]) == ("8192", "8192", "h", "8")]
        self.assertEqual(len(peers), 3)
        fastest = min(float(row["median_s"]) for row in peers)
        text = self.report("h200_peers", {"label": "8192 f64 h:h:h on 8 GPUs", "measured_s": 0.5 * fastest},
                           {"label": "16384 f64 4:2:7 on 8 GPUs", "measured_s": 2 * 24.24e-3},
                           {"label": "16384 f64 4:2:h on 8 GPUs", "measured_s": 40.55e-3, "gpus": 4})
        table = [line for line in text.splitlines() if " f64 " in line][:3]
        self.assertTrue(all("  -  " in line for line in table), "older results have no bound")
        self.assertIn("  PARALiA-GEMMex  ", table[0])
        self.assertIn(f"{fastest * 1e3:.2f}", table[0])
        overhead = 1e3 * (0.25 + 2 - 0.5 * fastest)  # from DEFAULTS
        self.assertIn(f"  {overhead:+.2f}  ", table[0])
        for line, ratio in zip(table, ("0.500", "2.000", "1.000")):
            self.assertIn(f"  {ratio}  ", line)
        self.assertTrue(table[2].endswith("given only 4 GPUs"))
        means = {line.split("  ")[0]: line.split()[-5:] for line in text.splitlines() if line.startswith("with ")}
        self.assertEqual(means, {"with the GPUs of the peers": ["2", "1.000", "missed", "2.000", "missed"],
                                 "with fewer GPUs": ["1", "1.000", "missed", "1.000", "reached"]})
        self.assertIn("not run", text)
        self.assertIn("\n  4096 f64 h:h:h on 8 GPUs\n", text)

    def test_a_problem_takes_the_gpus_of_the_peers_or_those_there_are_when_asked(self):
        text, _, rows = self.measure("h200_peers", "--gpus", 4, machine="karolina-hgx-a100")
        self.assertEqual([row["gpus"] for row in rows], ["1", "4"])
        self.assertIn("  16384 f64 4:2:7 on 8 GPUs\n", text.split("not run")[1])
        text, remarks, rows = self.measure("h200_peers", "--fewer-gpus", "--gpus", 4, machine="karolina-hgx-a100")
        places = {row["label"].removesuffix(" / 128"): (row["place"], row["gpus"]) for row in rows}
        self.assertEqual(places["16384 f64 4:2:7 on 8 GPUs"], ("0:2:3", "4"))
        self.assertEqual(places["16384 f64 h:h:h on 1 GPU"], ("h:h:h", "1"))
        self.assertNotIn("not run", text)
        self.assertNotIn("geometric mean", text)  # shrunk: not a problem of the peers
        self.assertIn("karolina-hgx-a100, 4 GPUs, backend host", remarks["machine"])


class Accuracy(HardwareTest):
    def test_errors_are_those_of_the_rows(self):
        rows = [{"measured_s": 1, "predicted_s": 1 + error / 100, "kernel_s": error / 100, "dtype": dtype}
                for error, dtype in ((-2, "f64"), (4, "f64"), (10, "f16"), (-30, "f16"))]
        text = self.report("h200_accuracy", *rows)
        table = {" ".join(line[:-5]): line[-5:] for line in table_after(text, "|error|")}
        self.assertEqual(table["all"], ["4", "10.0%", "30.0%", "30.0%", "-4.5%"])
        self.assertEqual(table["type: f64"], ["2", "4.0%", "4.0%", "4.0%", "+1.0%"])
        self.assertEqual(table["type: f16"], ["2", "30.0%", "30.0%", "30.0%", "-10.0%"])
        for name, value, aim in (("median", "10.0%", "2%"), ("95th percentile", "30.0%", "6%"), ("largest", "30.0%", "15%")):
            self.assertIn(f"{name} {value}, target {aim}: missed", text)
        split = {line[0]: line[1:] for line in table_after(text, "split of the errors")}
        self.assertEqual(split["kernel"], ["-4.5%", "11.5%", "4", "cases"])
        self.assertEqual(split["copy"], ["+0.0%", "0.0%", "0", "cases"])
        self.assertNotIn("in the interval", text)
        worst = [line[-5] for line in table_after(text, "largest errors")]
        self.assertEqual(worst, ["-30.0%", "+10.0%", "+4.0%", "-2.0%"])

    def test_measurements_in_their_interval_are_counted(self):
        rows = [{"in_interval": held, "dtype": dtype}
                for held, dtype in (("yes", "f64"), ("no", "f64"), ("yes", "f16"), ("", "f32"))]
        text = self.report("h200_accuracy", *rows)
        table = {" ".join(line[:-4]): line[-4:] for line in table_after(text, "in the interval")}
        self.assertEqual(table["all"], ["2", "of", "3", "67%"])
        self.assertEqual(table["type: f64"], ["1", "of", "2", "50%"])
        self.assertNotIn("type: f32", table)  # without an interval
        self.assertIn("in the interval 67%, target 90%: missed", text)

    def test_cases_are_the_same_for_a_seed_and_cover_what_there_is(self):
        types = set(h200_accuracy.DTYPES)
        cases = h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 1)
        self.assertEqual(cases, h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 1))
        self.assertNotEqual(cases, h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 2))
        self.assertGreaterEqual(len(set(cases)), 64)
        self.assertEqual({case.gpus for case in cases}, set(range(1, 9)))
        self.assertEqual({case.dtype for case in cases}, types)
        self.assertEqual({case.policy for case in cases}, set(h200_accuracy.POLICIES))
        for case in cases:
            self.assertLessEqual(case.m * case.n * case.k, h200_accuracy.LARGEST_WORK)
            self.assertLessEqual(set(case.place.split(":")), {"h", *map(str, range(8))})

    def test_types_that_the_machine_has_no_times_for_are_left_out(self):
        self.assertEqual({case.dtype for case in h200_accuracy.cases_of(9, {"f32", "c64"}, 2, 1)}, {"f32"})

    def test_host_runs_are_saved_with_what_was_predicted_and_give_the_same_tables_again(self):
        text, remarks, rows = self.measure("h200_accuracy", "--quick")
        self.assertEqual(len(rows), h200_accuracy.QUICK_COUNT)
        self.assertEqual(set(remarks), {"version", "date", "machine", "command"})
        command = "tilerail experiment run h200_accuracy --quick -- --topology two-gpu.toml --backend host "
        self.assertTrue(remarks["command"].startswith(command), remarks["command"])
        for row in rows:
            self.assertEqual(row["check"], "passed")
            parts = sum(float(row[part + "_s"]) for part in h200_accuracy.PARTS)
            self.assertAlmostEqual(parts, float(row["predicted_s"]) - float(row["measured_s"]), places=9)
        saved = "out/h200_accuracy/h200_accuracy.csv"
        again = self.succeed("run", "h200_accuracy", "-o", "o", "--", "--from-saved", saved)
        self.assertEqual(again.split("\nwritten")[0], text.split("\nwritten")[0])


class Ranking(HardwareTest):
    def test_tau_and_regret_are_those_of_each_group(self):
        rows = [{"group": "one", "label": f"a{i}", "predicted_s": i, "measured_s": i} for i in (1, 2, 3)]
        rows += [{"group": "two", "label": f"b{i}", "predicted_s": i, "measured_s": 5 - i} for i in (1, 2)]
        text = self.report("h200_ranking", *rows)
        table = [line[:6] for line in table_after(text, "problem ")]
        self.assertEqual(table, [["one", "3", "+1.000", "0.00%", "a1", "a1"],
                                 ["two", "2", "-1.000", "33.33%", "b1", "b2"]])
        self.assertEqual(table_after(text, "mean of the problems"), [["2", "+0.000", "missed", "16.67%", "missed"]])

    def test_a_group_of_one_is_refused(self):
        self.save_results({"group": "alone"})
        self.assert_refused(["run", "h200_ranking", "--", "--from-saved", "saved.csv"], "'alone' has one case")

    def test_every_problem_has_all_alternatives(self):
        _, _, rows = self.measure("h200_ranking")
        groups = {}
        for row in rows:
            groups.setdefault(row["group"], []).append(row["label"])
        self.assertGreaterEqual(len(groups), 10)
        for labels in groups.values():
            self.assertGreaterEqual(len(set(labels)), 8)
            self.assertEqual(labels, next(iter(groups.values())))


class Scaling(HardwareTest):
    def run_times(self, *times):
        """times: median and least time with 1, 2, ... GPUs"""
        return self.report("h200_scaling", *({"gpus": i + 1, "measured_s": median, "measured_min_s": least}
                                             for i, (median, least) in enumerate(times)))

    def test_more_gpus_are_slower_when_their_least_time_is_above_the_fastest_median_of_fewer(self):
        self.assertIn("never slower: holds", self.run_times((4, 3.9), (2, 1.9), (2.1, 2.0)))
        text = self.run_times((4, 3.9), (2, 1.9), (3, 2.01), (1.9, 1.8))
        self.assertIn("never slower: does not hold", text)
        verdicts = [line for line in text.splitlines() if "slower than" in line]
        self.assertEqual(len(verdicts), 1)
        self.assertTrue(verdicts[0].startswith("3 ") and verdicts[0].endswith("slower than with 2"), verdicts)

    def test_speed_up_is_over_the_first(self):
        table = table_after(self.run_times((4, 4), (2.5, 2.5)), "GPUs  used")
        self.assertEqual([line[7] for line in table], [f"{4 / median:.2f}" for median in (4, 2.5)])

    def test_every_number_of_gpus_is_run_and_stands_beside_its_bound(self):
        text, _, rows = self.measure("h200_scaling")
        self.assertEqual([line[8] for line in table_after(text, "GPUs  used")],
                         [f"{float(row['measured_s']) / float(row['bound_s']):.2f}" for row in rows])
        self.assertEqual([(row["gpus"], row["m"], row["place"]) for row in rows],
                         [("1", "128", "h:h:h"), ("2", "128", "h:h:h")])


class Models(HardwareTest):
    def test_host_runs_have_the_predictions_of_all_models_and_give_the_same_tables_again(self):
        text, remarks, rows = self.measure("h200_models", "--quick", "--gpus", 1)
        self.assertEqual({row["routine"] for row in rows}, {"gemm", "axpy"})
        self.assertEqual({row["label"] for row in rows}, {"dgemm / 128", "sgemm / 128", "daxpy / 128"})
        for row in rows:
            for column in ("baseline_s", "dataloc_s", "bts_s", "dr_s", "cso_s", "predicted_s", "measured_s"):
                self.assertGreater(float(row[column]), 0)
            self.assertEqual(row["check"], "passed")
        again = self.succeed("run", "h200_models", "-o", "o", "--", "--from-saved", "out/h200_models/h200_models.csv")
        self.assertEqual(table_after(again, "routine"), table_after(text, "routine"))
        self.assertEqual(table_after(again, "tile chosen by"), table_after(text, "tile chosen by"))

    def test_losses_are_measured_times_with_the_tile_that_each_way_prefers(self):
        models = ("baseline", "dataloc", "bts", "dr", "cso")
        columns = {"routine": "gemm", "label": "dgemm", "group": "one"}
        rows = [{**columns, "tile": 1024, "predicted_s": 3, "measured_s": 2, **{f"{m}_s": 1 for m in models}},
                {**columns, "tile": 2048, "predicted_s": 1, "measured_s": 4, **{f"{m}_s": 2 for m in models}}]
        with open(self.folder / "saved.csv", "w", newline="") as file:
            file.write(REMARKS)
            table = csv.DictWriter(file, [*DEFAULTS, "routine", *(f"{m}_s" for m in models)], lineterminator="\n")
            table.writeheader()
            table.writerows({**DEFAULTS, **row} for row in rows)
        text = self.succeed("run", "h200_models", "-o", "o", "--", "--from-saved", "saved.csv")
        losses = {line[0]: line for line in table_after(text, "tile chosen by")}
        self.assertEqual(losses["dr"][1:3], ["1", "0.0%"])
        self.assertEqual(losses["simulator"][1:3], ["1", "100.0%"])
        errors = {line[1]: line[2:] for line in table_after(text, "routine")}
        self.assertEqual(errors["simulator"][:5], ["2", "-75.0%", "-12.5%", "+50.0%", "62.5%"])


class Gantt(HardwareTest):
    def test_timelines_are_saved_and_give_the_same_table_and_figures_again(self):
        text = self.succeed("run", "h200_gantt", "--", "--topology", SOURCE / "topologies/two-gpu.toml", "--backend",
                            "host", "--shrink", 64, "--iters", 1, "--warmup", 1)
        names = [line[0] for line in table_after(text, "problem ")]
        self.assertEqual(names, ["host-8192", "gpu0-8192", "mixed-6000x6000x12000"])
        out = self.folder / "out/h200_gantt"
        suffixes = ["-measured.csv", "-predicted.csv", ".png"]
        self.assertEqual(sorted(file.name for file in out.iterdir()),
                         sorted(name + suffix for name in names for suffix in suffixes))
        (out / "gpu0-8192-predicted.csv").unlink(), (out / "gpu0-8192-measured.csv").unlink()
        again = self.succeed("run", "h200_gantt", "-o", "o", "--", "--from-saved", out)
        self.assertEqual(table_after(again, "problem "), [line for line in table_after(text, "problem ")
                                                          if line[0] != "gpu0-8192"])
        self.assertEqual({file.name for file in (self.folder / "o").iterdir()},
                         {"host-8192.png", "mixed-6000x6000x12000.png"})

    def test_a_folder_without_timelines_and_half_a_pair_are_refused(self):
        self.assert_refused(["run", "h200_gantt", "--", "--from-saved", "none"], "'none' has no timelines")
        (self.folder / "half").mkdir()
        (self.folder / "half/host-8192-predicted.csv").write_text("")
        self.assert_refused(["run", "h200_gantt", "--", "--from-saved", "half"], "host-8192-")


if __name__ == "__main__":
    unittest.main()
