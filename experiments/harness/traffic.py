"""The copies of a product over each link, and the similarity of two products' copies."""

import dataclasses

Pair = tuple[str, str]  # names of source and destination


@dataclasses.dataclass
class Traffic:
    """Traffic over one link. A transfer over several links counts on each, with its part of the time."""

    transfers: int = 0
    bytes: float = 0.0
    busy_s: float = 0.0

    def add(self, moved: float, seconds: float) -> None:
        self.transfers, self.bytes, self.busy_s = self.transfers + 1, self.bytes + moved, self.busy_s + seconds


@dataclasses.dataclass(frozen=True)
class Run:
    """The transfers of one DGEMM."""

    place: str
    name: str
    measured: bool
    seconds: float  # makespan, or first start to last end of transfers
    links: dict[Pair, Traffic]

    @property
    def transfers(self) -> int:
        return sum(link.transfers for link in self.links.values())

    @property
    def bandwidth(self) -> float:
        """GB/s: all bytes / the sum of copy times."""
        return sum(link.bytes for link in self.links.values()) / sum(link.busy_s for link in self.links.values()) / 1e9


def count(run: Run, kind: str) -> int:
    """Number of transfers of a kind: from the host, to the host, or between GPUs."""
    return sum(link.transfers for pair, link in run.links.items() if kind_of(pair) == kind)


def kind_of(pair: Pair) -> str:
    return "from the host" if pair[0] == "host" else "to the host" if pair[1] == "host" else "between GPUs"


def as_traced(run: Run, traced: Run) -> Run:
    """Restricts a run to kinds of transfers in the trace: BLASX's trace has no transfers to the host."""
    kinds = {kind_of(pair) for pair in traced.links}
    return dataclasses.replace(run, links={pair: link for pair, link in run.links.items() if kind_of(pair) in kinds})


def same_pairs(run: Run, traced: Run) -> float:
    """The share of transfers with the same links in both."""
    common = sum(min(run.links[pair].transfers, link.transfers) for pair, link in traced.links.items()
                 if pair in run.links)
    return common / max(run.transfers, traced.transfers)
