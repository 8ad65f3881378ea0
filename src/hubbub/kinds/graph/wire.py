"""A graph release in exact JSON and back: everything about it that is public, so that it can be derived again."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import CheckFailed, HubbubError
from hubbub.graphs.statistics import Size, Statistic
from hubbub.guarantees.people import Whose
from hubbub.numeric.exact import to_text
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import Newer, agrees, restored

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec

_UNITS: Final = {Whose.VERTEX.value: False, Whose.EDGE.value: True}


def to_json(spec: GraphSpec) -> dict[str, Plain]:
    """The release as JSON."""
    return {
        "vertices": spec.size.vertices,
        "max_degree": spec.size.max_degree,
        "average_at_most": None if spec.average_at_most is None else to_text(spec.average_at_most),
        "of": [each.value for each in spec.of],
        "epsilon": to_text(spec.epsilon),
        "samples": spec.samples,
        "explores": spec.explores,
        "unit": spec.people.unit,
        "coverage": to_text(spec.coverage),
        "scales": [to_text(scale) for scale in spec.scales],
        **({"centred": True} if spec.centred else {}),
    }


def read(given: Any) -> GraphSpec:
    """The release that a description says, checked as if somebody had asked for it."""
    from hubbub.kinds.graph.spec import GraphSpec

    try:
        names = restored(tuple[str, ...], given["of"])
        unknown = set(names) - {each.value for each in Statistic}
        if unknown:
            raise Newer(f"{min(unknown)[:40]!r} is no statistic of a graph that this version knows; update Hubbub")
        spec = GraphSpec(
            size=Size(vertices=restored(int, given["vertices"]), max_degree=restored(int, given["max_degree"])),
            of=tuple(map(Statistic, names)),
            epsilon=restored(Fraction, given["epsilon"]),
            samples=restored(int | None, given["samples"]),
            explores=restored(int | None, given["explores"]),
            average_at_most=restored(Fraction | None, given["average_at_most"]),
            per_edge=_UNITS[given["unit"]],
            coverage=restored(Fraction, given["coverage"]),
            scales=restored(tuple[Fraction, ...], given["scales"]),
            centred=restored(bool, given.get("centred", False)),
        )
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    if not agrees(given, to_json(spec)):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    return spec
