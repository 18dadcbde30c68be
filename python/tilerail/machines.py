"""Machines: memories, processors and the links between them."""

from __future__ import annotations

import os
import warnings
from html import escape
from typing import TYPE_CHECKING

from . import _core
from .errors import InputError
from .frames import of_native, table_of_native
from .texts import Value, instance_of, path_of, shown, text_of, texts_of, utf8

if TYPE_CHECKING:
    import pandas


class Machine:
    """A described machine. Immutable: changes give another machine."""

    def __init__(self, native: _core.Machine):
        self._native = native

    name: str = of_native("name", "As in its file.")
    processors: list[str] = of_native("processors", 'Names of the GPUs by number, then of cores that compute ("cpu0").')
    links: pandas.DataFrame = table_of_native(
        "links", "A row for each direction of a link: name, from, to, bandwidth_bytes_per_s, latency_s.")
    groups: pandas.DataFrame = table_of_native(
        "groups", "A row for each group of links that share a bound: name, links, capacity_bytes_per_s, "
                  "both_busy_bytes_per_s (both directions busy); NaN: unbounded.")
    memories: pandas.DataFrame = table_of_native(
        "memories", 'A row for each memory: name, kind ("host", "gpu"), processor (or ""), capacity_bytes (NaN: '
                    "unbounded).")

    def set(self, key: str, value: Value) -> Machine:
        """The machine with another figure: ``set("link:host<->*.bandwidth", "x2")``, ``set("gpus", 4)``.

        ``key``: a key of ``tilerail simulate --topo-set`` (docs/formats.md#settings): ``link:FROM->TO.bandwidth``,
        ``.latency``; ``group:NAME.capacity``; ``memory:NAME.capacity``; ``kernels:NAME.rate``; ``issue.per_op``;
        ``gpus``; ``name``. Values have a unit ("50 GB/s", "2 us") or are factors ("x2", "x0.5"). Raises InputError.
        """
        key = utf8(instance_of(key, str, "key", "a text"), "key")
        return Machine(self._native.changed([f"{key}={text_of(value, key)}"]))

    def without(self, link: str) -> Machine:
        """The machine without these links: ``without("link:gpu0<->gpu1")``. Raises InputError."""
        return self.set(link, "none")

    def to_toml(self) -> str:
        """The machine file (docs/formats.md#topology)."""
        return self._native.to_toml()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the machine file, replacing an existing one as a whole. Raises InputError."""
        _core.write_file(path_of(path, "path"), self.to_toml())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self._native.hash() == other._native.hash()

    def __hash__(self) -> int:
        return hash(self._native.hash())

    def __reduce__(self):
        return _machine_of, (self.to_toml(), self.name)

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {', '.join(self.processors)}>"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.name)}</b>{self.memories._repr_html_()}"


def _machine_of(toml: str, name: str) -> Machine:
    return Machine(_core.read_machine(toml, name))


class Machines:
    """``tilerail.machine``: finds and makes machines."""

    def __call__(self, name: str | os.PathLike | Machine) -> Machine:
        """The machine of a file, or of a shipped name such as "hgx-h200". Raises InputError with the names."""
        if isinstance(name, Machine):
            return name
        if not isinstance(name, (str, os.PathLike)):
            raise InputError("machine", shown(name), expected="a machine, its name or its file")
        return Machine(_core.load_machine(path_of(name, "machine")))

    def names(self) -> list[str]:
        """The shipped machines, and those in the folder of $TILERAIL_TOPOLOGIES."""
        return _core.machine_names()

    def new(self, *, gpus: int, kernels: str, name: str | None = None, sockets: int = 1, islands: int = 1,
            per_uplink: int = 1, pcie: Value | None = None, nvlink: Value | None = None,
            bridge: Value | None = None, host_memory: Value | None = None,
            socket_link: Value | None = None) -> Machine:
        """A machine that does not exist, as ``tilerail topo new`` makes it.

        Rates are of one direction, in GB/s or with a unit. ``kernels``: the kind of GPU, such as "h200".
        ``pcie``: a generation, 3 to 7, or a rate of 16 lanes. ``islands``: NVLink islands of equal size, joined by
        ``bridge``. ``per_uplink``: GPUs behind one PCIe switch. Raises InputError.
        """
        return Machine(_core.design_machine(texts_of(dict(
            gpus=gpus, kernels=kernels, name=name, sockets=sockets, islands=islands, per_uplink=per_uplink, pcie=pcie,
            nvlink=nvlink, bridge=bridge, host_memory=host_memory, socket_link=socket_link))))

    def import_(self, *, kernels: str, nvidia_smi: str | os.PathLike | None = None,
                nccl: str | os.PathLike | None = None, nvbandwidth: str | os.PathLike | None = None,
                p2p: str | os.PathLike | None = None, name: str | None = None, pcie: Value | None = None,
                nvlink: Value | None = None, c2c: Value | None = None, host_memory: Value | None = None,
                socket_link: Value | None = None) -> Machine:
        """The machine that the output of another tool describes, as ``tilerail topo import`` makes it.

        One file: the output of ``nvidia-smi topo -m``, of NCCL (NCCL_TOPO_DUMP_FILE), of ``nvbandwidth -j`` or of
        p2pBandwidthLatencyTest. ``kernels``: the kind of GPU, such as "h200". The other arguments are figures that the
        file lacks: rates of one direction, in GB/s or with a unit. Raises InputError; warns of unused data of the file.
        """
        files = dict(nvidia_smi=nvidia_smi, nccl=nccl, nvbandwidth=nvbandwidth, p2p=p2p)
        paths = {tool: path_of(file, tool) for tool, file in files.items() if file is not None}
        native, notes = _core.import_machine(paths | texts_of(dict(
            kernels=kernels, name=name, pcie=pcie, nvlink=nvlink, c2c=c2c, host_memory=host_memory,
            socket_link=socket_link)))
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return Machine(native)

    def from_toml(self, text: str, name: str = "text") -> Machine:
        """The machine of a machine file's text; ``name`` is its place in errors. Raises InputError."""
        return _machine_of(utf8(instance_of(text, str, "text", "a text"), "text"), text_of(name, "name"))


machine = Machines()
