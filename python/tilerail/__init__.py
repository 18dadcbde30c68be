"""TileRail: dense linear algebra on machines with many GPUs, planned, simulated and executed.

    import tilerail as tr
    machine = tr.machine("hgx-h200").set("link:host<->*.bandwidth", "x2")
    result = tr.simulate(tr.gemm("16K"), machine)
    result.makespan, result.bottleneck, result.timeline

The native part is loaded by its first use, matplotlib by the first use of ``tilerail.plot``.
"""

from importlib import import_module

_HOME = {
    "errors": ("ExecutionError", "HardwareError", "InputError"),
    "machines": ("Machine", "machine"),
    "problems": ("Problem", "axpy", "dot", "gemv"),
    "plans": ("Comparison", "Plan", "Result", "compare", "load_plan", "plan", "run", "simulate"),
    "studies": ("calibrate", "sweep", "whatif"),
    "products": ("gemm", "Gemm"),
    "_core": ("__version__",),
    "plot": ("plot",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [name for name in _MODULE if not name.startswith("_")]


def __getattr__(name: str):
    if name not in _MODULE:
        raise AttributeError(f"module 'tilerail' has no attribute {name!r}")
    module = import_module("." + _MODULE[name], __name__)
    value = module if name == "plot" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
