"""What the conformance suite looks at where exact numbers meet a mechanism: how far one person moves them, and whether
what is drawn keeps the promise.

::

    moved        how far two exact inputs are apart, in all
    experiment   many draws of everything that a measurement draws, from the exact inputs of one table
    exactly_within  whether exact laws, where they are known, keep the promise
    refuted      whether two tables that a promise calls neighbours can be told apart by more than it allows
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, permutations, product
from typing import Any

import numpy as np

from hubbub.audit import blackbox
from hubbub.channels.divergence import hockey_stick
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.kinds.histogram.mechanism import Bins
from hubbub.kinds.summary.mechanism import LabelledRows
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.numeric.exact import Infinite, Loss, ball
from hubbub.protocol.measurement import Mechanism, Rehearsal
from hubbub.protocol.spec import Spec
from hubbub.tables.bins import all_labels
from hubbub.tables.engine import ExactCounts, Joint
from hubbub.tables.kept_rows import KeptRows

RUNS = 500
CONFIDENCE = "0.999999"  # so that sixty honest kinds all pass in all but one run of the suite of ten thousand

Call = tuple[Mechanism[Any], Any]


def calls(spec: Spec, data: Any) -> list[Call]:
    """Every mechanism that a measurement runs, with its exact input."""
    rehearsal = Rehearsal(ScriptedSource.from_label("calls"))
    spec.measure(data, rehearsal)
    return rehearsal.calls


def moved(one: Sequence[Call], two: Sequence[Call]) -> int:
    """How far all exact inputs of two tables are apart, in whole numbers, added up."""
    assert [mechanism for mechanism, _ in one] == [mechanism for mechanism, _ in two], "another mechanism"
    total = 0
    for (_, first), (_, second) in zip(one, two, strict=True):
        apart = _cells(first)
        apart.subtract(_cells(second))
        total += sum(abs(each) for each in apart.values())
    return total


def _cells(exact: Any) -> Counter[Any]:
    """An exact input as numbers by cell."""
    match exact:
        case ExactCounts():
            return Counter(
                dict(zip(zip(exact.codes.tolist(), *exact.found, strict=True), map(int, exact.counts), strict=True))
            )
        case Joint():
            places = zip(*(codes.tolist() for codes in exact.codes), strict=True)
            return Counter(dict(zip(places, map(int, exact.counts), strict=True)))
        case KeptRows():  # people by what their rows are
            rows = zip(exact.person.tolist(), *(codes.tolist() for codes in exact.codes), strict=True)
            return Counter(tuple(sorted(row[1:] for row in own)) for _, own in groupby(rows, key=lambda row: row[0]))
        case LabelledRows():  # the same by the labels of bins, which are numbered anew in every table
            labels = list(product(*map(all_labels, exact.axes)))
            found = Counter[Any]()
            for key, n in _cells(exact.exact).items():
                each = (key,) if isinstance(exact.exact, Joint) else key
                found[tuple((labels[at] if at >= 0 else None, *values) for at, *values in each)] += n
            return found
        case Mapping():
            return Counter({key: int(n) for key, value in exact.items() for key, n in _each(key, value)})
    return Counter(dict(_each("", exact)))


def _each(key: Any, value: Any) -> Iterator[tuple[Any, int]]:
    if isinstance(value, int):
        yield key, value
    else:
        yield from (((key, i), int(n)) for i, n in enumerate(np.asarray(value).tolist()))


def claims(spec: Spec, people: int) -> Iterator[tuple[Loss, Fraction]]:
    """What the promises to the people of a table so small say about one person of it: (epsilon, delta)."""
    for step in spec.table_promises():
        match step.conclusion:
            case DifferentialPrivacy(epsilon=epsilon, delta=delta):
                yield epsilon, delta
            case CrowdBlending(k=k, epsilon=epsilon) if k > people:
                yield epsilon, Fraction(0)  # nobody is in a crowd, so each must be hidden by epsilon


def exactly_within(spec: Spec, one: Sequence[Call], two: Sequence[Call], people: int) -> bool | None:
    """Whether the exact laws of two neighbouring tables are as close as is promised; None where they are not known.

    Every declared bin of a histogram is drawn by itself from the channel's law of its count, so two tables are as far
    apart as the laws of the one bin in which they differ (up to the mass, below 1e-30, that a table of a law leaves out).
    """
    if len(one) != 1:
        return None
    [(mechanism, first)], [(_, second)] = one, two
    if not isinstance(mechanism, Bins) or mechanism.spec.has_found_bins or mechanism.spec.sample is not None:
        return None
    apart = _cells(first)
    apart.subtract(_cells(second))
    counts = [max(_cells(first)[cell], _cells(second)[cell]) for cell, n in apart.items() if n]
    channel = mechanism.spec.channel
    return all(
        bool(hockey_stick(here, there, epsilon) <= ball(delta + here.missing + there.missing))
        for epsilon, delta in claims(spec, people)
        if not isinstance(epsilon, Infinite)
        for count in counts
        for here, there in permutations(channel.neighbours(count))
    )


def experiment(found: Sequence[Call]) -> Callable[[int], list[object]]:
    """So many fresh draws of everything, as numbers where each draw has as many."""
    source, names = SystemSource(), dict[str | None, int]()

    def once() -> object:
        drawn = []
        for mechanism, exact in found:
            for column in mechanism.draw(exact, source).columns:
                for value in column.to_pylist():
                    drawn.append(value if isinstance(value, int) else names.setdefault(value, len(names)))
        return tuple(drawn)

    def several(n: int) -> list[object]:
        outcomes = [once() for _ in range(n)]
        return outcomes if len({len(each) for each in outcomes}) == 1 and outcomes[0] else list(map(str, outcomes))  # type: ignore[arg-type]

    return several


def refuted(spec: Spec, one: Sequence[Call], two: Sequence[Call], people: int) -> str | None:
    """The sentence of an attack that succeeded; None if none did.

    Size: a kind that keeps its promise is accused with probability at most 1 - CONFIDENCE for each of its promises.
    Power: with 500 runs, losing 3 where 1 is promised is found nearly always, and an exact number always (the
    witnesses beside the suite show both).
    """
    for epsilon, delta in claims(spec, people):
        found = blackbox.compare(
            experiment(one), experiment(two), epsilon=epsilon, delta=delta, runs=RUNS, confidence=CONFIDENCE
        )
        if found.is_refuted:
            return found.sentence()
    return None
