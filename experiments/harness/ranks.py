"""Quantiles, and rankings of alternatives by predictions; definitions as in `tilerail compare`."""

import math


def quantile(values: list[float], share: float) -> float:
    """The element of rank floor(share n), from 0, of the sorted values."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def kendall_tau(a: list[float], b: list[float]) -> float:
    """Kendall's tau-b: 1 for equal orders of the alternatives, -1 for opposite orders; 0 if one list is all ties.
    Source: Kendall, Rank Correlation Methods, chapter 3."""
    agree = pairs_a = pairs_b = 0  # concordant minus discordant pairs; pairs without ties
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            in_a, in_b = (a[i] > a[j]) - (a[i] < a[j]), (b[i] > b[j]) - (b[i] < b[j])
            agree += in_a * in_b
            pairs_a += in_a != 0
            pairs_b += in_b != 0
    return agree / math.sqrt(pairs_a * pairs_b) if pairs_a and pairs_b else 0.0


def regret(predicted: list[float], measured: list[float]) -> float:
    """Measured time of the alternative with the least predicted time / least measured time - 1."""
    return measured[predicted.index(min(predicted))] / min(measured) - 1
