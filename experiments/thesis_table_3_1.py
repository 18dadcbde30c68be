"""Thesis table 3.1: the link map's functions, by the example of three GPUs that its text gives.

GPU 0 to 1 at 1 GB/s, 0 to 2 at 3 GB/s and 2 to 1 at 4 GB/s: the copies from 0 to 1 go over 2 where one hop is allowed.
A lies on GPU 0, B and C on GPU 1, which computes with GPU 2. See docs/experiments.md.
"""

import json
import os
import tempfile

from harness import Outcome, Paper, beside_published, policy_of, run_experiment, save_text

NAME = "thesis_table_3_1"
LINKS = {("gpu0", "gpu1"): 1, ("gpu0", "gpu2"): 3, ("gpu2", "gpu1"): 4}  # GB/s, the same both ways
SIZE, TILE = 4096, 1024
HOPS = (0, 1)  # max-hops of the policy


def machine() -> str:
    """The three GPUs as a topology; what the thesis does not say is round."""
    text = 'schema = 1\nname = "three-gpus"\ndescription = "the example of thesis 3.2.2"\n'
    text += '[sources]\nexample = { kind = "assumed", text = "thesis 3.2.2: three links; the rest is round" }\n'
    text += '[[memory]]\nname = "host"\nkind = "host"\nsource = "example"\n'
    for gpu in range(3):
        text += (f'[[memory]]\nname = "gpu{gpu}"\nkind = "gpu"\ndevice = {gpu}\ncapacity = "16 GB"\nkernels = "round"\n'
                 'engines = { h2d = 1, d2h = 1, peer = 3 }\nwatts = { idle = "50 W", busy = "250 W" }\n'
                 'source = "example"\n')
        text += (f'[[link]]\nfrom = "host"\nto = "gpu{gpu}"\nbandwidth = "0.1 GB/s"\nlatency = "1 us"\nboth = true\n'
                 'source = "example"\n')
    for (src, dst), rate in LINKS.items():
        text += (f'[[link]]\nfrom = "{src}"\nto = "{dst}"\nbandwidth = "{rate} GB/s"\nlatency = "1 us"\nboth = true\n'
                 'source = "example"\n')
    return text + ('[kernels.round]\nlaunch = "10 us"\nmultiprocessors = 16\nblock = [128, 128]\nk_overhead = 0\n'
                   'memory_bandwidth = "1 TB/s"\nsource = "example"\n[[kernels.round.gemm]]\ndtype = "f64"\n'
                   'peak = "1 TFLOP/s"\nefficiency = [[1, 1.0]]\nsource = "example"\n')


def traffic(tilerail, path: str, hops: int) -> tuple[dict[tuple[str, str], float], float]:
    """Tiles that were copied, by link, and the makespan."""
    result = json.loads(tilerail.run(["simulate", "--gemm", str(SIZE), "--topology", path, "--place", "0:1:1",
                                      *policy_of("PARALiA", TILE), "--set", f"max-hops={hops}", "--json", "-"]))
    moved = {}
    for queue in result["queues"]:
        src, arrow, dst = queue["name"].split()[0].partition("->")
        if arrow:
            moved[src, dst] = moved.get((src, dst), 0.0) + queue["bytes"] / (8 * TILE**2)
    return moved, result["makespan_s"]


def study(tilerail, options) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        path = os.path.join(folder, "three-gpus.toml")
        save_text(path, machine())
        found = {hops: traffic(tilerail, path, hops) for hops in HOPS}
    pairs = sorted(set().union(*(moved for moved, _ in found.values())))
    rows = [[hops, *pair, f"{moved.get(pair, 0):g}", repr(seconds)] for hops, (moved, seconds) in found.items()
            for pair in pairs]
    direct = {hops: moved.get(("gpu0", "gpu1"), 0.0) for hops, (moved, _) in found.items()}
    findings = beside_published(NAME, {
        "share of the transfers of 0 to 1 over gpu2": 1 - direct[1] / direct[0] if direct[0] else 0.0})
    table = [["tiles copied", *(f"{src}->{dst}" for src, dst in pairs), "ms"]]
    table += [[f"max-hops={hops}", *(f"{moved.get(pair, 0):g}" for pair in pairs), f"{seconds * 1e3:.1f}"]
              for hops, (moved, seconds) in found.items()]

    def draw(figure):
        axes = figure.subplots()
        for number, (hops, (moved, _)) in enumerate(found.items()):
            axes.bar([place + (number - 0.5) * 0.4 for place in range(len(pairs))],
                     [moved.get(pair, 0) for pair in pairs], 0.4, label=f"{hops} hops allowed")
        axes.set_xticks(range(len(pairs)), [f"{src[3:]} to {dst[3:]}" if src != "host" else f"h to {dst[3:]}"
                                            for src, dst in pairs], fontsize=6)
        axes.tick_params(axis="y", labelsize=6)
        axes.set_ylabel("tiles copied", fontsize=6)
        axes.legend(fontsize=6)

    return Outcome("three GPUs, simulated", ["max_hops", "src", "dst", "tiles", "makespan_s"], rows, findings, [table],
                   draw)


PAPER = Paper(NAME, __doc__, study)

if __name__ == "__main__":
    run_experiment(PAPER.main)
