"""Sweeps on executors of all kinds give the same table."""

import base64
import importlib.util
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import unittest.mock
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pandas

import tilerail as tr
from support import PackageTest
from tilerail import studies

VARY = {"link:host<->*.bandwidth": "25..100 x2 GB/s", ("transa", "transb"): ["N", "T"], "gemm": ["1K,1K,512", "2K"]}


def die(*_):
    os._exit(1)


def killed_once(mark, function, *arguments):
    """The function, but the first process that calls this is killed. It leaves a file."""
    if not os.path.exists(mark):
        open(mark, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments)


class KillingExecutor:
    """Its third task kills the process that runs it first."""

    def __init__(self, executor, mark):
        self.executor, self.mark, self.tasks = executor, mark, 0

    def submit(self, function, *arguments):
        self.tasks += 1
        killed = (killed_once, self.mark) if self.tasks == 3 else ()
        return self.executor.submit(*killed, function, *arguments)


class SweepTest(PackageTest):
    machine = tr.machine.new(gpus=2, kernels="h200", nvlink=450)

    @classmethod
    def setUpClass(cls):
        cls.table = cls.sweep()

    @classmethod
    def sweep(cls, **options):
        return tr.sweep(tr.gemm("1K"), cls.machine, effort="fast", vary=VARY, **options)

    def assert_same(self, **options):
        pandas.testing.assert_frame_equal(self.sweep(**options), self.table)

    def test_a_row_for_each_combination(self):
        rows = self.table.set_index(["link:host<->*.bandwidth_GB/s", "transa & transb", "gemm"]).makespan_s
        self.assertEqual(len(rows), 3 * 2 * 2)
        self.assertEqual(list(rows.index.levels[0]), [25, 50, 100])
        machine = self.machine.set("link:host<->*.bandwidth", "50 GB/s")
        single = tr.simulate(tr.gemm("2K", transa="T", transb="T"), machine, effort="fast")
        self.assertAlmostEqual(rows[50, "T", "2K"] / single.makespan, 1, places=12)

    def test_executors_give_the_same_table(self):
        with ThreadPoolExecutor(1) as one, ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
            for executor in (one, processes):
                self.assert_same(executor=executor)

    def test_points_of_an_executor_that_cancels_run_in_threads(self):
        class Silent(ThreadPoolExecutor):
            def submit(self, function, *arguments):
                future = Future()
                future.cancel()  # as shut-down executors do: without a notice
                return future

        with Silent(1) as executor, self.assertWarnsRegex(RuntimeWarning, "cancelled"):
            self.assert_same(executor=executor)

    def test_points_of_failed_tasks_run_in_threads(self):
        class Failing(ThreadPoolExecutor):
            tasks = 0

            def submit(self, function, *arguments):
                self.tasks += 1
                if self.tasks % 3 != 1:
                    return super().submit(function, *arguments)
                future = Future()
                future.set_exception(error)
                return future

        error = OSError("a worker is killed")
        with Failing(1) as executor, self.assertWarnsRegex(RuntimeWarning, "OSError: a worker is killed"):
            self.assert_same(executor=executor, chunk=1)
        for error in (tr.InputError("tile"), KeyboardInterrupt(), SystemExit()):
            with self.subTest(error), Failing(1) as executor, self.assertRaises(type(error)):
                self.sweep(executor=executor, chunk=1)
        with unittest.mock.patch("tilerail.studies._rows", side_effect=OSError("no memory")):
            with self.assertRaisesRegex(OSError, "no memory"):
                self.sweep()

    def test_classes_of_executors_and_executors_that_are_shut_down_are_refused(self):
        closed = ThreadPoolExecutor(1)
        closed.shutdown()
        self.refused(lambda: self.sweep(executor=closed), "executor: .* takes no tasks")
        self.refused(lambda: self.sweep(executor=ThreadPoolExecutor), "is not an executor")

    def test_a_what_if_can_be_interrupted(self):
        timer, native = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)), studies._core.what_if

        def signalled(*arguments):
            timer.start()
            return native(*arguments)

        with unittest.mock.patch.object(studies._core, "what_if", signalled), self.assertRaises(KeyboardInterrupt):
            tr.whatif(tr.gemm("16K"), "hgx-h200", "gemmex", tile=512)  # minutes of simulations
            timer.join()  # a late signal is raised here
        timer.join()

    def test_dask_gives_the_same_table(self):
        try:
            from dask.distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("dask.distributed is missing")
        with (LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
              Client(cluster) as client):
            self.assert_same(executor=client.get_executor())
            self.assert_same(executor=KillingExecutor(client.get_executor(), str(self.folder / "killed")), chunk=1)
            self.assertEqual(os.listdir(self.folder), ["killed"])

    def test_mpi_gives_the_same_table(self):
        if shutil.which("mpirun") is None or importlib.util.find_spec("mpi4py") is None:
            self.skipTest("mpirun or mpi4py is missing")
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        words = ["mpirun", "-n", "3", "--oversubscribe", sys.executable, "-m", "mpi4py.futures", __file__, "mpi"]
        table = subprocess.run(words, env=os.environ | as_root, capture_output=True, check=True, timeout=300).stdout
        pandas.testing.assert_frame_equal(pickle.loads(base64.b64decode(table)), self.table)

    def test_the_rest_of_a_broken_executor_runs_in_threads(self):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as broken:
            broken.submit(die)
            with self.assertWarnsRegex(RuntimeWarning, "BrokenProcessPool"):
                self.assert_same(executor=broken)

    def test_threads_build_a_sweep_once_and_it_is_dropped_at_the_end(self):
        studies._POINTS.clear()
        with unittest.mock.patch("tilerail._core.SweepPoints", side_effect=studies._core.SweepPoints) as built:
            with ThreadPoolExecutor(8) as executor:
                self.sweep(executor=executor, chunk=1)
                task = studies._Sweep((("effort", "fast"), ("gemm", "64"), ("topology", "<two>")), ("tile=32,64",),
                                      self.machine.to_toml())
                self.assertEqual(len({id(points) for points in executor.map(lambda _: task.points(), range(8))}), 1)
        self.assertEqual(built.call_count, 2)
        self.assertEqual(list(studies._POINTS), [task])

    def test_the_machine_is_the_one_that_was_given(self):
        file = self.folder / "m.toml"
        self.machine.save(file)
        given = tr.machine(file)
        self.machine.set("link:host<->*.bandwidth", "x0.1").save(file)
        row = tr.sweep(tr.gemm("1K"), given, effort="fast", vary={"tile": [512]})
        self.assertEqual(row.makespan_s[0], tr.simulate(tr.gemm("1K"), given, tile=512, effort="fast").makespan)

    def test_a_changed_machine_can_use_the_plan_of_the_unchanged_one(self):
        key = "link:gpu0->gpu1.bandwidth"
        row = tr.sweep(tr.gemm(1500), "two-gpu", vary={key: ["x2"]}).iloc[0]
        alone = tr.simulate(tr.gemm(1500), tr.machine("two-gpu").set(key, "x2"))
        unchanged = tr.plan(tr.gemm(1500), "two-gpu")
        self.assertEqual(row.plan_hash, unchanged.hash)
        self.assertLess(row.makespan_s, alone.makespan)

    def test_points_without_a_result_have_an_error(self):
        table = tr.sweep(tr.gemm("1K"), "two-gpu", effort="fast", vary={"memory:gpu*.capacity": ["1 KB", "1 GB"]})
        self.assertIn("does not fit", table.error[0])
        self.assertTrue(table.makespan_s[1] > 0)

    def test_invalid_axes_are_refused_before_anything_runs(self):
        for vary in ({"bogus": [1]}, {"gemm": ["1K", "bad"]}, {"policy": []}):
            with self.subTest(vary):
                self.refused(lambda: tr.sweep(tr.gemm("1K"), "two-gpu", vary=vary))


if __name__ == "__main__" and sys.argv[1:] == ["mpi"]:  # the manager of MPI's workers
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as workers:
        print(base64.b64encode(pickle.dumps(SweepTest.sweep(executor=workers))).decode())
elif __name__ == "__main__":
    unittest.main()
