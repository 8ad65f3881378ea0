"""A release of a class of queries in exact JSON and back: everything about it that is public."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.errors import CheckFailed, HubbubError
from hubbub.kinds.histogram.wire import is_partition
from hubbub.numeric.exact import to_text
from hubbub.query_classes.choice import parameters
from hubbub.query_classes.choice import restored as method_of
from hubbub.query_classes.residual import OBJECTIVES, Residual
from hubbub.query_classes.table_method import TableMethod
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import agrees, plain, restored
from hubbub.tables.bins import Declared
from hubbub.tables.privacy_unit import Unit, within_bins

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries


def to_json(spec: Queries) -> dict[str, Plain]:
    """The release as JSON."""
    request = spec.request
    return {
        "bins": [plain(axis) for axis in request.axes],
        "class": request.of,
        "epsilon": to_text(request.epsilon),
        "delta": to_text(request.delta),
        "rows": request.rows,
        "people": request.people,
        "coverage": to_text(request.coverage),
        "method": parameters(spec.method),
        "loss": to_text(spec.loss),
        "bound": to_text(spec.bound),
        "unit": plain(spec.unit),
        "consistent": spec.consistent,
    }


def read(given: Any) -> Queries:
    """The release that a description says, checked as if somebody had asked for it."""
    from hubbub.kinds.queries.spec import Queries, QueryRequest, check_domain

    try:
        check_domain(restored(tuple[Declared, ...], given["bins"]))
        method = method_of(given["method"])
        spec = Queries(
            request=QueryRequest(
                axes=restored(tuple[Declared, ...], given["bins"]),
                of=restored(str, given["class"]),
                epsilon=restored(Fraction, given["epsilon"]),
                delta=restored(Fraction, given["delta"]),
                rows=restored(int | None, given["rows"]),
                people=restored(int | None, given["people"]),
                coverage=restored(Fraction, given["coverage"]),
                least=method.objective if isinstance(method, Residual) else OBJECTIVES[0],
                unit=restored(Unit, given["unit"]),
            ),
            method=method,
            loss=restored(Fraction, given["loss"]),
            bound=restored(Fraction, given["bound"]),
            consistent=restored(bool, given["consistent"]),
        )
        if spec.consistent and not isinstance(method, TableMethod):
            raise CheckFailed("a method without tables has none that agree; get the original certificate")
        fits = spec.request.queries.name == spec.request.of and spec.unit == within_bins(spec.unit, spec.request.axes)
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    axes = spec.request.axes
    if not fits or not axes or len({axis.column for axis in axes}) != len(axes) or not all(map(is_partition, axes)):
        raise CheckFailed("the domain of the description is none; get the original certificate")
    if not agrees(given, to_json(spec)):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    return spec
