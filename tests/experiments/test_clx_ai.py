"""The experiments on CLX-AI: unequal GPUs, PARALiA, its link map."""

import unittest

from harness.datasets import clx_ai_dataset
from support import SOURCE, ExperimentTest, csv_rows, table_after

WATTS = 39996 / 17.27 / 8  # thesis table 3.4: rate / efficiency of comm_opt, which uses eight GPUs


class ClxAiHetero(ExperimentTest):
    RUN = ["run", "clx_ai_hetero", "-o", ".", "--", "--sizes"]

    def test_every_measured_row_of_a_size_is_simulated_on_its_devices(self):
        text = self.succeed(*self.RUN, "6K")
        remarks, rows = csv_rows(self.folder / "clx_ai_hetero.csv")
        self.assertEqual(remarks["measured"], "clx_ai_hetero.csv")
        measured = {row["library"]: row for row in rows if row["measured_s"]}
        self.assertEqual({library: row["devices"] for library, row in measured.items()},
                         {"PARALiA-select-EDP": "3,5,7"} | dict.fromkeys(
                             ("PARALiA-select-PERF", "PARALiA-comm_opt", "BLASX", "XKBLAS"), "0,1,2,3,4,5,6,7"))
        for row in measured.values():
            error = float(row["simulated_s"]) / float(row["measured_s"]) - 1
            self.assertAlmostEqual(float(row["error"]), error, delta=6e-5)
            self.assertGreaterEqual(float(row["simulated_s"]), float(row["bound_s"]))
            self.assertLess(float(row["bound_s"]), float(row["measured_s"]))
        every, selected = measured["PARALiA-comm_opt"], measured["PARALiA-select-PERF"]
        gain = float(every["simulated_s"]) / float(selected["simulated_s"])
        self.assertEqual(table_after(text, "comm_opt over")[0][-1], f"{gain:.3f}")

    def test_the_dataset_has_the_250_problems_of_the_thesis(self):
        self.assertEqual((len(clx_ai_dataset(2)), len(set(clx_ai_dataset(2)))), (250, 250))

    def test_a_size_that_was_not_measured_is_refused(self):
        self.assert_refused([*self.RUN, "5K"], "no rows of the --sizes")


class ClxAiParalia(ExperimentTest):
    RUN = ["run", "clx_ai_paralia", "-o", ".", "--"]

    def test_means_are_of_all_problems_and_selections_serve_their_metrics(self):
        text = self.succeed(*self.RUN, "--places", "0:1:2,h:h:h", "--largest", 4096)
        rows = csv_rows(self.folder / "clx_ai_paralia.csv")[1]
        self.assertEqual(len(rows), 2 * 3 * 8)  # placements, sides 2K to 4K, variants
        chosen = [row for row in rows if row["variant"] == "select(PDP)"]
        self.assertEqual({row["devices"].count(",") for row in chosen}, {0}, "one GPU each")
        flops = sum(2 * int(row["m"]) * int(row["n"]) * int(row["k"]) for row in chosen)
        rate = flops / sum(float(row["simulated_s"]) for row in chosen) / 1e9
        means = {line[0]: line[1:] for line in table_after(text, " ")}
        self.assertEqual(means["select(PDP)"][2], f"{rate:.0f}")
        self.assertAlmostEqual(float(means["select(PDP)"][5]), rate / WATTS, delta=0.0051)
        ratios = sorted(float(row["simulated_s"]) / float(row["bound_s"]) for row in chosen)
        self.assertGreaterEqual(ratios[0], 1)
        over = {line[0]: line[1:] for line in table_after(text, "makespan over bound")}["select(PDP)"]
        self.assertEqual(over[-1], f"{ratios[int(0.9 * len(ratios))]:.2f}")

    def test_factors_over_a_library_are_geometric_means(self):
        text = self.succeed(*self.RUN, "--places", "h:h:h", "--largest", 3072)
        rows = csv_rows(self.folder / "clx_ai_paralia.csv")[1]
        seconds = {(row["m"], row["variant"]): float(row["simulated_s"]) for row in rows}
        product = 1.0
        for size in ("2048", "3072"):
            product *= seconds[size, "BLASX"] / seconds[size, "select(PERF)"]
        line = next(line for line in text.splitlines() if line.startswith("select(PERF) over BLASX, speed, all"))
        self.assertAlmostEqual(float(line.split()[-2].rstrip("x")) / product**0.5, 1, delta=0.006)

    def test_the_dataset_has_630_problems_and_measured_rows_are_among_them(self):
        problems = {(*each.sizes.split(","), each.place) for each in clx_ai_dataset(1)}
        self.assertEqual((len(clx_ai_dataset(1)), len(problems)), (630, 630))
        for row in csv_rows(SOURCE / "experiments/reference/clx_ai_libraries.csv")[1]:
            place = ":".join(row[f"loc_{matrix}"] for matrix in "ABC")
            self.assertIn((row["M"], row["N"], row["K"], place), problems)

    def test_unknown_placements_and_sizes_without_problems_are_refused(self):
        self.assert_refused([*self.RUN, "--places", "1:1:1"], "'1:1:1' is not one of")
        self.assert_refused([*self.RUN, "--largest", "1000"], "leaves no problem")
        self.assert_refused([*self.RUN, "--largest", "2K,4K"], "'2K,4K' is not one size")

    def test_problems_of_one_size_have_no_small_half(self):
        text = self.succeed(*self.RUN, "--places", "h:h:h", "--largest", "2K")
        self.assertNotIn(", small", text)
        self.assertIn("comm_opt, rate, all", text)


