"""Published values with their tolerances, our values, and verdicts."""

import dataclasses
import pathlib

from .program import Failure
from .tables import read_table

REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "reference"
WORDS = {True: "within", False: "outside"}
SHOWN_WIDTHS = 3  # half widths shown on each side of a band's middle
NO_EFFECT = {"x": 1.0, "gain": 0.0}  # by unit: the value without any gain
MOST_OF_EFFECT = 0.5


@dataclasses.dataclass(frozen=True)
class Value:
    """A paper's value, from `low` to `high` (equal for one figure), or our target, from 0 on. The band extends by
    `tolerance` on both sides (a share of the value if it ends in %), but at most by half of the effect: so it never
    contains "no effect" (a factor of 1, a gain of 0), unless the paper prints it."""

    name: str
    where: str  # in the paper
    low: float
    high: float
    tolerance: str
    unit: str  # x: factor, %: share as 0.01, gain: gained share, else written behind the figure

    def band(self) -> tuple[float, float]:
        return self.low - self._widened_by(self.low), self.high + self._widened_by(self.high)

    def _widened_by(self, edge: float) -> float:
        """The width of the band beyond this end of the printed range."""
        share = self.tolerance.endswith("%")
        width = float(self.tolerance[:-1]) / 100 * abs(edge) if share else float(self.tolerance)
        nothing = NO_EFFECT.get(self.unit)
        if nothing is None or self.low <= nothing <= self.high:
            return width
        return min(width, MOST_OF_EFFECT * abs(edge - nothing))

    @property
    def is_share(self) -> bool:
        return self.unit in ("%", "gain")

    @property
    def digits(self) -> int:
        """As many as printed, at least 3; 3 for measured values with more than 5."""
        return self._digits_within(3, 1e-9 * abs(self.high), (self.low, self.high)) or 3

    def text(self, value: float, digits: int | None = None) -> str:
        digits = digits or self.digits
        if self.is_share:
            return f"{value:.{digits - 2}%}"
        number = f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
        return number + ("x" if self.unit == "x" else f" {self.unit}" if self.unit else "")

    def allowed(self) -> str:
        """The band, rounded by little of its width; "-" for a target."""
        low, high = self.band()
        if self.where == "target":
            return "-"
        digits = self._digits_within(self.digits, 0.2 * (high - low), (low, high)) or 6
        if self.is_share:
            return f"{self.text(low, digits)}..{self.text(high, digits)}"
        return f"{self.text(low, digits).removesuffix('x').split()[0]}..{self.text(high, digits)}"

    def _digits_within(self, least: int, most_off: float, values: tuple[float, float]) -> int | None:
        """The fewest digits, from `least` to 5, that change no value by more than `most_off`."""
        def rounded(value: float, digits: int) -> float:
            return float(self.text(value, digits).split()[0].rstrip("x%")) / (100 if self.is_share else 1)

        return next((digits for digits in range(least, 6)
                     if all(abs(rounded(value, digits) - value) <= most_off for value in values)), None)

    def published(self) -> str:
        if self.where == "target":
            return f"<= {self.text(self.high)}" if self.low == 0 else f">= {self.text(self.low)}"
        return self.text(self.low) if self.low == self.high else f"{self.text(self.low)} to {self.text(self.high)}"


@dataclasses.dataclass(frozen=True)
class Finding:
    """`fitted`: the value was used to fit the simulation, so agreement is not evidence."""

    value: Value
    ours: float
    fitted: bool = False

    @property
    def within(self) -> bool:
        low, high = self.value.band()
        return low <= self.ours <= high

    def distance(self) -> float:
        """Distance from the middle of the band in half widths: up to 1 is within. Exact values have a half width of 1 %.
        For a target: distance from the optimum, which is no error, or all of a share."""
        low, high = self.value.band()
        if self.value.where == "target":
            return self.ours / high if low == 0 else (1 - self.ours) / (1 - low or 0.01)
        return (self.ours - (low + high) / 2) / ((high - low) / 2 or 0.01 * abs(high))

    def cells(self) -> list[str]:
        value = self.value
        ours = value.text(self.ours)
        if not self.within and ours in (value.text(edge) for edge in value.band()):
            ours = value.text(self.ours, value.digits + 2)  # more digits, to show that it is beyond the edge
        return [value.name, value.where, "fitted" if self.fitted else "-", value.published(), value.allowed(), ours,
                WORDS[self.within]]


