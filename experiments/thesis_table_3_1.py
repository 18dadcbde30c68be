"""Thesis table 3.1: the link map's functions, by the example of three GPUs that its text gives.

GPU 0 to 1 at 1 GB/s, 0 to 2 at 3 GB/s and 2 to 1 at 4 GB/s: copies from 0 to 1 go over 2 if one hop is allowed. A is on
GPU 0, B and C are on GPU 1, which computes with GPU 2. With 2 GB/s from 0 to 1, arithmetic separates the two rules for
hops: with added times, 1/3 + 1/4 > 1/2, the hop does not pay; with the narrowest link it does. See docs/experiments.md.
"""

import json
import os
import tempfile

from harness import Finding, Outcome, Paper, Value, beside_published, policy_of, run_experiment, save_text

NAME = "thesis_table_3_1"
HOP_LINKS = {("gpu0", "gpu2"): 3, ("gpu2", "gpu1"): 4}  # GB/s, the same in both directions
PRINTED, WIDER = 1, 2  # GB/s from GPU 0 to 1: as printed, and for different rules
SIZE, TILE = 4096, 1024
CASES = [(PRINTED, 0, "bottleneck"), (PRINTED, 1, "bottleneck"), (PRINTED, 1, "added"), (WIDER, 0, "bottleneck"),
         (WIDER, 1, "bottleneck"), (WIDER, 1, "added")]  # GB/s, max-hops and hop-rule of the policy


def machine(straight: int) -> str:
    """The three GPUs as a topology, with round values for anything missing in the thesis."""
    text = 'schema = 1\nname = "three-gpus"\ndescription = "the example of thesis 3.2.2"\n'
    text += '[sources]\nexample = { kind = "assumed", text = "thesis 3.2.2: three links; the rest is round" }\n'
    text += '[[memory]]\nname = "host"\nkind = "host"\nsource = "example"\n'
    for gpu in range(3):
        text += (f'[[memory]]\nname = "gpu{gpu}"\nkind = "gpu"\ndevice = {gpu}\ncapacity = "16 GB"\nkernels = "round"\n'
                 'engines = { h2d = 1, d2h = 1, peer = 3 }\nwatts = { idle = "50 W", busy = "250 W" }\n'
                 'source = "example"\n')
        text += (f'[[link]]\nfrom = "host"\nto = "gpu{gpu}"\nbandwidth = "0.1 GB/s"\nlatency = "1 us"\nboth = true\n'
                 'source = "example"\n')
    for (src, dst), rate in {("gpu0", "gpu1"): straight, **HOP_LINKS}.items():
        text += (f'[[link]]\nfrom = "{src}"\nto = "{dst}"\nbandwidth = "{rate} GB/s"\nlatency = "1 us"\nboth = true\n'
                 'source = "example"\n')
    return text + ('[kernels.round]\nlaunch = "10 us"\nmultiprocessors = 16\nblock = [128, 128]\nk_overhead = 0\n'
                   'memory_bandwidth = "1 TB/s"\nsource = "example"\n[[kernels.round.gemm]]\ndtype = "f64"\n'
                   'peak = "1 TFLOP/s"\nefficiency = [[1, 1.0]]\nsource = "example"\n')


def traffic(tilerail, path: str, hops: int, rule: str) -> tuple[dict[tuple[str, str], float], float]:
    """Copied tiles by link, and the makespan."""
    result = json.loads(tilerail.run(["simulate", "--gemm", str(SIZE), "--topology", path, "--place", "0:1:1",
                                      *policy_of("PARALiA", TILE), "--set",
                                      f"routing=link-map(max-hops={hops},rule={rule})", "--json", "-"]))
    moved = {}
    for queue in result["queues"]:
        src, arrow, dst = queue["name"].split()[0].partition("->")
        if arrow:
            moved[src, dst] = moved.get((src, dst), 0.0) + queue["bytes"] / (8 * TILE**2)
    return moved, result["makespan_s"]


def study(tilerail, options) -> Outcome:
    found = {}
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        for case in CASES:
            straight, hops, rule = case
            path = os.path.join(folder, f"{straight}.toml")
            save_text(path, machine(straight))
            found[case] = traffic(tilerail, path, hops, rule)
    pairs = sorted(set().union(*(moved for moved, _ in found.values())))
    rows = [[*case, *pair, f"{moved.get(pair, 0):g}", repr(seconds)] for case, (moved, seconds) in found.items()
            for pair in pairs]

    def over_gpu2(straight: int, rule: str) -> float:
        """The share of the transfers from GPU 0 to 1 that go over GPU 2."""
        before, after = (found[straight, hops, by][0].get(("gpu0", "gpu1"), 0.0)
                         for hops, by in ((0, "bottleneck"), (1, rule)))
        return 1 - after / before if before else 0.0

    findings = beside_published(NAME, {
        "share of the transfers of 0 to 1 over gpu2": over_gpu2(PRINTED, "bottleneck")})
    for rule, share in (("bottleneck", 1.0), ("added", 0.0)):
        found_by_rule = Value(f"the same at {WIDER} GB/s, rule={rule}", "by arithmetic", share, share, "0.01", "%")
        findings.append(Finding(found_by_rule, over_gpu2(WIDER, rule)))
    names = {case: f"{case[0]} GB/s, " + (f"1 hop, {case[2]}" if case[1] else "no hop") for case in CASES}
    table = [["tiles copied", *(f"{src}->{dst}" for src, dst in pairs), "ms"]]
    table += [[names[case], *(f"{moved.get(pair, 0):g}" for pair in pairs), f"{seconds * 1e3:.1f}"]
              for case, (moved, seconds) in found.items()]

    def draw(figure):
        axes = figure.subplots()
        width = 0.8 / len(found)
        for number, (case, (moved, _)) in enumerate(found.items()):
            axes.bar([place + (number - (len(found) - 1) / 2) * width for place in range(len(pairs))],
                     [moved.get(pair, 0) for pair in pairs], width, label=names[case])
        axes.set_xticks(range(len(pairs)), [f"{src[3:]} to {dst[3:]}" if src != "host" else f"h to {dst[3:]}"
                                            for src, dst in pairs], fontsize=6)
        axes.tick_params(axis="y", labelsize=6)
        axes.set_ylabel("tiles copied", fontsize=6)
        axes.legend(fontsize=5)

    columns = ["gb_per_s", "max_hops", "hop_rule", "src", "dst", "tiles", "makespan_s"]
    return Outcome("three GPUs, simulated", columns, rows, findings, [table], draw)


PAPER = Paper(NAME, __doc__, study, quick_is_whole=True)

if __name__ == "__main__":
    run_experiment(PAPER.main)
