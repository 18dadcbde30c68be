"""Two outputs never have the same file, and no output replaces an input, whatever their names."""

import os
import subprocess
import unittest

from support import OLD, SMALL, TILERAIL, TOPOLOGIES, CommandTest

SHOW = ["sweep", *SMALL]


class SameOutput(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "sub").mkdir()
        (self.folder / "linked").symlink_to("sub")
        (self.folder / "dangling").symlink_to("target")
        (self.folder / "further").symlink_to("dangling")
        (self.folder / "into").symlink_to(self.folder / "sub/o")
        (self.folder / "stdout").symlink_to("/dev/stdout")

    def assert_same(self, first, second):
        self.assert_refused([*SHOW, "--csv", first, "--json", second],
                            f"--json: '{second}' is the same file as --csv '{first}'; expected a different file")

    def test_two_names_of_a_new_file_are_refused(self):
        for first, second in (("o", "o"), ("o", "./o"), ("sub/../o", "o"), ("o", self.folder / "o"), ("sub/o", "linked/o"),
                              ("linked/../o", "./o"), ("dangling", "target"), ("target", "dangling"),
                              ("further", "sub/../target"), ("into", "linked/o"), ("-", "-"), ("-", "/dev/stdout"),
                              ("/dev/stdout", "/dev/stdout"), ("/dev/fd/1", "stdout")):
            with self.subTest(first=first, second=second):
                self.assert_same(first, second)

    def test_two_names_of_an_existing_file_are_refused(self):
        self.write("o", OLD)
        os.link(self.folder / "o", self.folder / "hard")
        for first, second in (("o", "sub/../o"), ("hard", "o")):
            with self.subTest(first=first, second=second):
                self.assert_same(first, second)

    def test_names_that_differ_in_case_and_null_devices_are_different_outputs(self):
        self.succeed(*SHOW, "--csv", "o", "--json", "O")
        self.assertNotEqual((self.folder / "o").read_text(), (self.folder / "O").read_text())
        self.succeed(*SHOW, "--csv", "/dev/null", "--json", "/dev/null")

    def test_every_command_with_several_outputs_checks_their_names(self):
        self.write("cases.csv", "m,n,k\n64,64,64\n")
        run = ["run", "--backend", "host", *SMALL]
        sweep = ["sweep", *SMALL[:2], "--topology", "two-gpu", "--vary", "tile=32,64"]
        for arguments, option, path, other in (
            ([*run, "--timeline", "./o.json", "--json", "o.json"], "--json", "o.json", "--timeline './o.json'"),
            ([*run, "--timeline", "o.csv", "--timeline", "sub/../o.csv"], "--timeline", "sub/../o.csv", "--timeline 'o.csv'"),
            ([*sweep, "--csv", "o.svg", "--figure", "./o.svg"], "--figure", "./o.svg", "--csv 'o.svg'"),
            (["calibrate", "--backend", "cuda", "--from", "cases.csv", "-o", "o.toml", "--measurements", "./o-plain.toml"],
             "--measurements", "./o-plain.toml", "-o 'o-plain.toml'"),
        ):
            with self.subTest(arguments):
                self.assert_refused(arguments, f"{option}: '{path}' is the same file as {other}; expected a different file")

    def test_standard_output_has_a_name(self):
        expected = self.succeed(*SHOW, "--json", "-")
        for name in ("/dev/stdout", "/proc/self/fd/1", "stdout"):
            self.assertEqual(self.succeed(*SHOW, "--json", name), expected)
            self.write("out", OLD)
            self.assertEqual(self.with_standard_output("out", *SHOW, "--json", name).returncode, 0)
            self.assertEqual((self.folder / "out").read_text(), OLD + expected)
        self.assertTrue((self.folder / "stdout").is_symlink())

    def with_standard_output(self, name, *arguments):
        with open(self.folder / name, "a") as out:
            return subprocess.run([TILERAIL, *arguments], cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})


class LinksToNothing(CommandTest):
    """An output to a dangling link creates the link's target."""

    def test_the_target_is_created_and_the_link_stays(self):
        (self.folder / "sub").mkdir()
        for link, leads_to, target in (("a", "sub/a", "sub/a"), ("b", "a2", "sub/b"), ("c", str(self.folder / "c2"), "c2"),
                                       ("sub/d", "../d2", "d2")):
            with self.subTest(link):
                (self.folder / link).symlink_to(leads_to)
                if link == "b":
                    (self.folder / "a2").symlink_to(self.folder / "sub/b")
                self.succeed(*SHOW, "--json", link)
                self.assertTrue((self.folder / link).is_symlink())
                self.assertTrue((self.folder / target).read_text().startswith("{"))
                self.assertFalse((self.folder / target).is_symlink())

    def test_links_that_lead_nowhere_are_refused(self):
        (self.folder / "loop").symlink_to("pool")
        (self.folder / "pool").symlink_to("loop")
        (self.folder / "self").symlink_to("self")
        (self.folder / "lost").symlink_to("no/such")
        (self.folder / "slash").symlink_to("missing/")
        for link, reason in (("loop", "Too many levels of symbolic links"), ("self", "Too many levels of symbolic links"),
                             ("lost", "the folder"), ("slash", "Is a directory")):
            with self.subTest(link):
                self.assert_refused([*SHOW, "--json", link], f"--json: '{link}' cannot be written: {reason}")


