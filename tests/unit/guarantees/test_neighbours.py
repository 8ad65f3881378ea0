"""Which data sets a promise compares: every promise says it, and no rule leads from one relation to another unsaid."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from types import ModuleType
from typing import Any, get_args

import pytest

from hubbub import channels, guarantees, sampling
from hubbub.errors import HubbubError, Refused
from hubbub.guarantees.accountant.advanced_composition import (
    differential_beforehand,
    differential_of_sums,
    differential_so_far,
)
from hubbub.guarantees.accountant.odometer import EXPONENTS
from hubbub.guarantees.accountant.sampled_counts import JointLoss
from hubbub.guarantees.composition import differential
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import (
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    ExplorationSample,
    Guarantee,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    TwoSamples,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import TO_REPLACE, Derivation, Theorem, state_promise
from hubbub.guarantees.implications import weaken
from hubbub.guarantees.neighbours import check_number, one_relation
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.survey import PoissonSurvey
from hubbub.ledger.admission import Entered, Planned, Total, Totals, UnderCap, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.running_total import running_total_of

ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE
ONE, SMALL, HALF = Fraction(1), Fraction(1, 10**6), Fraction(1, 2)
SOME, EACH = RandomSample(k=10, n=100), BernoulliSample(p=Fraction(1, 10))

EXAMPLES: dict[Guarantee, Neighbours] = {
    DifferentialPrivacy(epsilon=ONE): ADD_REMOVE,
    DifferentialPrivacy(epsilon=ONE, delta=SMALL): ADD_REMOVE,
    DifferentialPrivacy(epsilon=ONE, neighbours=REPLACE): REPLACE,
    ZeroKnowledge(epsilon=ONE, aggregate=SOME): REPLACE,
    ZeroKnowledge(epsilon=ONE, aggregate=EACH): REPLACE,
    ZeroKnowledge(epsilon=ONE, aggregate=TwoSamples(each=EACH, some=SOME)): REPLACE,
    ZeroKnowledge(epsilon=ONE, aggregate=ExplorationSample(k=3, s=4)): REPLACE,
    ConcentratedPrivacy(rho=HALF): ADD_REMOVE,
    CrowdBlending(k=20, epsilon=HALF): ADD_REMOVE,
    OutlierPrivacy(curve=flat(ONE)): ADD_REMOVE,
    TailoredPrivacy(curve=flat(ONE)): ADD_REMOVE,
    SimpleOutlier(k=20, epsilon=HALF): ADD_REMOVE,
    SimpleOutlier(k=20, epsilon=HALF, differential=True): ADD_REMOVE,
    StaircaseOutlier(thresholds=(10,), epsilons=(ONE, HALF)): ADD_REMOVE,
    OutlierGroup(k=5, size=2, epsilon=ONE): ADD_REMOVE,
    DistributionalPrivacy(epsilon=ONE, sample=EACH): ADD_REMOVE,
}


def test_every_notion_says_which_data_it_compares() -> None:
    assert {type(each) for each in EXAMPLES} == set(get_args(Guarantee))
    assert {each: each.neighbours for each in EXAMPLES} == EXAMPLES


def test_the_words_that_are_signed_stay() -> None:
    assert [each.value for each in Neighbours] == ["add/remove", "replace"]
    assert [each.number_is_public for each in Neighbours] == [False, True]


# --- every rule -------------------------------------------------------------------------------------------------------

VALUES: dict[str, Any] = {
    "k": 10,
    "n": 100,
    "group": 3,
    "size": 2,
    "p": Fraction(1, 10),
    "sample": EACH,
    "aggregate": RandomSample(k=50, n=100),
    "at_delta": SMALL,
    "grown": (ONE,) * len(EXPONENTS),
    "basic": Fraction(2),
    "same_partition": True,
    "delta": SMALL,
    "cap": Fraction(5),
    "more_delta": SMALL,
    "explores": 4,
    "loss": JointLoss(shift=HALF, width=HALF, rounding=SMALL, distance=HALF),
    "survey": PoissonSurvey(weight="w", largest=Fraction(10), step=ONE),
}
"""What the rules are asked beside their premises; the rest has defaults."""


def _rules() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function from promises to a promise, wherever it stands."""
    for package in (guarantees, channels, sampling):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield from _of(importlib.import_module(found.name))


