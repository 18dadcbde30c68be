"""`tilerail experiment` and the scripts behind it, on a few small problems."""

import csv
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TILERAIL = os.environ.get("TILERAIL", "tilerail")
SOURCE = pathlib.Path(os.environ.get("TILERAIL_SOURCE", pathlib.Path(__file__).parents[2]))
STEPS = ["baseline", "cache+overlap", "bandwidth", "eta+batch", "lazy+order"]
MEASURED_HEADER = "library,gpus,devices,M,N,K,loc_A,loc_B,loc_C,tile,median_s\n"


def csv_rows(path):
    """The remarks of the header as a dictionary, and the rows as dictionaries."""
    lines = path.read_text().splitlines()
    remarks = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("#"))
    return remarks, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def table_after(text, title):
    """Cells of the lines below the one that begins with `title`, up to an empty line."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(title)) + 1
    table = []
    for line in lines[first:]:
        if not line:
            break
        table.append(line.split())
    return table


class ExperimentTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tilerail-experiment-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *arguments):
        environment = {**os.environ, "TILERAIL_TOPOLOGIES": str(SOURCE / "topologies")}
        return subprocess.run([TILERAIL, "experiment", *map(str, arguments)], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)

    def succeed(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def assert_refused(self, arguments, quoted):
        before = sorted(self.folder.rglob("*"))
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{arguments}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tilerail: error: "), done.stderr)
        self.assertIn(quoted, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)


class Command(ExperimentTest):
    def test_list_names_every_script_with_the_first_line_of_its_docstring(self):
        lines = self.succeed("list").splitlines()
        scripts = sorted((SOURCE / "experiments").glob("*.py"))
        self.assertEqual([line.split()[0] for line in lines], [script.stem for script in scripts])
        for line, script in zip(lines, scripts):
            title = script.read_text().splitlines()[0].removeprefix('"""')
            self.assertTrue(line.endswith("  " + title), line)
        self.assertLessEqual({"thesis_fig_4_8", "karolina_gemmex"}, {script.stem for script in scripts})

    def test_an_unknown_name_is_refused_with_the_names_there_are(self):
        names = ", ".join(sorted(script.stem for script in (SOURCE / "experiments").glob("*.py")))
        self.assert_refused(["run", "no-such"], f"'no-such'; the names are: {names}")

    def test_a_missing_action_or_name_is_refused(self):
        self.assert_refused([], "list or run")
        self.assert_refused(["run"], "NAME")

    def test_arguments_after_the_dashes_reach_the_script_and_so_do_its_refusals(self):
        for name in ("thesis_fig_4_8", "karolina_gemmex"):
            self.assertIn("--sizes LIST", self.succeed("run", name, "--", "--help"))
            self.assert_refused(["run", name, "--", "--sizes", "8K,big"], "'big'")
            self.assert_refused(["run", name, "--", "--sizes", "0"], "'0'")
            self.assert_refused(["run", name, "--", "--jobs", "-1"], "'-1'")
            self.assert_refused(["run", name, "--", "--no-such"], "--no-such")

    def test_a_program_that_is_not_there_is_refused(self):
        self.assert_refused(["run", "thesis_fig_4_8", "--", "--tilerail", self.folder / "none"], "none")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        (self.folder / "file").write_text("")
        done = self.run_command("run", "karolina_gemmex", "-o", "file/x", "--", "--sizes", "8K")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Figure48(ExperimentTest):
    def test_factors_of_one_size_are_the_ratios_of_its_makespans(self):
        text = self.succeed("run", "thesis_fig_4_8", "-o", "results", "--", "--sizes", "5120")
        remarks, rows = csv_rows(self.folder / "results/thesis_fig_4_8.csv")
        self.assertTrue(remarks["version"].startswith("tilerail "))
        self.assertIn("karolina-hgx-a100", remarks["machine"])
        self.assertIn("--sizes 5120", remarks["command"])
        self.assertEqual([(row["size"], row["place"], row["step"]) for row in rows],
                         [("5120", place, step) for place in ("h:h:h", "0:0:0") for step in STEPS])

        seconds = {(row["place"], row["step"]): float(row["makespan_s"]) for row in rows}
        for row in rows:
            self.assertAlmostEqual(float(row["tflops"]), 2 * 5120**3 / float(row["makespan_s"]) / 1e12, delta=1e-3)
        factors = {line[0]: line[1:] for line in table_after(text, "mean speed-up")[1:]}
        for before, step in zip(STEPS, STEPS[1:]):
            gains = [seconds[place, before] / seconds[place, step] for place in ("h:h:h", "0:0:0")]
            gains.append(sum(gains) / 2)
            self.assertEqual(factors[step], [f"{gain:.2f}" for gain in gains], step)

    def test_factors_are_compared_with_the_published_ones(self):
        text = self.succeed("run", "thesis_fig_4_8", "--", "--sizes", "5K,6K")
        self.assertTrue((self.folder / "out/thesis_fig_4_8/thesis_fig_4_8.csv").is_file())
        table = table_after(text, "against the thesis")
        published = [(line[0], line[1], line[3]) for line in table[1:]]
        self.assertEqual(published, [("cache+overlap", "both", "2.00"), ("bandwidth", "h:h:h", "1.33"),
                                     ("bandwidth", "0:0:0", "1.00"), ("eta+batch", "both", "1.18"),
                                     ("lazy+order", "both", "1.10")])
        for _, _, simulated, reference, difference, verdict in table[1:]:
            off = float(simulated) - float(reference)
            self.assertAlmostEqual(off, float(difference), delta=0.0101)
            if abs(abs(off) - 0.15) > 0.006:  # else the two decimals do not tell
                self.assertEqual(verdict, "within" if abs(off) < 0.15 else "outside")


