"""While a slider moves: the promise, the expected error and what would be hidden, from public numbers alone.

Nothing here opens a table. What takes longer than a moment is worked out beside, and the page is told so.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from hubbub.certificate.explanation import crowd_sentence, meaning, title
from hubbub.errors import HubbubError
from hubbub.guarantees.definitions import ZeroKnowledge
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.promise_order import in_brief, requested_first
from hubbub.ledger.charge import charge
from hubbub.ledger.dry_run import DryRun, dry_run
from hubbub.plan import Planned
from hubbub.plan.error import Expected
from hubbub.plan.shape import Shape
from hubbub.protocol.bound import Bound
from hubbub.protocol.spec import TABLE, Kind, Spec
from hubbub.protocol.weakness import weaknesses
from hubbub.runtime.frozen import dataclass
from hubbub.studio.answers import Answer, soon
from hubbub.studio.app_state import AppState
from hubbub.studio.forms import invented
from hubbub.studio.forms.invented import Tried
from hubbub.studio.forms.shape import Stated, hoped
from hubbub.studio.frontier import picture
from hubbub.tables.identity import Identity
from hubbub.tables.schema import unnamed_person

_RATES = "0.05..0.25"


@dataclass(frozen=True, slots=True)
class PromiseText:
    """A promise in words: its title, what it means, and in numbers."""

    title: str
    meaning: str
    crowd: str
    numbers: str
    not_promised: str
    brief: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePreview:
    """What can be said of a release before it is made. What is None is not known, or is still being worked out."""

    bound: Bound
    promises: Answer[tuple[Derivation, ...]]
    expected: Answer[tuple[Shape, Expected] | str]
    dry_run: Answer[DryRun]
    frontier: Answer[str]
    tried: Answer[Tried | str] = field(default_factory=lambda: Answer(value="none"))
    weak: tuple[str, ...] = ()  # what has to be confirmed

    @property
    def waiting(self) -> bool:
        return any(each.waiting for each in (self.promises, self.expected, self.dry_run, self.frontier, self.tried))

    @property
    def promise_texts(self) -> tuple[PromiseText, ...]:
        """The promises in words, the one that was asked for first."""
        return tuple(map(text_of_promise, requested_first(self.promises.value or ())))


def text_of_promise(step: Derivation) -> PromiseText:
    """A promise in words."""
    explanation = meaning(step.conclusion, step.people)
    crowd = " ".join(filter(None, (explanation.crowd, crowd_sentence(step))))
    whom = "" if step.people is None else f", for {step.people}"
    return PromiseText(
        title(step.conclusion),
        explanation.promised,
        crowd,
        f"{step.conclusion}{whom}",
        explanation.not_promised,
        in_brief(step.conclusion),
    )


def live_preview(
    app_state: AppState,
    kind: Kind,
    options: Mapping[str, Any],
    stated: Stated,
    dataset: str,
    source: Identity | None,
    schema: Any,
) -> LivePreview:
    """All of it, as far as a moment goes. Raises if the words ask for nothing that can be made of such columns."""
    until = soon()
    bound = kind.ask(**options).bind(schema)
    spec = bound.spec
    key: Hashable = (kind.name, *sorted((name, _fixed(value)) for name, value in options.items()))
    promises = app_state.answers.answer(("promises", key), lambda: bound.promises, until)
    if promises.error is not None:
        raise promises.error
    expected = app_state.answers.answer(("expected", key, stated), lambda: hoped(spec, stated) or "none", until)
    known = Identity() if source is None else source
    spent: Answer[DryRun] = _tried(lambda: dry_run(app_state.open_ledger, dataset, charge(bound), source=known))
    frontier: Answer[str] = Answer(value="")
    if promises.value is not None:
        target = _aim(spec, promises.value, stated)
        if target is not None:
            here = _here(spec, expected)
            found = app_state.answers.answer(
                ("plan", *sorted(target.items())), partial(_plan, target), until, slow=True
            )
            frontier = Answer(error=found.error) if found.error else Answer()
            if found.value is not None:
                frontier = Answer(value=picture(found.value, here))
    weak = () if promises.value is None else weaknesses(bound, unnamed_person(schema))
    by_trying: Answer[Tried | str] = Answer(value="none")
    if kind.data == TABLE:
        question = partial(invented.expected, kind, dict(options), schema, stated.people, stated.shape)
        by_trying = app_state.answers.answer(("tried", key, stated), question, until)
    return LivePreview(
        bound=bound,
        promises=promises,
        expected=expected,
        dry_run=spent,
        frontier=frontier,
        tried=by_trying,
        weak=weak,
    )


def _tried(work: Any) -> Answer[Any]:
    try:
        return Answer(value=work())
    except HubbubError as error:
        return Answer(error=error)


def _fixed(value: Any) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def _here(spec: Spec, expected: Answer[tuple[Shape, Expected] | str]) -> tuple[float, float] | None:
    rate = getattr(spec, "sample", None)
    if rate is None or not isinstance(expected.value, tuple):
        return None
    return float(rate), expected.value[1].error


def _plan(target: Mapping[str, Any]) -> Planned:
    from hubbub import plan

    return plan.release(target["want"], **{name: value for name, value in target.items() if name != "want"})


def _aim(spec: Spec, promises: tuple[Derivation, ...], stated: Stated) -> dict[str, Any] | None:
    """What a plan is asked for, so that it reaches what this release promises; None for other kinds of release."""
    from fractions import Fraction

    from hubbub.guarantees.curve import Curve
    from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, OutlierPrivacy
    from hubbub.numeric.exact import rounded, to_text

    axes = getattr(spec, "axes", None)
    if not axes:
        return None
    table = stated.table(axes)
    target: dict[str, Any] = {"people": table.people, "bins": table.bins, "shape": stated.shape}
    knowledge = next((step.conclusion for step in promises if isinstance(step.conclusion, ZeroKnowledge)), None)
    first = promises[0].conclusion
    if knowledge is not None and isinstance(knowledge.epsilon, Fraction):
        epsilon = to_text(rounded(knowledge.epsilon, up=True, digits=2))
        return {
            **target,
            "want": "zero-knowledge",
            "epsilon": epsilon,
            "delta": to_text(knowledge.delta),
            "rate": _RATES,
        }
    if isinstance(first, CrowdBlending):
        return {**target, "want": "crowd-blending", "k": first.k, "epsilon": "1"}
    if isinstance(first, OutlierPrivacy) and isinstance(first.curve, Curve):
        return {**target, "want": "outlier", "curve": str(first.curve)}
    if isinstance(first, DifferentialPrivacy) and isinstance(first.epsilon, Fraction) and not first.delta:
        return {**target, "want": "differential", "epsilon": to_text(first.epsilon)}
    return None