def _of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, rule in vars(module).items():
        if name == "differential_exactly":  # takes an accountant, whose relation is a type of its own
            continue
        ours = inspect.isfunction(rule) and rule.__module__ == module.__name__ and not name.startswith("_")
        if ours and _premises(rule):
            yield f"{module.__name__}.{name}", rule


def _premises(rule: Callable[..., Any]) -> int:
    """On how many promises: 2 stands for any number."""
    wanted = [each for each in inspect.signature(rule).parameters.values() if each.annotation == "Derivation"]
    return 2 if any(each.kind is each.VAR_POSITIONAL for each in wanted) else len(wanted)


RULES = dict(_rules())


def _applied(rule: Callable[..., Any], premises: tuple[Derivation, ...]) -> tuple[Derivation, ...]:
    """What follows; nothing if that is refused."""
    words = {name: value for name, value in VALUES.items() if name in inspect.signature(rule).parameters}
    if "to" in inspect.signature(rule).parameters:
        words["to"] = DifferentialPrivacy(epsilon=Fraction(5), delta=HALF, neighbours=REPLACE)
    try:
        found = rule(*premises, **words)
    except HubbubError:
        return ()
    return found if isinstance(found, tuple) else (found,)


def _unsaid(step: Derivation) -> list[str]:
    """The steps of a derivation that change the relation without a theorem that says so."""
    return [
        str(each.theorem)
        for each in step.steps()
        for premise in each.premises
        if premise.conclusion.neighbours is not each.conclusion.neighbours and each.theorem.converts != TO_REPLACE
    ]


def _converts(step: Derivation) -> bool:
    return any(each.theorem.converts is not None for each in step.steps())


def test_all_rules_are_walked() -> None:
    names = {name.rpartition(".")[2] for name in RULES}
    assert {"differential", "compose", "person_by_person", "differential_of_sums", "sampled_differential"} <= names
    assert len(RULES) >= 36
    assert {name: _premises(rule) for name, rule in RULES.items() if not 1 <= _premises(rule) <= 2} == {}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_refuses_unlike_relations_or_names_the_theorem_that_converts(name: str) -> None:
    rule = RULES[name]
    answered = 0
    for given in product(EXAMPLES, repeat=_premises(rule)):
        for found in _applied(rule, tuple(state_promise(each) for each in given)):
            answered += 1
            assert _unsaid(found) == [], (given, str(found.conclusion))
            relations = {each.neighbours for each in given} | {found.conclusion.neighbours}
            assert len(relations) == 1 or _converts(found), (given, str(found.conclusion))
    always_refused = ("outlier_different_partitions", "crowd_blending")
    assert (answered == 0) == (name.rpartition(".")[2] in always_refused), "the rule was never tried on what it is for"


@pytest.mark.parametrize("under", [ADD_REMOVE, REPLACE])
def test_saying_less_keeps_the_relation(under: Neighbours) -> None:
    for strong in EXAMPLES:
        for weak in EXAMPLES:
            if strong.neighbours is not weak.neighbours:
                with pytest.raises(Refused):
                    weaken(state_promise(strong), to=weak)
    less = DifferentialPrivacy(epsilon=Fraction(2), neighbours=under)
    assert weaken(state_promise(DifferentialPrivacy(epsilon=ONE, neighbours=under)), to=less).conclusion == less


# --- the type itself --------------------------------------------------------------------------------------------------


def test_a_derivation_that_changes_the_relation_unsaid_cannot_be_written_down() -> None:
    """A new theorem that forgets about the relation fails where it is written, and not where somebody trusts it."""
    private, replaced = (DifferentialPrivacy(epsilon=ONE, neighbours=each) for each in (ADD_REMOVE, REPLACE))
    silent, said = Theorem("x", "x", "x"), Theorem("x", "x", "x", TO_REPLACE)
    for conclusion, premise in product((private, replaced), repeat=2):
        right = conclusion is premise
        for theorem in (silent, said):
            if right or (theorem is said and premise is private):
                Derivation(conclusion=conclusion, theorem=theorem, premises=(state_promise(premise),))
            else:
                with pytest.raises(Refused, match="does not lead from"):
                    Derivation(conclusion=conclusion, theorem=theorem, premises=(state_promise(premise),))