class Karolina(ExperimentTest):
    def rows(self, *arguments):
        text = self.succeed("run", "karolina_gemmex", "-o", ".", "--", *arguments)
        return text, csv_rows(self.folder / "karolina_gemmex.csv")[1]

    def test_reference_rows_are_simulated_with_the_measured_and_the_chosen_tile(self):
        text, rows = self.rows("--sizes", "8K")
        self.assertEqual([(row["devices"], row["m"], row["tile"]) for row in rows],
                         [("0", "8192", "4096"), ("0-7", "8192", "2048")])
        for row in rows:
            for prefix in ("", "chosen_"):
                ratio = float(row[prefix + "simulated_s"]) / float(row["measured_s"])
                self.assertAlmostEqual(float(row[prefix + "error"]), ratio - 1, delta=6e-5)
        summary = table_after(text, "|error|")
        for line, column in zip(summary, ("error", "chosen_error")):
            errors = [abs(float(row[column])) for row in rows]
            median, largest = sum(errors) / 2, max(errors)
            self.assertAlmostEqual(float(line[2].rstrip("%")), 100 * median, delta=0.1)
            self.assertAlmostEqual(float(line[4].rstrip("%")), 100 * largest, delta=0.1)

    def test_a_mean_over_runs_of_two_tiles_stands_for_the_nearer_one(self):
        # (2 x 2048 + 4096) / 3 = 2730.67 is nearer to 2048, (2048 + 2 x 4096) / 3 = 3413.33 to 4096.
        rows = [f"PARALiA-GEMMex,1,0,4096,4096,4096,h,h,h,{tile},0.02\n" for tile in ("2730.67", "3413.33")]
        (self.folder / "m.csv").write_text(MEASURED_HEADER + "".join(rows))
        self.assertEqual([row["tile"] for row in self.rows("--measured", "m.csv")[1]], ["2048", "4096"])

    def test_rows_of_other_libraries_are_left_out(self):
        (self.folder / "m.csv").write_text(MEASURED_HEADER + "XKBLAS,1,0,4096,4096,4096,h,h,h,1600.0,0.03\n"
                                           "PARALiA-GEMMex,2,0-1,2048,4096,1024,0,h,1,512,0.02\n")
        rows = self.rows("--measured", "m.csv")[1]
        self.assertEqual([[row[key] for key in ("devices", "m", "n", "k", "place", "tile")] for row in rows],
                         [["0-1", "2048", "4096", "1024", "0:h:1", "512"]])

    def test_an_absent_measurement_is_skipped(self):
        self.assertIn("skipped", self.succeed("run", "karolina_gemmex", "--", "--measured", "none.csv"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_bad_measurements_are_refused_with_their_place(self):
        for content, quoted in (("a,b\n", "the columns are 'a,b'"), ("", "expected 'library,gpus,"),
                                (MEASURED_HEADER, "no PARALiA-GEMMex rows"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1\n", "m.csv:2: 2 cells; expected 11"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,8,8,h,h,h,4,-1\n", "m.csv:2: median_s: '-1'"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,x,8,h,h,h,4,1\n", "m.csv:2: N: 'x'"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,8,8,h,moon,h,4,1\n", "moon")):
            (self.folder / "m.csv").write_text(content)
            self.assert_refused(["run", "karolina_gemmex", "--", "--measured", "m.csv"], quoted)


class CocopeliaModels(ExperimentTest):
    def test_errors_are_of_the_predictions_and_saved_ones_give_the_same_table(self):
        text = self.succeed("run", "cocopelia_models", "--", "--quick", "--step", 1024)
        lines = table_after(text, "testbed and routine")
        self.assertEqual([(line[0][-1], line[1], line[2]) for line in lines],
                         [(testbed, routine, model) for testbed in "12" for routine in ("dgemm", "sgemm", "daxpy")
                          for model in ("cso", "bts", "dr")[:2 if routine == "daxpy" else 3]])
        saved = self.folder / "out/cocopelia_models/cocopelia_models.csv"
        _, all_rows = csv_rows(saved)
        rows = [row for row in all_rows if row["searched"] == "0"]
        errors = sorted(float(row["dr_s"]) / float(row["simulated_s"]) - 1 for row in rows
                        if (row["testbed"], row["routine"]) == ("cocopelia-testbed-1", "dgemm"))
        self.assertEqual(len(errors), int(lines[2][3]))
        half = len(errors) // 2
        median = (errors[half] + errors[-half - 1]) / 2
        self.assertAlmostEqual(float(lines[2][5].rstrip("%")), 100 * median, delta=0.051)
        for row in rows:
            sizes = "M" if row["routine"] == "daxpy" else "MNK"
            self.assertLessEqual(1.5 * int(row["tile"]), min(int(row[size]) for size in sizes))
            self.assertNotIn(row["place"], ("0:0:0", "0:0"))
        axpy = sorted(float(row["bts_s"]) / float(row["simulated_s"]) - 1 for row in rows
                      if (row["testbed"], row["routine"]) == ("cocopelia-testbed-1", "daxpy"))
        self.assertEqual(len(axpy), 15)  # 8M in tiles of 1M to 5M, in three places
        self.assertAlmostEqual(float(lines[7][5].rstrip("%")), 100 * axpy[7], delta=0.051)
        problems = {}
        for row in all_rows:
            if row["routine"] == "daxpy":
                continue
            key = tuple(row[column] for column in ("testbed", "routine", "M", "N", "K", "place"))
            problems.setdefault(key, []).append(row)
        ways = table_after(text, "tile chosen by")
        self.assertEqual([line[0] for line in ways], ["baseline", "dataloc", "bts", "dr", "cso", "T", "search"])
        self.assertEqual({line[-5] for line in ways}, {str(len(problems))})
        of_axpy = table_after(text, "tile of daxpy by")
        self.assertEqual([line[0] for line in of_axpy], ["baseline", "dataloc", "bts", "dr", "cso", "search"])
        self.assertEqual({line[-5] for line in of_axpy}, {"6"})
        losses = []
        for tried in problems.values():
            chosen = min((row for row in tried if row["searched"] == "0"), key=lambda row: float(row["cso_s"]))
            losses.append(float(chosen["simulated_s"]) / min(float(row["simulated_s"]) for row in tried) - 1)
        self.assertAlmostEqual(float(ways[4][-2].rstrip("%")), 100 * max(losses), delta=0.051)
        again = self.succeed("run", "cocopelia_models", "-o", "o", "--", "--from-saved", saved)
        self.assertEqual(table_after(again, "testbed and routine"), lines)
        self.assertEqual(table_after(again, "tile chosen by"), ways)


class ClxAiHetero(ExperimentTest):
    RUN = ["run", "clx_ai_hetero", "-o", ".", "--", "--sizes"]

    def test_every_measured_row_of_a_size_is_simulated_on_its_devices(self):
        text = self.succeed(*self.RUN, "4K")
        remarks, rows = csv_rows(self.folder / "clx_ai_hetero.csv")
        self.assertEqual(remarks["measured"], "clx_ai_hetero.csv")
        self.assertEqual([row["variant"] for row in rows],
                         ["PARALiA-select-EDP", "PARALiA-select-PERF", "PARALiA-comm_opt"])
        for row in rows:
            error = float(row["simulated_s"]) / float(row["measured_s"]) - 1
            self.assertAlmostEqual(float(row["error"]), error, delta=5e-5)
        by_variant = {row["variant"]: row for row in rows}
        all_gpus, selected = by_variant["PARALiA-comm_opt"], by_variant["PARALiA-select-PERF"]
        self.assertEqual(all_gpus["simulated_s"], all_gpus["selected_simulated_s"], "it does not select")
        gain = float(all_gpus["simulated_s"]) / float(selected["simulated_s"])
        self.assertEqual(table_after(text, "comm_opt over")[0][2], f"{gain:.3f}")

    def test_a_size_that_was_not_measured_is_refused(self):
        self.assert_refused([*self.RUN, "5K"], "no rows of the --sizes")


class ClxAiParalia(ExperimentTest):
    RUN = ["run", "clx_ai_paralia", "-o", ".", "--"]

    def test_means_are_of_all_problems_and_selections_serve_their_metrics(self):
        text = self.succeed(*self.RUN, "--places", "0:1:2,h:h:h", "--largest", 4096)
        rows = csv_rows(self.folder / "clx_ai_paralia.csv")[1]
        self.assertEqual(len(rows), 2 * 3 * 5)  # placements, sides 2K to 4K, variants
        chosen = [row for row in rows if row["variant"] == "select(PDP)"]
        self.assertEqual({row["devices"].count(",") for row in chosen}, {0}, "one GPU each")
        flops = sum(2 * int(row["m"]) * int(row["n"]) * int(row["k"]) for row in chosen)
        rate = flops / sum(float(row["simulated_s"]) for row in chosen) / 1e9
        means = {line[0]: line[1:] for line in table_after(text, " ")}
        self.assertEqual(means["select(PDP)"][2], f"{rate:.0f}")
        self.assertAlmostEqual(float(means["select(PDP)"][5]), rate / (39996 / 17.27 / 8), delta=0.0051)

    def test_unknown_placements_and_sizes_without_problems_are_refused(self):
        self.assert_refused([*self.RUN, "--places", "1:1:1"], "'1:1:1' is none of")
        self.assert_refused([*self.RUN, "--largest", "1000"], "leaves no problem")


class ClxAiLinkMap(ExperimentTest):
    RUN = ["run", "clx_ai_link_map", "-o", ".", "--"]
    TILE = 8 * 2048**2  # bytes

    def runs(self, *arguments):
        """Stdout, its line of each run, and the links of each run, by place and policy."""
        text = self.succeed(*self.RUN, *arguments)
        links = {}
        for row in csv_rows(self.folder / "clx_ai_link_map_transfers.csv")[1]:
            links.setdefault((row["place"], row["policy"], row["measured"]), []).append(row)
        table = table_after(text, "place ")
        lines = {(line[0], " ".join(line[1:-9])): [float(cell) for cell in line[-9:]] for line in table}
        return text, lines, links

    def test_pairs_stand_beside_the_published_ones(self):
        text, _, _ = self.runs()
        remarks, rows = csv_rows(self.folder / "clx_ai_link_map.csv")
        self.assertEqual((len(rows), remarks["machine"]), (72, "clx-ai"))
        other = [row for row in rows if abs(float(row["gb_per_s"]) / float(row["published_gb_per_s"]) - 1) > 0.01]
        self.assertIn(f"as published within 1%: {72 - len(other)} of 72 pairs", text)
        for row in other:
            self.assertIn(f"{row['src']}->{row['dst']} {float(row['gb_per_s']):.2f} for", text)

    def test_transfers_carry_all_operands_and_add_up(self):
        _, lines, links = self.runs()
        self.assertEqual(len(links), 8)
        for (place, policy, _), rows in links.items():
            moved = {(row["src"], row["dst"]): float(row["transfers"]) for row in rows}
            total = sum(moved.values())
            self.assertEqual(lines[place, policy][1], total)
            self.assertEqual(sum(lines[place, policy][3:]), total)
            self.assertEqual(sum(float(row["bytes"]) for row in rows), total * self.TILE)
            rate = sum(float(row["bytes"]) for row in rows) / sum(float(row["busy_s"]) for row in rows)
            self.assertAlmostEqual(lines[place, policy][2], rate / 1e9, delta=0.051)
            to_host = sum(count for (_, dst), count in moved.items() if dst == "host")
            from_host = sum(count for (src, _), count in moved.items() if src == "host")
            if place == "h:h:h":
                self.assertEqual(to_host, 64)  # 8 x 8 tiles of C
                self.assertGreaterEqual(from_host, 3 * 64)
            else:
                self.assertEqual((from_host, to_host), (0, 0))
        self.assertGreater(lines["0:1:2", "paralia"][1], lines["0:1:2", "paralia, no hops"][1])

    def test_measured_transfers_count_on_every_link_that_they_cross(self):
        (self.folder / "m").mkdir()
        tile = f"{self.TILE},0.0"
        (self.folder / "m/lib-0.1.2.csv").write_text(
            f"0,1,[ 0 1 ],{tile},1.0,1.25\n-1,0,[ -1 0 ],{tile},1.0,1.5\n2,2,[ 2 2 ],{tile},1.0,1.1\n")
        (self.folder / "m/lib-rerouted-0.1.2.csv").write_text(f"0,5,[ 0 1 5 ],{tile},1.5,2.0\n")
        _, lines, links = self.runs("--measured", "m")
        found = {(row["src"], row["dst"]): (row["transfers"], row["ops"], float(row["busy_s"]))
                 for row in links["0:1:2", "lib", "1"]}
        self.assertEqual(found, {("gpu0", "gpu1"): ("2", "2", 0.5), ("host", "gpu0"): ("1", "1", 0.5),
                                 ("gpu1", "gpu5"): ("1", "1", 0.25)})
        self.assertEqual(lines["0:1:2", "lib, measured"][:2], [1000, 4])  # ms

    def test_a_folder_that_is_not_there_is_skipped(self):
        text, lines, _ = self.runs("--measured", "none")
        self.assertIn("skipped: there is no folder 'none'", text)
        self.assertEqual(len(lines), 8)

    def test_bad_transfers_are_refused_with_their_place(self):
        (self.folder / "m").mkdir()
        self.assert_refused([*self.RUN, "--measured", "m"], "--measured: 'm' has no files such as")
        for line in ("0,1", "0,9,[ 0 9 ],8,0,1,2", "0,1,[ 0 x ],8,0,1,2", "0,1,[ 0 ],8,0,1,2", "0,1,[ 0 1 ],8,0,2,2"):
            (self.folder / "m/lib-0.1.2.csv").write_text(f"0,1,[ 0 1 ],8,0,1,2\n{line}\n")
            self.assert_refused([*self.RUN, "--measured", "m"], f"m/lib-0.1.2.csv:2: '{line}' is no transfer")
        (self.folder / "m/lib-0.1.2.csv").write_text("1,1,[ 1 1 ],8,0,1,2\n")
        self.assert_refused([*self.RUN, "--measured", "m"], "m/lib-0.1.2.csv: no transfers between memories")


if __name__ == "__main__":
    unittest.main()