class ClxAiLinkMap(ExperimentTest):
    RUN = ["run", "clx_ai_link_map", "-o", ".", "--"]
    TILE = 8 * 2048**2  # bytes
    kept = None  # stdout and the table of the command without arguments, which is run once for all tests

    def runs(self, *arguments):
        """Stdout, its line for each run, and the links of each run, by place and policy."""
        file = self.folder / "clx_ai_link_map.csv"
        if arguments:
            text = self.succeed(*self.RUN, *arguments)
        else:
            if not self.kept:
                ClxAiLinkMap.kept = self.succeed(*self.RUN), file.read_bytes()
            text, table = self.kept
            file.write_bytes(table)
        links = {}
        for row in csv_rows(file)[1]:
            if row["place"]:
                links.setdefault((row["place"], row["policy"], row["measured"]), []).append(row)
        table = table_after(text, "place ")
        lines = {(line[0], " ".join(line[1:-10])): [float(cell) for cell in line[-10:]] for line in table}
        self.over_bound = {run: cells.pop(1) for run, cells in lines.items()}
        return text, lines, links

    def test_pairs_stand_next_to_the_published_ones(self):
        text, _, _ = self.runs()
        remarks, rows = csv_rows(self.folder / "clx_ai_link_map.csv")
        rows = [row for row in rows if not row["place"]]
        self.assertEqual((len(rows), remarks["machine"]), (72, "clx-ai"))
        other = [row for row in rows if abs(float(row["gb_per_s"]) / float(row["published_gb_per_s"]) - 1) > 0.01]
        self.assertIn(f"as published within 1%: {72 - len(other)} of 72 pairs", text)
        for row in other:
            self.assertIn(f"{row['src']}->{row['dst']} {float(row['gb_per_s']):.2f} for", text)

    def test_transfers_carry_all_operands_and_add_up(self):
        _, lines, links = self.runs()
        self.assertEqual(len(links), 2 * (6 + 3))  # placements; simulated, traced
        for (place, policy, measured), rows in links.items():
            if measured == "1":
                continue
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
            elif policy == "blasx":  # its traces name the home of a tile "host"
                self.assertGreater(from_host, 128)
                self.assertEqual(to_host, 0)
            else:
                self.assertEqual((from_host, to_host), (0, 0))
        self.assertGreater(lines["0:1:2", "paralia"][1], lines["0:1:2", "paralia, no hops"][1])

    def test_every_run_stands_next_to_the_bound_of_its_placement(self):
        text, lines, links = self.runs()
        for (place, policy, measured), rows in links.items():
            bound = float(rows[0]["bound_s"])
            self.assertIn(f"bound of {place}: {bound * 1e3:.1f} ms ({rows[0]['bound_by']})", text)
            self.assertGreaterEqual(float(rows[0]["run_s"]), bound)
            name = policy + (", measured" if measured == "1" else "")
            self.assertAlmostEqual(self.over_bound[place, name], float(rows[0]["run_s"]) / bound, delta=0.0051)

    def test_measured_transfers_count_on_every_link_that_they_cross(self):
        (self.folder / "m").mkdir()
        tile = f"{self.TILE},0.0"
        (self.folder / "m/lib-0.1.2.csv").write_text(
            f"0,1,[ 0 1 ],{tile},1.0,1.25\n-1,0,[ -1 0 ],{tile},1.0,1.5\n2,2,[ 2 2 ],{tile},1.0,1.1\n")
        (self.folder / "m/lib-rerouted-0.1.2.csv").write_text(f"0,5,[ 0 1 5 ],{tile},1.5,2.0\n")
        _, lines, links = self.runs("--measured", "m")
        found = {(row["src"], row["dst"]): (row["transfers"], float(row["busy_s"]))
                 for row in links["0:1:2", "lib", "1"]}
        self.assertEqual(found, {("gpu0", "gpu1"): ("2", 0.5), ("host", "gpu0"): ("1", 0.5),
                                 ("gpu1", "gpu5"): ("1", 0.25)})
        self.assertEqual(lines["0:1:2", "lib, measured"][:2], [1000, 4])  # ms

    def test_a_missing_folder_is_refused(self):
        self.assert_refused([*self.RUN, "--measured", "none"], "--measured: 'none' does not exist; expected a folder")

    def test_transfers_missing_in_a_trace_are_not_counted(self):
        text, _, links = self.runs()
        ours = sum(int(row["transfers"]) for row in links["h:h:h", "blasx", "0"] if row["dst"] != "host")
        theirs = sum(int(row["transfers"]) for row in links["h:h:h", "blasx", "1"])
        self.assertIn(f" {ours} ", next(line for line in text.splitlines() if line.startswith("blasx h:h:h, transfers")))
        self.assertEqual(theirs, 592)

    def test_traces_of_figure_3_5_stand_next_to_their_libraries(self):
        text, lines, links = self.runs()
        self.assertEqual(lines["h:h:h", "blasx, measured"][1], 592)
        found = next(line for line in text.splitlines() if line.startswith("xkblas 0:1:2, transfers"))
        self.assertEqual(found.split()[-4], "469")
        shared = 0.0
        ours, theirs = ({(row["src"], row["dst"]): float(row["transfers"]) for row in rows}
                        for rows in (links["h:h:h", "paralia", measured] for measured in "01"))
        for pair in set(ours) & set(theirs):
            shared += min(ours[pair], theirs[pair])
        share = shared / max(sum(ours.values()), sum(theirs.values()))
        found = next(line for line in text.splitlines() if line.startswith("paralia h:h:h, over the same links"))
        self.assertEqual(found.split()[-2], f"{share:.1%}")

    def test_bad_transfers_are_refused_with_their_place(self):
        (self.folder / "m").mkdir()
        self.assert_refused([*self.RUN, "--measured", "m"], "--measured: 'm' has no files such as")
        for line in ("0,1", "0,9,[ 0 9 ],8,0,1,2", "0,1,[ 0 x ],8,0,1,2", "0,1,[ 0 ],8,0,1,2", "0,1,[ 0 1 ],8,0,2,2",
                     "0,1,[ 0 1 ],0,0,1,2", "0,1,[ 0 1 ],nan,0,1,2", "0,1,[ 0 1 ],8,0,1,inf"):
            (self.folder / "m/lib-0.1.2.csv").write_text(f"0,1,[ 0 1 ],8,0,1,2\n{line}\n")
            self.assert_refused([*self.RUN, "--measured", "m"], f"m/lib-0.1.2.csv:2: '{line}' is not a transfer")
        (self.folder / "m/lib-0.1.2.csv").write_bytes(b"0,1,[ 0 1 ],8,0,1,2\n\xff\n")
        self.assert_refused([*self.RUN, "--measured", "m"], "m/lib-0.1.2.csv:2: '\ufffd' is not a transfer")
        (self.folder / "m/lib-0.1.2.csv").write_text("1,1,[ 1 1 ],8,0,1,2\n")
        self.assert_refused([*self.RUN, "--measured", "m"], "m/lib-0.1.2.csv: no transfers between memories")


if __name__ == "__main__":
    unittest.main()
