"""The method with the least error, chosen from public numbers alone, and what the others would have done.

Of unbiased answers to the cells of tables and to intervals the mean square is known beforehand, and the method with the least of it is taken. Of other classes, and where a method that looks at the data has the smallest
bound, the bound decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final, cast

from hubbub.errors import WrongUse
from hubbub.query_classes import boosting, residual, small_databases, split_tables, square_root, tree, weights
from hubbub.query_classes.classes import MOST_NAMED, MOST_TABLES
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.setting import Method, Setting, check_method, mean_square
from hubbub.query_classes.split_tables import SplitTables
from hubbub.runtime.frozen import dataclass

MAKERS: Final[Mapping[str, Callable[[Setting], Method]]] = {
    "per-query": lambda setting: PerQuery(),
    "histogram": lambda setting: Flat(),
    "tree": tree.best,
    "mwem": weights.best,
    "small-database": small_databases.best,
    "boosting": boosting.best,
    "residual": residual.best,
    "split-tables": lambda setting: SplitTables(),
    "square-root": square_root.best,
    "joint-tables": split_tables.best,
}
"""Every method by its name, with the parameters that have the smallest bound."""


@dataclass(frozen=True)
class Offer:
    """What a method would do: its bound in people that it sees, or why it cannot be used."""

    name: str
    method: Method | None = None
    bound: Fraction | None = None
    why_not: str = ""
    mean_square: float | None = None  # of its answers, where that is known beforehand


def offers(setting: Setting) -> tuple[Offer, ...]:
    """Every method, the best first; those that cannot be used last. It sees public numbers alone."""
    found = []
    for name, make in MAKERS.items():
        method = make(setting)
        why = method.why_not(setting)
        if why:
            found.append(Offer(name, why_not=why))
            continue
        square = mean_square(method, setting)
        found.append(Offer(name, method, method.error_bound(setting), mean_square=square))
    found.sort(key=lambda each: (each.bound is None, each.bound or 0))
    if found[0].mean_square is not None:
        found.sort(key=lambda each: (each.mean_square is None, each.mean_square or 0))  # the others stay in their order
    return tuple(found)


def choose_method(setting: Setting, name: str | None = None) -> Method:
    """The method of that name, or the one with the least error."""
    if name is not None:
        if name not in MAKERS:
            raise WrongUse(f"there is no method {name[:40]!r}; there are {', '.join(MAKERS)}")
        method = MAKERS[name](setting)
        check_method(method, setting)
        return method
    first = offers(setting)[0]
    if first.method is None:
        why = next(each.why_not for each in offers(setting) if each.name == Flat.name)
        raise WrongUse(
            f"no method can answer {setting.queries.name} of this domain; the nearest is the {Flat.name}, and {why}: "
            "declare coarser bins, or fewer columns"
        )
    return first.method


def parameters(method: Method) -> dict[str, Any]:
    """Its name and what it was given, for JSON."""
    given = {each.name: getattr(method, each.name) for each in fields(cast(Any, method))}
    return {"name": method.name} | {name: list(one) if isinstance(one, tuple) else one for name, one in given.items()}


def restore_method(given: Mapping[str, Any]) -> Method:
    """The method that was written down."""
    match dict(given):
        case {"name": "per-query", **rest} if not rest:
            return PerQuery()
        case {"name": "split-tables", **rest} if not rest:
            return SplitTables()
        case {"name": "joint-tables", "measured": [*measured], "parts": [*parts], **rest} if not rest:
            is_text = all(isinstance(each, str) and re.fullmatch(r"\d{1,3}(\+\d{1,3})*", each) for each in measured)
            if is_text and len(parts) <= MOST_NAMED and all(type(each) is int for each in parts):
                return split_tables.JointTables(tuple(measured), tuple(parts))
        case {"name": "histogram", **rest} if not rest:
            return Flat()
        case {"name": "tree", "branching": int(b), "shares": [*parts], **rest} if not rest and 2 <= b <= 1024:
            if len(parts) <= 64 and all(type(each) is int and 0 < each <= tree.MOST_SHARE for each in parts):
                return tree.Tree(b, tuple(parts))
        case {"name": "square-root", "delta": str(delta), "variance": str(variance), **rest} if not rest:
            return square_root.SquareRoot(delta, variance)
        case {"name": "mwem", "rounds": int(t), **rest} if not rest and 1 <= t <= 10_000:
            return weights.Weights(t)
        case {"name": "small-database", "size": int(m), **rest} if not rest and 1 <= m <= 10**6:
            return small_databases.SmallDatabase(m)
        case {
            "name": "boosting",
            "rounds": int(t),
            "draws": int(k),
            "size": int(m),
            "within": int(low),
            "ramp": int(more),
            **rest,
        } if not rest and 3 <= t <= 99 and t % 2 and 1 <= k <= boosting.MOST_DRAWS and 1 <= m <= 10**6:
            if 0 <= low <= 10**18 and 1 <= more <= 10**18:
                return boosting.Boosting(t, k, m, low, more)
        case {
            "name": "residual",
            "delta": str(delta),
            "variances": [*several],
            "weights": [*weights_],
            **rest,
        } if not rest:
            texts = (*several, *weights_)
            if len(texts) <= 2 * MOST_TABLES and all(isinstance(each, str) for each in texts):
                return residual.Residual(delta, tuple(several), tuple(weights_))
    raise WrongUse("the method is none that is known; update Hubbub")
