"""The experiments on Karolina: Figure 4.8 of the thesis, and PARALiA-GEMMex."""

import csv
import unittest

from support import ExperimentTest, csv_rows, table_after

STEPS = ["baseline", "cache+overlap", "bandwidth", "eta+batch", "lazy+order"]
MEASURED_HEADER = "library,gpus,devices,M,N,K,loc_A,loc_B,loc_C,tile,median_s\n"


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
            self.assertGreaterEqual(float(row["makespan_s"]), float(row["bound_s"]))
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
            self.assertLess(float(row["bound_s"]), min(float(row["measured_s"]), float(row["chosen_simulated_s"])))
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


if __name__ == "__main__":
    unittest.main()
