"""Invalid arguments: exit code 2, one line that names the value, no output."""

import unittest

from support import OLD, SMALL, CommandTest


def problem(**changes):
    """A valid `simulate` with replaced or added options; None removes an option."""
    options = {"gemm": "64", "tile": "32", "policy": "gemmex", "topology": "two-gpu"}
    options.update({key.replace("_", "-"): value for key, value in changes.items()})
    arguments = ["simulate"]
    for key, value in options.items():
        if value is not None:
            arguments += [f"--{key}", value]
    return arguments


NEW = ["topo", "new", "--gpus", "2", "--kernels", "h200"]
SWEEP = ["sweep", "--topology", "two-gpu"]

# Arguments, and the quotes in the error.
CASES = {
    "no command": ([], "--help"),
    "unknown command": (["simulte"], "'simulte' is not expected (see 'tilerail --help')"),
    "unknown command with options": (["simulat", "--gemm", "16K"], "'simulat' is not expected"),
    "unknown option before any command": (["--gem", "64"], "'--gem' is not expected (see 'tilerail --help')"),
    "unknown option": (["simulate", "--gem", "64"], "'--gem' is not expected (see 'tilerail simulate --help')"),
    "option without value": (["simulate", "--gemm"], "--gemm"),
    "option twice": (problem() + ["--gemm", "32"], "--gemm"),
    "no problem": (problem(gemm=None), "--gemm"),
    "empty sizes": (problem(gemm=""), "--gemm"),
    "two sizes": (problem(gemm="64,64"), "64,64"),
    "four sizes": (problem(gemm="1,2,3,4"), "1,2,3,4"),
    "size that is a word": (problem(gemm="big"), "big"),
    "negative size": (problem(gemm="64,-3,64"), "-3"),
    "fractional size": (problem(gemm="1.5K"), "1.5K"),
    "unknown suffix": (problem(gemm="16G"), "16G"),
    "size with space": (problem(gemm="64 "), "64 "),
    "size above 64 bits": (problem(gemm="99999999999999999999"), "99999999999999999999"),
    "size above 64 bits by its suffix": (problem(gemm="9223372036854775807M"), "9223372036854775807M"),
    "huge size, with the limit": (problem(gemm="99999999999999999999"), "is too large; expected at most 2^40"),
    "minus zero": (problem(gemm="-0"), "--gemm: '-0' is not a size"),
    "size above 2^40": (problem(gemm="1048577M,1,1"), "m: '1099512676352' is out of range; expected 0 to 2^40"),
    "two routines": (problem(axpy="64"), "2 are given"),
    "four routines": (problem(axpy="64", dot="64", gemv="64,64"), "4 are given"),
    "gemv of one size": (problem(gemm=None, gemv="64"), "'64'"),
    "gemv of three sizes": (problem(gemm=None, gemv="6,4,5"), "'6,4,5'"),
    "dot that is a word": (problem(gemm=None, dot="long"), "'long'"),
    "axpy of two sizes": (problem(gemm=None, axpy="64,64"), "'64,64'"),
    "axpy without size": (problem(gemm=None, axpy=""), "--axpy: ''"),
    "axpy above 2^40": (problem(gemm=None, axpy="1048577M"), "m: '1099512676352' is out of range"),
    "axpy in three places": (problem(gemm=None, axpy="64", place="h:h:h"), "'h:h:h' is not X:Y"),
    "dot in one place": (problem(gemm=None, dot="64", place="h"), "'h' is not X:Y"),
    "gemv in two places": (problem(gemm=None, gemv="6,4", place="h:h"), "'h:h' is not A:X:Y"),
    "transposed vector": (problem(gemm=None, gemv="6,4", transb="N"), "--transb"),
    "transposed axpy": (problem(gemm=None, axpy="64", transa="T"), "--transa"),
    "dot that is not transposed": (problem(gemm=None, dot="64", transa="N"), "--transa: has no meaning with dot"),
    "vector with a leading dimension": (problem(gemm=None, gemv="6,4", ldc="6"), "--ldc"),
    "dot with a leading dimension": (problem(gemm=None, dot="64", lda="64"), "--lda"),
    "dot that adds": (problem(gemm=None, dot="64", beta="1"), "--beta"),
    "unknown transpose of a gemv": (problem(gemm=None, gemv="6,4", transa="C"), "'C'"),
    "short lda of a gemv": (problem(gemm=None, gemv="6,4", lda="5"), "--lda: '5' is out of range"),
    "prediction of an empty axpy": (["predict", *problem(gemm=None, axpy="0", devices="0")[1:]], "--axpy"),
    "tile above 2^40": (problem(gemm=None, axpy="64", tile="1048577M"), "whole number 1 to 1099511627776"),
    "plan and a dot": (problem(gemm=None, dot="64", plan="plan.json"), "--plan"),
    "selection by no metric": (problem(set="devices=best(metric=speed)"), "metric=speed"),
    "unknown distribution": (problem(set="distribution=cyclic"), "2d-cyclic"),
    "unknown dtype": (problem(dtype="f8"), "f8"),
    "unknown transpose": (problem(transa="C"), "'C'"),
    "unknown second transpose": (problem(transb="X"), "'X'"),
    "setting of no machine": (problem(topo_set="host=3"), "--topo-set: host=3: the key 'host' is unknown"),
    "setting of a missing link": (problem(topo_set="link:a->b.bandwidth=x2"), "link: 'a->b' does not exist"),
    "setting without its unit": (problem(topo_set="link:*.latency=3"), "--topo-set: link:*.latency=3: '3'"),
    "setting of cases without cases": (["compare", "--topo-set", "gpus=1"], "--cases"),
    "alpha that is a word": (problem(alpha="one"), "one"),
    "alpha not a number": (problem(alpha="nan"), "nan"),
    "alpha above f32": (problem(alpha="1e60", dtype="f32"), "--alpha: '1e60' is out of range"),
    "beta below f32": (problem(beta="-1e-60", dtype="f16"), "--beta: '-1e-60' is out of range"),
    "infinite beta": (problem(beta="inf"), "inf"),
    "beta out of range": (problem(beta="1e999"), "1e999"),
    "two places": (problem(place="h:h"), "h:h"),
    "four places": (problem(place="h:h:h:h"), "h:h:h:h"),
    "place of no GPU": (problem(place="h:h:7"), "'7'"),
    "place of no host": (problem(place="h9:h:h"), "'h9'"),
    "place of no name": (problem(place="h:attic:h"), "attic"),
    "empty place": (problem(place="h::h"), "''"),
    "short lda": (problem(lda="63"), "--lda: '63' is out of range; expected 64 (the stored rows) to 2^40"),
    "short ldb of a transposed B": (problem(gemm="8,16,8", transb="T", ldb="15"), "15"),
    "ldc that is a word": (problem(ldc="wide"), "wide"),
    "no machine": (problem(topology=None), "--topology"),
    "unknown machine": (problem(topology="two-gpus"), "two-gpus"),
    "missing machine file": (problem(topology="absent.toml"), "absent.toml"),
    "machine that is a folder": (problem(topology="/"), "--topology: '/' is a folder"),
    "machine that never ends": (problem(topology="/dev/zero"), "'/dev/zero' cannot be read: it is a device; expected a file, a pipe"),
    "plan that never ends": (["simulate", "--plan", "/dev/urandom"], "'/dev/urandom' cannot be read: it is a device"),
    "timeline that never ends": (["compare", "/dev/zero", "b.csv"], "'/dev/zero' cannot be read: it is a device"),
    "machine of a run on the host": (["run", "--backend", "host", "--gemm", "64"],
                                     "--topology: '' is missing; expected a .toml file, as 'tilerail calibrate' writes it"),
    "machine of cases": (["compare", "--cases", "cases.csv", "--backend", "host"], "'tilerail calibrate'"),
    "backend of cases": (["compare", "--cases", "cases.csv", "--topology", "two-gpu"],
                         "--backend: is missing; expected host or cuda"),
    "plan that is not there": (["simulate", "--plan", "nope.json"], "--plan: 'nope.json' cannot be read"),
    "explanation of no policy": (["policies", "nonsense"], "NAME: 'nonsense' is not a policy; expected one of: baseline"),
    "no device": (problem(devices=""), "''"),
    "unknown device": (problem(devices="0,5"), "5"),
    "device twice": (problem(devices="0,0"), "0,0"),
    "tile by an unknown model": (problem(tile="best"), "--tile: 'best' is invalid; expected search, thesis, gemmex"),
    "energy of too short a time": (["run", "--backend", "host", *problem()[1:], "--energy", "0.1"], "--energy: '0.1'"),
    "energy of no number": (["run", "--backend", "host", *problem()[1:], "--energy", "some"], "--energy: 'some'"),
    "vectors on two GPUs": (["predict", *problem(gemm=None, axpy="64")[1:]], "--devices: paralia does not predict axpy"),
    "link map into no folder": (["topo", "show", "two-gpu", "--link-map", "no/m.csv"], "--link-map"),
    "prediction of nothing": (["predict", *problem(gemm="0", devices="0")[1:]], "--gemm"),
    "device twice by a range": (problem(devices="0-1,1"), "0-1,1"),
    "range upside down": (problem(devices="1-0"), "1-0"),
    "open range": (problem(devices="0-"), "0-"),
    "device that is a word": (problem(devices="some"), "some"),
    "unknown policy": (problem(policy="best"), "best"),
    "tile too large for the memory": (problem(gemm="20000", tile="8000"),
                                      "--tile: '8000' does not fit: 'gpu0' has 800000000 bytes for tiles, and 3 of 512000000 "
                                      "bytes each are needed; expected at most 5771"),
    "tile too long for a thin problem": (problem(gemm="2000,2000,400000", tile="200000", policy="gemmex"),
                                         "expected at most 16664"),
    "no memory left for tiles": (problem(gemm="11180", tile=None, devices="0", place="0:h:h"),
                                 "automatic tile: '64' does not fit: 'gpu0' has 60800 bytes for tiles, and 3 of 32768 bytes each "
                                 "are needed; expected at most 48"),
    "tile of zero": (problem(tile="0"), "0"),
    "negative tile": (problem(tile="-32"), "-32"),
    "tile that makes too many kernels": (problem(gemm="1M", tile="32"), "35184372088832 kernels"),
    "tile that is a word": (problem(tile="small"), "small"),
    "unknown field": (problem(set="speed=max"), "speed"),
    "misspelt field": (problem(set="routin=eta"),
                       "--set: 'routin=eta' is not a field of a policy; expected one of: devices, effort, grid, "
                       "distribution, shares, tile, tile-rows, "),
    "GPUs that are a word": (SWEEP + ["--gemm", "64", "--vary", "devices=any"],
                             "--vary 'devices=any': devices: 'any' is not a processor of two-gpu"),
    "GPUs that are another word": (SWEEP + ["--gemm", "64", "--vary", "devices=bogus"],
                                   "--vary 'devices=bogus': devices: 'bogus' is not a processor of two-gpu"),
    "field without value": (problem(set="routing"), "--set: 'routing' is not key=value; expected routing= and initial, bandwidth, "),
    "unknown value of a field": (problem(set="routing=fast"), "--set: 'routing=fast' is invalid; expected initial, bandwidth, link-map"),
    "number of a field out of range": (problem(set="batch=chain(chunks=0)"), "expected chain(chunks=whole number 1 to 1024, min-bytes="),
    "plan and problem": (problem(plan="plan.json"), "--plan"),
    "missing plan": (["simulate", "--plan", "absent.json"], "absent.json"),
    "timeline without extension": (problem(timeline="timeline"), "timeline"),
    "unknown timeline": (problem(timeline="timeline.xml"), "timeline.xml"),
    "unknown figure": (problem(gantt="figure.gif"), "figure.gif"),
    "output in no folder": (problem(json="absent/out.json"), "absent/out.json"),
    "output that is a folder": (problem(timeline="."), "'.'"),
    "one file for two outputs": (problem(json="out.json", timeline="out.json"), "out.json"),
    "no backend": (["run", *SMALL], "--backend"),
    "unknown backend": (["run", "--backend", "gpu", *SMALL], "gpu"),
    "no iteration": (["run", "--backend", "host", "--iters", "0", *SMALL], "'0'"),
    "negative warmup": (["run", "--backend", "host", "--warmup", "-1", *SMALL], "-1"),
    "seed that is a word": (["run", "--backend", "host", "--seed", "lucky", *SMALL], "lucky"),
    "unknown host buffers": (["run", "--backend", "host", "--host-buffers", "scattered", *SMALL], "'scattered'"),
    "no host buffers": (["run", "--backend", "host", "--host-buffers", "", *SMALL], "--host-buffers"),
    "host buffers of the host": (["run", "--backend", "host", "--host-buffers", "plain", *SMALL],
                                 "--host-buffers: 'plain' is invalid on the host; expected --backend cuda"),
    "energy of the host": (["run", "--backend", "host", "--energy", "0", *SMALL],
                           "--energy: '0' is invalid on the host; expected --backend cuda"),
    "tile twice": (problem(set="tile=64"), "--set: 'tile=64' is not a field; expected an argument of its own, tile"),
    "rate below zero": (NEW + ["--nvlink", "-5"], "--nvlink: '-5' is out of range; expected 1 MB/s to "),
    "rate that is too large": (NEW + ["--nvlink", "1e99"], "--nvlink: '1e99' is out of range; expected "),
    "one size of a sweep": (SWEEP + ["--vary", "m=512,1024"], "error: --vary 'm=512,1024': gemm: '512,,' lacks n; expected M,N,K"),
    "range without a step": (SWEEP + ["--gemm", "64", "--vary", "gpus=1..9"],
                             "error: --vary 'gpus=1..9': '1..9' is not a range with a step, such as 1..9 +1"),
    "unknown effort": (problem(effort="low"), "--effort: 'low' is invalid; expected fast, fixed, normal, high"),
    "effort as another field": (problem(set="effort=high"), "--set: 'effort=high' is not a field; expected an argument of its own, effort"),
    "field twice": (problem(set="order=eta") + ["--set", "order=fifo"], "--set: 'order=fifo' contradicts 'order=eta'"),
    "two fields after one option": (problem(set="order=eta") + ["batch=off"], "'batch=off' is not expected"),
    "no metric": (problem(set="devices="), "devices="),
    "lda of zero": (problem(lda="0"), "--lda: '0' is out of range"),
    "ldb of a vector": (problem(gemm=None, gemv="6,4", ldb="0"), "--ldb: has no meaning with gemv"),
    "dtype that the host has not": (["run", "--backend", "host", "--dtype", "tf32", *SMALL], "tf32"),
    "one timeline to compare": (["compare", "a.csv"], "measured"),
    "missing timeline": (["compare", "a.csv", "b.csv"], "a.csv"),
    "trace of a comparison as CSV": (["compare", "a.csv", "b.csv", "--trace", "both.csv"], "both.csv"),
    "no calibrated file": (["calibrate", "--backend", "host"], "-o"),
    "no calibrated device": (["calibrate", "--backend", "host", "--devices", "0", "-o", "m.toml"], "'0'"),
    "negative seconds": (["calibrate", "--backend", "host", "--seconds", "-1", "-o", "m.toml"],
                         "--seconds: '-1' is out of range; expected 0 to 3600"),
    "negative workers": (["calibrate", "--backend", "host", "--workers", "-2", "-o", "m.toml"], "-2"),
    "unknown machine to show": (["topo", "show", "nowhere"], "nowhere"),
    "no machine to show": (["topo", "show"], "machine is required (see 'tilerail topo show --help')"),
    "no machine to export": (["topo", "export"], "(see 'tilerail topo export --help')"),
    "no topo action": (["topo"], "validate"),
    "unknown topo action": (["topo", "sho", "two-gpu"], "'sho' is not expected (see 'tilerail topo --help')"),
    "too much for an action": (["topo", "list", "two-gpu"], "'two-gpu' is not expected"),
    "unknown option of an action": (["topo", "--machine", "two-gpu"], "'--machine' is not expected"),
    "plan without a name": (["plan", *SMALL, "-o", ""], "--output: '' is not a name; expected a FILE"),
    "result without a name": (problem(json=""), "--json: '' is not a name"),
    "timeline without a name": (problem(timeline=""), "--timeline: '' is not a name"),
    "figure without a name": (problem(gantt=""), "--gantt: '' is not a name"),
    "figure of another kind": (problem(gantt="g.png"), "--gantt: 'g.png' has an unknown extension; expected .svg; "
                               "'python -m tilerail' draws .png and .pdf from saved files"),
    "machine without a name": (problem(topology=""), "--topology: '' is not a name"),
    "read plan without a name": (["simulate", "--plan", ""], "--plan: '' is not a name"),
    "link map without a name": (["topo", "show", "two-gpu", "--link-map", ""], "--link-map: '' is not a name"),
    "cases without a name": (["compare", "--cases", ""], "--cases: '' is not a name"),
    "measurements without a name": (["calibrate", "--backend", "cuda", "--from", "", "-o", "m.toml"], "--from: ''"),
    "two descriptions to stdout": (["calibrate", "--backend", "cuda", "-o", "-"], "-o: '-' cannot contain two"),
}


