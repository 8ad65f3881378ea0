"""Numbers that cannot be, settled: the nearest ones of at least 0 with a given sum, in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence


def settled(numbers: Sequence[int], scale: int, total: int) -> list[int]:
    """Whole numbers of at least 0 that add up to `total`, near numbers/scale.

    The point of the simplex nearest to them: the same is taken from each, and what would go below 0 stays there. Then
    each is rounded down, and the largest remainders, the first of equals, are rounded up.

    >>> settled([50, -20, 25, 4], 10, 6)
    [4, 0, 2, 0]
    """
    if not total or not numbers:
        return [0] * len(numbers)
    order = sorted(range(len(numbers)), key=lambda i: (-numbers[i], i))
    wanted, sums, best = total * scale, 0, (0, 1)
    for many, i in enumerate(order, 1):
        sums += numbers[i]
        if numbers[i] * many <= sums - wanted:  # this one would end below 0, and so would all after it
            break
        best = (sums - wanted, many)  # what is taken from each, as a fraction
    taken, many = best
    whole, rest = [], []
    for number in numbers:
        left = max(number * many - taken, 0)
        down, more = divmod(left, many * scale)
        whole.append(down)
        rest.append(more)
    missing = total - sum(whole)
    for i in sorted(range(len(numbers)), key=lambda i: (-rest[i], i))[:missing]:
        whole[i] += 1
    return whole