class OwnInputs(CommandTest):
    def test_another_name_of_an_input_is_refused_as_an_output(self):
        self.write("o.json", self.succeed("plan", *SMALL, "-o", "-"))
        os.link(self.folder / "o.json", self.folder / "hard.json")
        (self.folder / "link.json").symlink_to("o.json")
        (self.folder / "here").symlink_to(".")
        for output in ("./o.json", "hard.json", "link.json", "here/o.json", self.folder / "o.json"):
            for option in ("--json", "--timeline"):
                with self.subTest(output=output, option=option):
                    self.assert_refused(["run", "--backend", "host", "--plan", "o.json", option, output],
                                        f"{option}: '{output}' is read as 'o.json', too; expected a file of its own")

    def test_topo_refuses_inputs_as_outputs(self):
        self.write("x.json", "{}")
        self.write("machine.toml", (TOPOLOGIES / "two-gpu.toml").read_text())
        kernels = ["--kernels", "two-gpu"]
        for arguments, option in (
            (["topo", "import", "--nvbandwidth", "x.json", *kernels, "-o", "./x.json"], "-o"),
            (["topo", "import", "--nccl", "x.json", *kernels, "-o", "./x.json"], "-o"),
            (["topo", "import", "--nvidia-smi", "x.json", *kernels, "-o", "./x.json"], "-o"),
        ):
            with self.subTest(arguments):
                self.assert_refused(arguments, f"{option}: './x.json' is read as 'x.json', too; expected a file of its own")
        self.assert_refused(["topo", "new", "--gpus", "2", "--kernels", "machine.toml", "-o", "./machine.toml"],
                            "-o: './machine.toml' is read as 'machine.toml', too; expected a file of its own")


class AllOrNone(CommandTest):
    """If an output cannot be written, the others stay unchanged."""

    def test_a_full_device_leaves_the_other_outputs_alone(self):
        self.write("o", OLD)
        for arguments in ([*SHOW, "--csv", "o", "--json", "/dev/full"], [*SHOW, "--csv", "/dev/full", "--json", "o"]):
            with self.subTest(arguments):
                done = self.run_command(*arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (
                    2, "", "tilerail: error: '/dev/full' cannot be written: No space left on device\n"))
                self.assertEqual((self.folder / "o").read_text(), OLD)
                rows = {"o.part"} if arguments[-4:-2] == ["--csv", "o"] else set()  # for the next run
                self.assertEqual({path.name for path in self.folder.iterdir()}, {"o", *rows})
                for name in rows:
                    (self.folder / name).unlink()

    def test_files_are_written_even_if_the_reader_of_stdout_stops(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([TILERAIL, *SHOW, "--json", "o"], stdout=writer, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-13, ""))  # SIGPIPE, as for other programs
        self.assertTrue((self.folder / "o").read_text().startswith("{"))

    def test_places_where_no_file_can_be_made_are_found_before_any_work(self):
        for arguments, option, path in (
            (["calibrate", "--backend", "host"], "-o", "/proc/machine.toml"),
            (["calibrate", "--backend", "host"], "-o", "no/machine.toml"),
            (["calibrate", "--backend", "host"], "-o", "."),
            (["compare", "--cases", "absent", "--backend", "host", "--topology", "two-gpu"], "--csv", "/proc/o"),
            (["whatif", *SMALL], "--csv", "/proc/o"),
        ):
            with self.subTest(arguments=arguments, path=path):
                self.assert_refused([*arguments, option, path], f"{option}: '{path}' cannot be written: ")

    def test_an_import_never_replaces_its_input(self):
        text = "\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n"
        self.write("topo.txt", text)
        os.symlink("topo.txt", self.folder / "link")
        for output in ("topo.txt", "link"):
            with self.subTest(output):
                self.assert_refused(["topo", "import", "--nvidia-smi", "topo.txt", "--kernels", "h200", "-o", output],
                                    "is read as 'topo.txt', too; expected a file of its own")
        self.assertEqual((self.folder / "topo.txt").read_text(), text)


if __name__ == "__main__":
    unittest.main()
