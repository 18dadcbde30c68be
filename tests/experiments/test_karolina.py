"""The experiments on Karolina: Figure 4.8 of the thesis, and PARALiA-GEMMex."""

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
        factors = {line[0]: line[1:] for line in table_after(text, "mean speed-up")}
        for before, step in zip(STEPS, STEPS[1:]):
            gains = [seconds[place, before] / seconds[place, step] for place in ("h:h:h", "0:0:0")]
            gains.append(sum(gains) / 2)
            self.assertEqual(factors[step], [f"{gain:.2f}" for gain in gains], step)

    def test_factors_are_compared_with_the_published_ones(self):
        text = self.succeed("run", "thesis_fig_4_8", "--", "--sizes", "5K,6K")
        factors = {line[0]: line[1:] for line in table_after(text, "mean speed-up")}
        lines = [line for line in text.splitlines() if "figure 4.8" in line and line.endswith(("within", "outside"))]
        self.assertEqual([line.split()[:2] for line in lines],
                         [["cache+overlap,", "both"], ["bandwidth,", "h:h:h"], ["bandwidth,", "0:0:0"],
                          ["eta+batch,", "both"], ["lazy+order,", "both"]])
        for line in lines:
            step, place, *_, published, allowed, simulated, verdict = line.split()
            simulated, published = float(simulated.rstrip("x")), float(published.rstrip("x"))
            low, high = map(float, allowed.rstrip("x").split(".."))
            self.assertAlmostEqual((low + high) / 2, published, delta=0.006)
            # Half of the step's gain, or 0.05 without gain; at most 0.15.
            self.assertAlmostEqual((high - low) / 2, min(0.15, max(0.05, (published - 1) / 2)), delta=0.016)
            column = ("h:h:h", "0:0:0", "both").index(place)
            self.assertAlmostEqual(float(factors[step.rstrip(",")][column]), simulated, delta=0.0051)
            if min(abs(simulated - low), abs(simulated - high)) > 0.006:  # else the digits do not suffice
                self.assertEqual(verdict, "within" if low <= simulated <= high else "outside")


class Karolina(ExperimentTest):
    def rows(self, *arguments):
        text = self.succeed("run", "karolina_gemmex", "-o", ".", "--", *arguments)
        return text, csv_rows(self.folder / "karolina_gemmex.csv")[1]

    def test_reference_rows_are_simulated_with_the_measured_and_the_chosen_tile(self):
        text, rows = self.rows("--sizes", "8K")
        gemmex = [row for row in rows if row["library"] == "PARALiA-GEMMex"]
        self.assertEqual([(row["devices"], row["m"], row["tile"]) for row in gemmex if row["tile_is"] == "measured"],
                         [("0", "8192", "4096"), ("0-7", "8192", "2048")])
        self.assertEqual({row["library"] for row in rows}, {"PARALiA-GEMMex", "PARALiA", "XKBLAS", "cuBLASXt"})
        for row in rows:
            ratio = float(row["simulated_s"]) / float(row["measured_s"])
            self.assertAlmostEqual(float(row["error"]), ratio - 1, delta=6e-5)
            self.assertLess(float(row["bound_s"]), min(float(row["measured_s"]), float(row["simulated_s"])))
        errors = [abs(float(row["error"])) for row in gemmex if row["tile_is"] == "measured"]
        line = next(line for line in text.splitlines() if line.startswith("PARALiA-GEMMex, largest |error|"))
        self.assertEqual(float(line.split()[-2].rstrip("%")), round(100 * max(errors), 1))

    def test_a_mean_over_runs_of_two_tiles_stands_for_the_nearer_one(self):
        # (2 x 2048 + 4096) / 3 = 2730.67 is nearer to 2048, (2048 + 2 x 4096) / 3 = 3413.33 to 4096.
        rows = [f"PARALiA-GEMMex,1,0,4096,4096,4096,h,h,h,{tile},0.02\n" for tile in ("2730.67", "3413.33")]
        (self.folder / "m.csv").write_text(MEASURED_HEADER + "".join(rows))
        found = [row["tile"] for row in self.rows("--measured", "m.csv")[1] if row["tile_is"] == "measured"]
        self.assertEqual(found, ["2048", "4096"])

    def test_a_row_is_simulated_on_its_devices_and_places(self):
        (self.folder / "m.csv").write_text(MEASURED_HEADER + "PARALiA-GEMMex,2,0-1,2048,4096,1024,0,h,1,512,0.02\n")
        rows = self.rows("--measured", "m.csv")[1]
        self.assertEqual([rows[0][key] for key in ("devices", "m", "n", "k", "place", "tile")],
                         ["0-1", "2048", "4096", "1024", "0:h:1", "512"])

    def test_tiles_of_cublasxt_are_a_quarter_of_the_least_size(self):
        (self.folder / "m.csv").write_text(MEASURED_HEADER + "cuBLASXt,8,0-7,4096,8192,2048,h,h,h,,0.3\n")
        self.assertEqual([row["tile"] for row in self.rows("--measured", "m.csv")[1]], ["512"])

    def test_an_absent_measurement_is_refused(self):
        self.assert_refused(["run", "karolina_gemmex", "--", "--measured", "none.csv"],
                            "--measured: 'none.csv' does not exist")

    def test_bad_measurements_are_refused_with_their_place(self):
        for content, quoted in (("a,b\n", "the columns are 'a,b'"), ("", "expected 'library,M,"),
                                (MEASURED_HEADER, "m.csv: no rows"),
                                (MEASURED_HEADER + "ESSL,1,0,8,8,8,h,h,h,4,1\n", "m.csv:2: library: 'ESSL'"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1\n", "m.csv:2: 2 cells; expected 11"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,8,8,h,h,h,4,-1\n", "m.csv:2: median_s: '-1'"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,x,8,h,h,h,4,1\n", "m.csv:2: N: 'x'"),
                                (MEASURED_HEADER + "PARALiA-GEMMex,1,0,8,8,8,h,moon,h,4,1\n", "moon")):
            (self.folder / "m.csv").write_text(content)
            self.assert_refused(["run", "karolina_gemmex", "--", "--measured", "m.csv"], quoted)


if __name__ == "__main__":
    unittest.main()
