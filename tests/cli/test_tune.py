"""`tune`, and the plan cache, which other commands read."""

import csv
import json
import os
import signal
import subprocess
import tomllib
import unittest

from support import TILERAIL, TOPOLOGIES, CommandTest, kernels_text, machine_text, needs_simulator
from waiting import wait_until

PROBLEM = ["--gemm", "512", "--topology", "two-gpu"]
TUNE = ["tune", *PROBLEM, "--effort", "fast", "--plan-cache", "plans.toml"]


@needs_simulator
class Tune(CommandTest):
    def plans(self, name="plans.toml"):
        return tomllib.loads((self.folder / name).read_text()).get("plan", [])

    def simulated(self, *arguments, **environment):
        return json.loads(self.succeed("simulate", *arguments, "--json", "-", **environment))

    def test_the_help_omits_exclusions_of_options(self):
        self.assertNotIn("Excludes", self.succeed("tune", "--help"))

    def test_every_command_uses_tuned_plans(self):
        text = self.succeed(*TUNE)
        self.assertIn("gemm 512,512,512 f64 NN", text)
        (plan,) = self.plans()
        self.assertEqual((plan["judge"], plan["policy"], plan["devices"]), ("simulator", "tilerail", ["gpu0", "gpu1"]))
        result = self.simulated(*PROBLEM, "--plan-cache", "plans.toml")
        self.assertAlmostEqual(result["makespan_s"], plan["seconds"], delta=1e-9 * plan["seconds"])
        self.assertIn("plan cache 'plans.toml': ", result["plan_cache"])
        self.assertLessEqual(result["makespan_s"], self.simulated(*PROBLEM)["makespan_s"])
        self.assertNotIn("plan_cache", self.simulated(*PROBLEM))
        self.assertRegex(self.succeed("plan", *PROBLEM, "--plan-cache", "plans.toml"), r"why +plan cache 'plans.toml'")
        self.succeed("plan", *PROBLEM, "--plan-cache", "plans.toml", "-o", "plan.json")
        saved = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual((saved["hash"], saved["origin"]["judge"]), (result["plan_hash"], "simulator"))
        self.assertEqual([reason[0] for reason in saved["origin"]["reasons"]], ["tuned"])
        self.assertEqual(self.simulated("--plan", "plan.json")["plan_cache"], result["plan_cache"])
        self.write("cases.csv", "m,n,k\n512,512,512\n64,64,64\n")
        self.succeed("compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu", "--iters", "1",
                     "--warmup", "1", "--plan-cache", "plans.toml", "--csv", "results.csv")
        with open(self.folder / "results.csv", newline="") as file:
            hit, miss = csv.DictReader(file)
        self.assertIn("by the simulator", hit["plan_cache"])
        self.assertIn("has no plan of this problem", miss["plan_cache"])
        self.assertIn("chosen", self.succeed("run", "--backend", "host", *PROBLEM, "--plan-cache", "plans.toml"))

    def test_the_environment_can_name_the_file(self):
        here = {"TILERAIL_PLAN_CACHE": "plans.toml"}
        self.succeed("tune", *PROBLEM, "--effort", "fast", **here)
        self.assertIn("plan cache", self.simulated(*PROBLEM, **here)["plan_cache"])
        other = self.simulated("--gemm", "512", "--topology", "clx-ai", **here)
        self.assertIn("is not used: it is for machine 'two-gpu'", other["plan_cache"])
        self.assert_refused(["simulate", *PROBLEM], "TILERAIL_PLAN_CACHE: 'gone.toml' cannot be read",
                            TILERAIL_PLAN_CACHE="gone.toml")

    def test_a_miss_of_another_policy_is_reported(self):
        self.succeed(*TUNE)
        tile = self.plans()[0]["decided"]["tile"]
        self.assertIn("has no plan of this problem on these GPUs with this policy",
                      self.simulated(*PROBLEM, "--plan-cache", "plans.toml", "--tile", tile)["plan_cache"])

    def test_many_problems_are_tuned_and_known_problems_are_skipped(self):
        many = [*TUNE, "--vary", "gemm=128,256", "--vary", "place=h:h:h;0:1:h"]
        first = self.succeed(*many)
        self.assertEqual(len(self.plans()), 4)
        before = (self.folder / "plans.toml").read_bytes()
        again = self.succeed(*many)
        self.assertEqual(again.count(" known "), 4)
        self.assertEqual(first.count(" known "), 0)
        self.assertEqual((self.folder / "plans.toml").read_bytes(), before)
        self.assertEqual(self.succeed(*many, "--jobs", "1", "--again").count(" known "), 0)
        self.assertEqual((self.folder / "plans.toml").read_bytes(), before)  # for any number of processes

    def test_plans_are_listed(self):
        self.succeed(*TUNE)
        listed = self.succeed("tune", "--list", "plans.toml")
        self.assertIn("1 plans for machine 'two-gpu'", listed)
        self.assertIn("gemm 512,512,512 f64 NN", listed)

    def test_a_killed_tuning_keeps_its_plans(self):
        many = ["tune", "--topology", "two-gpu", "--vary", "gemm=64..640 +64", "--plan-cache", "plans.toml", "--jobs", "2",
                "--effort", "fast"]
        tuning = subprocess.Popen([TILERAIL, *many], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
        wait_until(lambda: tuning.poll() is not None or (self.folder / "plans.toml").exists())
        tuning.send_signal(signal.SIGKILL)
        tuning.wait()
        kept = len(self.plans())
        self.assertGreaterEqual(kept, 1)
        self.assertGreaterEqual(self.succeed(*many).count(" known "), kept)
        self.assertEqual(len(self.plans()), 10)

    def test_the_best_plans_may_be_run(self):
        threads = machine_text("threads", 2, [("host", "gpu[0-1]", 10)], kernels_text('rates = [[64, "1 GFLOP/s"]]', 1))
        self.write("threads.toml", threads.replace('kind = "gpu"', 'kind = "gpu"\nengines = { total = 1 }'))
        problem = ["--gemm", "128", "--topology", "threads.toml", "--plan-cache", "plans.toml"]
        on_host = ["--backend", "host", "--iters", "1", "--warmup", "1"]
        self.succeed("tune", *problem, "--effort", "fast", *on_host)
        (plan,) = self.plans()
        self.assertEqual(plan["judge"], "measurement")
        self.assertGreater(plan["seconds"], 0)
        self.assertIn("by the measurement", self.simulated(*problem)["plan_cache"])
        self.assertIn(" known ", self.succeed("tune", *problem, "--effort", "fast", *on_host))
        self.assert_refused([*TUNE, "--backend", "host"], "'gpu0' of machine 'two-gpu' is a GPU")
        self.assert_refused(["tune", *problem, *on_host, "--topo-set", "issue.per_op=1 us"], "--topo-set")

    def test_bad_input_is_refused_and_leaves_the_file_unchanged(self):
        self.succeed(*TUNE)
        good = (self.folder / "plans.toml").read_text()
        self.write("broken.toml", good.replace("[plan.decided]", "[plan.decided"))
        self.write("future.toml", good.replace("schema = 2", "schema = 9"))
        self.write("odd.toml", good.replace('routing = "', 'routing = "tele'))
        plan = 1 + good[:good.index("[[plan]]")].count("\n")  # its line
        other = ["--gemm", "512", "--topology", "clx-ai", "--plan-cache", "plans.toml"]
        use = ["simulate", *PROBLEM, "--plan-cache"]
        for arguments, quoted in (
                (["simulate", *other], "plans.toml: machine: 'two-gpu' of hash"),
                (["tune", *other], "'two-gpu' of hash"),
                ([*use, "broken.toml"], "broken.toml:"),
                ([*use, "future.toml"], "schema: '9'"),
                ([*use, "odd.toml"], f"odd.toml:{plan}:1: gemm 512,"),
                ([*use, "gone.toml"], "'gone.toml' cannot be read"),
                ([*use, "plans.toml", "--topo-set", "issue.per_op=9 us"], "of hash"),
                (["tune", *PROBLEM, "--plan-cache", "broken.toml"], "broken.toml:"),
                (["tune", *PROBLEM, "--plan-cache", "no/folder/plans.toml"], "the folder 'no/folder' does not exist"),
                (["tune", *PROBLEM, "--plan-cache", "/dev/null"], "not a regular file"),
                (["tune", *PROBLEM], "--plan-cache: is missing"),
                ([*TUNE, "--policy", "gemmex"], "cannot be tuned"),
                ([*TUNE, "--vary", "issue.per_op=1 us,2 us"], "'issue.per_op' changes the machine"),
                ([*TUNE, "--vary", "topology=two-gpu,clx-ai"], "'topology' changes the machine"),
                ([*TUNE, "--vary", "gemm=0,64"], "gemm 0,0,0 f64 NN host:host:host: changes nothing"),
                (["tune", *PROBLEM, "--plan-cache", "plans.toml", "--effort", "all"],
                 "--effort: 'all' is invalid; expected fast, fixed, normal, high"),
                ([*TUNE, "--backend", "abacus"], "abacus"),
                ([*TUNE, "--iters", "nan"], "--iters: is invalid in a simulation"),
                (["tune", "--list", "gone.toml"], "'gone.toml' cannot be read"),
                (["tune", "--list", "plans.toml", "--gemm", "64"], "--list"),
                (["simulate", "--plan", "plan.json", "--plan-cache", "plans.toml"], "--plan")):
            with self.subTest(arguments=arguments):
                self.assert_refused(arguments, quoted)


if __name__ == "__main__":
    unittest.main()