def target(name: str, most: float, ours: float, fitted: bool = False) -> Finding:
    """A quantity with an upper limit, such as an error."""
    return Finding(Value(name, "target", 0.0, most, "0", "%"), ours, fitted)


def share_target(name: str, least: float, ours: float) -> Finding:
    """A share with a lower limit."""
    return Finding(Value(name, "target", least, 1.0, "0", "%"), ours)


def read_published(experiment: str) -> dict[str, Value]:
    """The published values of an experiment, by name."""
    values = {}
    columns = ["experiment", "name", "where", "low", "high", "tolerance", "unit"]
    for row in read_table(REFERENCE / "published.csv", columns)[1]:
        if row["experiment"] == experiment:
            values[row["name"]] = Value(row["name"], row["where"], row.number("low"), row.number("high"),
                                        row["tolerance"], row["unit"])
    if not values:
        raise Failure(f"reference/published.csv: has no values of '{experiment}'")
    return values


def beside_published(experiment: str, ours: dict[str, float], fitted=lambda name: False) -> list[Finding]:
    """A finding for each published value that `ours` has; fitted(name) returns whether it is fitted."""
    return [Finding(value, ours[name], fitted(name)) for name, value in read_published(experiment).items()
            if name in ours]


FINDING_HEAD = ["value", "where", "fitted", "published", "within", "ours", "verdict"]


def verdict(findings: list[Finding]) -> str:
    """One sentence."""
    if not findings:
        return "There is nothing to compare."
    met = sum(each.within for each in findings)
    text = f"{met} of {len(findings)} values are within their tolerance{_fitted_text(findings)}"
    if met == len(findings):
        return text + "."
    far = max(findings, key=lambda each: abs(each.distance()))
    return (f"{text}; the farthest is {far.value.name}: {far.value.text(far.ours)} for {far.value.published()} "
            f"({far.value.where}).")


def _fitted_text(findings: list[Finding]) -> str:
    """The number of fitted values, and how many of them are within."""
    fitted = [each.within for each in findings if each.fitted]
    return f" (fitted: {sum(fitted)} of {len(fitted)})" if fitted else ""


def draw_findings(axes, findings: list[Finding], most: int = 24) -> None:
    """A line per finding: the green band of its tolerance has the same width for all; values outside are red."""
    shown = findings if len(findings) <= most else sorted(findings, key=lambda each: -abs(each.distance()))[:most]
    axes.axvspan(-1, 1, color="#d8efd3", linewidth=0)
    axes.axvline(0, color="#8ab17d", linewidth=0.8)
    for line, each in enumerate(reversed(shown)):
        place = max(-SHOWN_WIDTHS, min(SHOWN_WIDTHS, each.distance()))
        axes.plot([place], [line], "o", ms=4, color="#2a9d8f" if each.within else "#d62828")
        axes.text(SHOWN_WIDTHS * 1.06, line, f"{each.value.text(each.ours)} for {each.value.published()}", fontsize=6,
                  va="center")
    axes.set_yticks(range(len(shown)), [each.value.name for each in reversed(shown)], fontsize=6)
    axes.set_xlim(-SHOWN_WIDTHS * 1.03, SHOWN_WIDTHS * 1.03)
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_xticks([-1, 1], ["", ""])
    left_out = len(findings) - len(shown)
    axes.set_title("ours, and the tolerance (green)" + (f"; {left_out} nearer ones left out" if left_out else ""),
                   fontsize=7)
