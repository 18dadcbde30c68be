"""Matrices on several hosts, interleaved or in blocks, and several routes between two memories."""

import json
import tomllib

from support import TOPOLOGIES, CommandTest, needs_simulator, rows

GEMM = ["--gemm", "2K", "--tile", "512", "--policy", "gemmex", "--beta", "0"]
MATRIX = 8 * 2048**2  # bytes


class Homes(CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed("topo", "new", "--gpus", "4", "--sockets", "2", "--kernels", "two-gpu", "-o", "two.toml")

    def simulated(self, place, *arguments):
        return json.loads(self.succeed("simulate", *GEMM, "--topology", "two.toml", "--place", place, "--json", "-",
                                       *arguments))

    def sent(self, place):
        """Bytes sent and received by each host."""
        links = {link["name"]: link["bytes"] for link in self.simulated(place)["links"]}
        return [[links[f"host{i}->cpu{i}"] for i in (0, 1)], [links[f"cpu{i}->host{i}"] for i in (0, 1)]]

    @needs_simulator
    def test_each_host_has_its_part_of_the_traffic(self):
        sent, got = self.sent("h:h:h")
        self.assertEqual((sent[1], got), (0, [MATRIX, 0]))
        for place in ("h*:h*:h*", "h/cols:h/cols:h/cols", "h/rows:h/cols:h/rows"):
            spread, got = self.sent(place)
            self.assertEqual(got, [MATRIX / 2, MATRIX / 2], place)
            self.assertEqual(spread[0], spread[1], place)
            self.assertEqual(sum(spread), sent[0], place)

    @needs_simulator
    def test_results_name_the_place_and_its_routes(self):
        summary = self.simulated("h*:h:h/cols", "--timeline", "run.csv")
        self.assertEqual(summary["problem"]["place"], ["h*", "host0", "h/cols"])
        copies = [row for row in rows(self.folder / "run.csv") if row["kind"] == "copy"]
        self.assertEqual({row["src"] for row in copies if row["src"].startswith("h")}, {"h*", "host0"})
        self.assertEqual({row["dst"] for row in copies if row["dst"].startswith("h")}, {"host0", "host1"})
        route = next(row["route"] for row in copies if row["src"] == "h*")
        self.assertLessEqual({"host0->cpu0 1/2", "host1->cpu1 1/2"}, set(route.split(";")))

    @needs_simulator
    def test_replicas_are_not_copied(self):
        home, kept = (self.simulated(place, "--timeline", f"{place[0]}.csv") for place in ("h:h:h", "g*:h:h"))
        self.assertEqual(kept["problem"]["place"], ["g*", "host0", "host0"])
        self.assertLess(kept["makespan_s"], home["makespan_s"])
        searched = 1 + 1e-5  # the precision of a bound: docs/model.md#bound
        self.assertLessEqual(kept["bound_s"], searched * home["bound_s"])
        copied = [row["label"][0] for row in rows(self.folder / "g.csv") if row["kind"] == "copy"]
        self.assertEqual(set(copied), {"B", "C"})

    def test_replicas_are_inputs_of_runs_and_of_saved_plans(self):
        for place, arguments in (("g*:h:1", []), ("g*:g*:h", ["--devices", "1,3"]), ("h:g*:2", ["--transb", "T"])):
            problem = ["--gemm", "300,200,260", "--tile", "64", "--topology", "two.toml", "--place", place, *arguments]
            self.assertIn("check: passed", self.succeed("run", "--backend", "host", *problem, "--check"))
            self.succeed("plan", *problem, "-o", "plan.json")
            out = self.succeed("run", "--backend", "host", "--plan", "plan.json", "--topology", "two.toml", "--check")
            self.assertIn("check: passed", out)
        self.succeed("plan", *GEMM, "--topology", "cocopelia-testbed-1", "--place", "g*:h:h", "-o", "plan.json")
        self.assertEqual(json.loads((self.folder / "plan.json").read_text())["problem"]["place"][0], 1)  # its one GPU

    def test_c_has_one_place(self):
        for command in (["simulate"], ["plan"], ["predict"], ["run", "--backend", "host"]):
            self.assert_refused([*command, "--gemm", "2K", "--topology", "two.toml", "--place", "h:h:g*"],
                                "--place: 'g*' is not a place for C")

    def test_replicas_are_on_every_given_gpu(self):
        for command in ("plan", "predict"):
            self.assert_refused([command, "--gemm", "2K", "--topology", "two.toml", "--place", "copies@gpu0+gpu1:h:h"],
                                "--place: 'copies@gpu0+gpu1' has no copy on gpu2")

    def test_places_on_all_hosts_mean_the_host_of_a_machine_with_one(self):
        for place in ("h*:h/cols:h/rows", "h:h:h"):
            self.succeed("plan", *GEMM, "--topology", "two-gpu", "--place", place, "-o", "plan.json")
            plan = json.loads((self.folder / "plan.json").read_text())
            self.assertEqual(plan["problem"]["place"], [0, 0, 0])

    def test_the_host_backend_computes_problems_of_these_places(self):
        for place in ("h*:h/cols:h/rows", "h/rows:h/rows:h/cols"):
            out = self.succeed("run", "--backend", "host", "--gemm", "300,200,260", "--tile", "64", "--transa", "T",
                               "--topology", "two.toml", "--place", place, "--check")
            self.assertIn("check: passed", out)

    def test_the_host_backend_adds_up_layers_of_k(self):
        for place in ("h/cols:h/rows:h*", "h*:h/cols:h/rows", "h/rows:h*:h/cols"):
            out = self.succeed("run", "--backend", "host", "--gemm", "300,200,1300", "--tile", "96", "--set",
                               "grid=auto(layers=all)", "--set", "devices=all", "--beta", "0.5", "--topology", "two.toml",
                               "--place", place, "--check")
            self.assertIn("check: passed", out)

    @needs_simulator
    def test_plans_of_these_places_are_tuned(self):
        places = ("h*:h*:h*", "h/cols:h/rows:h*", "h:h:h")
        problem = ["--gemm", "512", "--topology", "two.toml"]
        self.succeed("tune", *problem, "--vary", "place=" + ";".join(places), "--effort", "fast", "--plan-cache",
                     "plans.toml")
        plans = tomllib.loads((self.folder / "plans.toml").read_text())["plan"]
        self.assertEqual({":".join(plan["place"]) for plan in plans}, {*places[:2], "host0:host0:host0"})
        for plan in plans:
            result = json.loads(self.succeed("simulate", *problem, "--place", ":".join(plan["place"]), "--plan-cache",
                                             "plans.toml", "--json", "-"))
            self.assertIn("by the simulator", result["plan_cache"])
            self.assertAlmostEqual(result["makespan_s"], plan["seconds"], delta=1e-9 * plan["seconds"])
        other = json.loads(self.succeed("simulate", *problem, "--place", "h*:h*:h/cols", "--plan-cache", "plans.toml",
                                        "--json", "-"))
        self.assertIn("has no plan of this problem", other["plan_cache"])

    @needs_simulator
    def test_places_on_one_host_share_a_tuned_plan(self):
        problem = ["--gemm", "256", "--topology", "two-gpu"]
        tune = ["tune", *problem, "--effort", "fast", "--plan-cache", "plans.toml"]
        self.succeed(*tune)
        self.assertEqual(self.succeed(*tune, "--place", "h*:h/cols:h/rows").count(" known "), 1)

    def test_a_plan_of_blocks_is_for_machines_of_as_many_hosts(self):
        self.succeed("plan", *GEMM, "--topology", "two.toml", "--place", "h/cols:h:h", "-o", "plan.json")
        self.succeed("topo", "new", "--gpus", "4", "--sockets", "4", "--kernels", "two-gpu", "-o", "four.toml")
        self.assert_refused(["simulate", "--plan", "plan.json", "--topology", "four.toml"], "memories")

    def test_other_places_are_refused(self):
        for place in ("h**", "h/", "h/diag", "h+h1", "h*1"):
            self.assert_refused(["plan", *GEMM, "--topology", "two.toml", "--place", f"{place}:h:h", "-o", "plan.json"],
                                f"'{place}' is not a memory")

    def test_each_host_must_have_room_for_its_part(self):
        small = ["--topology", "two.toml", "--topo-set", f"memory:host*.capacity={MATRIX + 1000} B"]
        self.assert_refused(["plan", *GEMM, *small, "-o", "plan.json"], "'host0'")
        self.assert_refused(["plan", *GEMM, *small, "--place", "h*:h*:h*", "-o", "plan.json"], "'host0'")
        self.succeed("plan", *GEMM, *small, "--place", "h*:h*:0", "-o", "plan.json")


RAILS = """
[[switch]]
names = "rail[0-1]"
source = "round"

[[link]]
from = "gpu0"
to = "rail[0-1]"
bandwidth = "20 GB/s"
latency = "1 us"
source = "round"

[[link]]
from = "rail[0-1]"
to = "gpu1"
bandwidth = "20 GB/s"
latency = "1 us"
source = "round"
"""


def rail(number):
    return (f'\n[[route]]\nfrom = "gpu0"\nto = "gpu1"\nlinks = ["gpu0->rail{number}", "rail{number}->gpu1"]\n'
            'source = "round"\n')


class Routes(CommandTest):
    def machine(self, routes):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        self.write("rails.toml", text + RAILS + routes)

    def rate(self):
        """GB/s from gpu0 to gpu1."""
        lines = [line.split() for line in self.succeed("topo", "show", "rails.toml").splitlines()]
        heading, *rows = lines[next(i for i, words in enumerate(lines) if words[:2] == ["Pair", "bandwidth,"]) + 1:]
        row = next(words for words in rows if words[0] == "gpu0")
        return float(row[heading.index("gpu1") - len(heading)])

    def test_a_pair_with_two_routes_has_both(self):
        self.machine(rail(0) + rail(1))
        self.assertEqual(self.rate(), 40)
        self.assertIn("gpu0 rail0 gpu1 and gpu0 rail1 gpu1", self.succeed("topo", "show", "rails.toml"))
        self.assertIn('links = ["gpu0->rail1", "rail1->gpu1"]', self.succeed("topo", "show", "rails.toml", "--flat"))

    @needs_simulator
    def test_a_copy_is_split_over_both(self):
        self.machine(rail(0) + rail(1))
        summary = json.loads(self.succeed("simulate", *GEMM, "--topology", "rails.toml", "--place", "0:0:1",
                                          "--devices", "1", "--json", "-"))
        links = {link["name"]: link["bytes"] for link in summary["links"]}
        self.assertEqual([links[f"gpu0->rail{i}"] for i in (0, 1)], [MATRIX, MATRIX])  # halves of A and B

    def test_a_pair_with_one_route_has_its_rate(self):
        self.machine(rail(0))
        self.assertEqual(self.rate(), 20)

    def test_the_same_route_twice_is_refused(self):
        self.machine(rail(0) + rail(0))
        self.assert_refused(["topo", "show", "rails.toml"], "another route has the same links")