def test_nobody_comes_or_goes_where_the_vertices_stay() -> None:
    vertices = People(whose=Whose.VERTEX)
    state_promise(DifferentialPrivacy(epsilon=ONE, neighbours=REPLACE), people=vertices)
    with pytest.raises(Refused, match="comes or goes"):
        state_promise(DifferentialPrivacy(epsilon=ONE), people=vertices)


def test_an_enforced_number_refuses_every_promise_about_somebody_who_comes_or_goes() -> None:
    for promise, under in EXAMPLES.items():
        check_number([promise], None)
        if under is REPLACE:
            check_number([promise], 50)
        else:
            with pytest.raises(Refused, match="compares data with a person and without"):
                check_number([promise], 50)


def test_sums_of_unlike_promises_are_refused_by_all_theorems_of_many_releases() -> None:
    unlike = [state_promise(DifferentialPrivacy(epsilon=ONE, neighbours=each)) for each in Neighbours]
    sums = {"grown": VALUES["grown"], "basic": Fraction(2)}
    for rule, words in ((differential_beforehand, {}), (differential_so_far, {}), (differential_of_sums, sums)):
        with pytest.raises(Refused, match="one neighbouring relation"):
            rule(*unlike, at_delta=SMALL, **words)
    with pytest.raises(Refused, match="one neighbouring relation"):
        differential(*unlike)
    assert one_relation([each.conclusion for each in unlike[:1]], "it") is ADD_REMOVE


def test_a_sample_of_people_chosen_one_by_one_does_not_amplify_replacement() -> None:
    """The mechanism that publishes how many it got is 0-DP under replacement, and on the sample tells who came in."""
    for rule in (differential_beforehand, differential_so_far):
        added = state_promise(DifferentialPrivacy(epsilon=ONE))
        assert rule(added, added, at_delta=SMALL, rates=[HALF, ONE]).conclusion.neighbours is ADD_REMOVE
        swapped = state_promise(DifferentialPrivacy(epsilon=ONE, neighbours=REPLACE))
        assert rule(swapped, swapped, at_delta=SMALL).conclusion.neighbours is REPLACE
        with pytest.raises(Refused, match="under add/remove alone"):
            rule(swapped, swapped, at_delta=SMALL, rates=[HALF, ONE])


# --- the ledger -------------------------------------------------------------------------------------------------------


def _every(found: Totals) -> Iterator[Derivation]:
    for name in found.__dataclass_fields__:
        total = getattr(found, name)
        if isinstance(total, Planned):  # the exact law of them together, for one relation that it names
            assert (total.accountant is None) == bool(total.why)
            continue
        if isinstance(total, UnderCap):  # what is promised depends on the cap, which was fixed beforehand
            total = total.at(Fraction(5), SMALL)
        assert isinstance(total, Total)
        if total.derivation is not None:
            yield total.derivation


def _release(number: int, promise: Guarantee) -> Entered:
    return Entered(number=number, charge=Charge(what="x", promises=(promise,), partition="p"))


@pytest.mark.parametrize("first", EXAMPLES, ids=str)
def test_the_ledger_adds_up_unlike_relations_by_a_named_theorem_or_not_at_all(first: Guarantee) -> None:
    answered = 0
    for second in EXAMPLES:
        releases = [_release(1, first), _release(2, second)]
        for every in (releases, running_total_of(releases, 2).stand_ins):
            for found in _every(totals(every)):
                answered += 1
                assert _unsaid(found) == []
                under = {each.neighbours for each in (first, second)} | {found.conclusion.neighbours}
                assert every is not releases or len(under) == 1 or _converts(found)
    assert answered or isinstance(first, OutlierGroup | DistributionalPrivacy | TailoredPrivacy)


def test_two_steps_of_a_promise_are_told_by_the_theorem_that_makes_them() -> None:
    """What a release promises for one person replaced, beside an enforced number, follows; it is not stated."""
    swapped = _release(1, DifferentialPrivacy(epsilon=ONE, neighbours=REPLACE))
    added = _release(2, DifferentialPrivacy(epsilon=HALF))
    known = _release(3, ZeroKnowledge(epsilon=HALF, aggregate=SOME))
    found = totals([swapped, added, known]).replaced.derivation
    assert found is not None
    assert found.conclusion == DifferentialPrivacy(epsilon=Fraction(3), neighbours=REPLACE)
    assert [str(each.theorem.id) for each in found.premises] == [
        "release",
        "implied.add-remove-to-replace",
        "implied.zero-knowledge-to-differential",
    ]