class BadArguments(CommandTest):
    def test_each_bad_argument_is_refused(self):
        for name, (arguments, quoted) in CASES.items():
            with self.subTest(name):
                self.assert_refused(arguments, quoted)

    def test_a_tile_of_the_suggested_size_fits(self):
        self.succeed("plan", "--gemm", "20000", "--tile", "5771", "--policy", "gemmex", "--topology", "two-gpu", "-o",
                     "plan.json")

    def test_outputs_keep_their_old_content(self):
        for name in ("result.json", "timeline.csv", "figure.svg"):
            self.write(name, OLD)
        outputs = ["--json", "result.json", "--timeline", "timeline.csv", "--gantt", "figure.svg"]
        self.assert_refused(problem(place="h:h:7") + outputs, "'7'")
        self.assert_refused(problem(set="order=0") + outputs, "0")

    def test_one_failing_output_leaves_all_outputs_unchanged(self):
        self.write("timeline.csv", OLD)
        outputs = ["--json", "/dev/full", "--timeline", "timeline.csv", "--gantt", "figure.svg"]
        self.assert_refused(["run", "--backend", "host", *SMALL, *outputs], "'/dev/full' cannot be written")

    def test_control_characters_of_the_input_do_not_break_the_line(self):
        self.assert_refused(problem(topology="two\ngpu\x1b[31m.toml"), "two\\x0agpu\\x1b[31m.toml")

    # "this build has no CUDA backend" or "this machine has no CUDA device"
    def test_the_cuda_backend_is_hardware_that_is_absent(self):
        self.assert_refused(["run", "--backend", "cuda", *SMALL], "no CUDA ", code=3, CUDA_VISIBLE_DEVICES="")


if __name__ == "__main__":
    unittest.main()
