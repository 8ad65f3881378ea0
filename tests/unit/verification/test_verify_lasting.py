"""A certificate outlives the words and the bounds of the program that wrote it, and no bound that nobody has."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.implications import subsampled_curve
from hubbub.kinds.histogram import promises
from hubbub.numeric.exact import rational, to_text
from hubbub.sampling import amplification
from hubbub.serialization.exact_json import plain
from hubbub.verification import verify
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import Saved, sign


def forget() -> None:
    """Derive anew: another version has no memory of this one's answers."""
    promises.promises.cache_clear()
    amplification.epsilon_at.cache_clear()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A later version: whatever is patched is forgotten before and after."""
    forget()
    with monkeypatch.context() as patch:
        yield patch
    forget()


@pytest.fixture
def sampled(tmp_path: Path) -> Saved:
    return Saved(tmp_path, {"crowd": 20, "sample": "0.05"})


def epsilons(steps: tuple[Derivation, ...]) -> list[Fraction]:
    return [step.conclusion.epsilon for step in steps]  # type: ignore[union-attr, misc]


def reworded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promises, "PARTITION", replace(promises.PARTITION, sentence="everybody knows how people are divided"))
    patch.setattr(promises, "EVERY_BIN", replace(promises.EVERY_BIN, sentence="no bin is left out"))
    card = ExactOrSuppressed.card
    said = replace(card.statement, name="small counts hidden", source="a book")
    patch.setattr(ExactOrSuppressed, "card", replace(card, statement=said))


def sharpened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(amplification, "DIGITS", amplification.DIGITS + 1)


def test_better_words_leave_a_certificate_as_good_as_it_was(sampled: Saved, later: pytest.MonkeyPatch) -> None:
    reworded(later)
    done = verify(sampled.data)
    assert done.passed, wrong(done)
    assert "everybody knows how people are divided" in done.assumptions
    assert any("small counts hidden" in check.what for check in done.checks)
    assert not any(check.found.startswith("follows: ") for check in done.checks)


def test_a_sharper_bound_leaves_a_certificate_standing_and_says_so(sampled: Saved, later: pytest.MonkeyPatch) -> None:
    reworded(later)
    sharpened(later)
    done = verify(sampled.data)
    assert done.passed, wrong(done)
    then, now = epsilons(sampled.made.promises)[1:], epsilons(done.promises)[1:]
    assert all(sharp <= old < sharp * (1 + Fraction(1, 10**7)) for old, sharp in zip(then, now, strict=True))
    notes = [check.found for check in done.checks if check.found.startswith("follows: ")]
    assert len(notes) == sum(sharp < old for old, sharp in zip(then, now, strict=True)) == 2
    assert all("is derived today, which promises more" in note for note in notes)


def test_a_bound_that_nobody_has_fails(sampled: Saved, forger: Path) -> None:
    """One unit in the last digit less than can be derived."""
    for number in range(1, len(sampled.body["guarantees"])):
        body = deepcopy(sampled.body)
        promise: dict[str, Any] = body["guarantees"][number]["promise"]
        promise["epsilon"] = to_text(rational(promise["epsilon"]) - Fraction(1, 10**10))
        assert wrong(verify(sign(forger, body))).endswith("and does not follow from that")
        promise["epsilon"] = to_text(rational(promise["epsilon"]) + Fraction(2, 10**10))
        assert verify(sign(forger, body)).passed


def test_a_bound_of_a_later_version_is_not_believed_by_this_one(
    sampled: Saved, forger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    with monkeypatch.context() as patch:
        sharpened(patch)
        new = Saved(tmp_path / "new", {"crowd": 20, "sample": "0.05"})
    forget()
    assert "it works out to" in wrong(verify(new.data))


def test_a_promise_that_is_left_out_or_there_twice_or_out_of_its_order_fails(sampled: Saved, forger: Path) -> None:
    """Each of these held once it was signed anew."""
    body, every = sampled.body, sampled.body["guarantees"]
    first, *rest = every
    for others in ([first], rest, every[::-1], [first, *every], [*every, every[-1]], [first["premises"], *rest], []):
        assert not verify(sign(forger, body | {"guarantees": others})).passed
    inner = deepcopy(rest[0])
    inner["premises"] = [first, first]
    assert "other premises" in wrong(verify(sign(forger, body | {"guarantees": [first, inner, *rest[1:]]})))


def test_a_promise_without_a_field_or_spelt_otherwise_fails(sampled: Saved, forger: Path) -> None:
    """Nothing false is said by that, and Hubbub never writes it."""
    changed = 0
    for number, step in enumerate(sampled.body["guarantees"]):
        for name, value in step["promise"].items():
            body = deepcopy(sampled.body)
            del body["guarantees"][number]["promise"][name]
            assert not verify(sign(forger, body)).passed, name
            if isinstance(value, str) and name in ("epsilon", "delta"):
                for other in (f" {value}", f"0{value}", f"{value}0" if "." in value else f"{value}.0"):
                    body["guarantees"][number]["promise"][name] = other
                    assert not verify(sign(forger, body)).passed, other
                    changed += 1
    assert changed > 10


def test_a_promise_that_is_derived_only_since_may_be_missing(
    sampled: Saved, forger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, every = sampled.body, sampled.body["guarantees"]
    monkeypatch.setattr("hubbub.verification.promises.ADDED", frozenset({every[1]["theorem"]}))
    assert verify(sampled.data).passed
    assert verify(sign(forger, body | {"guarantees": [every[0], *every[2:]]})).passed
    assert not verify(sign(forger, body | {"guarantees": [every[0], *every[1:], every[1]]})).passed


def test_a_rougher_theorem_of_before_is_believed_and_no_less_than_it_proves(
    tmp_path: Path, forger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if warped noise on a sample had got its own theorem after it was published."""
    made = Saved(tmp_path / "warped", {"outlier": "slope:0.1<=1", "sample": "0.1"})
    body = deepcopy(made.body)
    own = body["guarantees"][0]
    rough = subsampled_curve(read("slope:0.1<=1").curve, Fraction(1, 10))
    assert own["theorem"] == "sampled.curve-warped"
    own["theorem"] = "sampled.curve"
    own["promise"] = plain(OutlierPrivacy(curve=rough))
    assert "which is not used here" in wrong(verify(sign(forger, body)))
    monkeypatch.setattr("hubbub.verification.promises.SHARPENED", {"sampled.curve-warped": "sampled.curve"})
    assert verify(sign(forger, body)).passed
    own["promise"] = plain(OutlierPrivacy(curve=rough.times(Fraction(1, 2))))
    assert "does not follow" in wrong(verify(sign(forger, body)))


def test_a_theorem_that_is_not_used_is_not_believed(sampled: Saved, forger: Path) -> None:
    body = deepcopy(sampled.body)
    body["guarantees"][0]["theorem"] = "channel.before"
    assert "'channel.before', which is not used here" in wrong(verify(sign(forger, body)))


@pytest.mark.parametrize("form", ["hubbub certificate 0", "hubbub certificate 2", "hubbub certificate 10", "", None, 1])
def test_a_certificate_of_another_format_is_refused_before_anything_else(
    form: object, sampled: Saved, forger: Path
) -> None:
    done = verify(sign(forger, sampled.body | {"format": form}))
    assert not done.passed
    assert [check.what for check in done.checks] == ["canonical form", "format"]
    assert "this program reads 'hubbub certificate 1'" in wrong(done)


def test_a_field_that_is_left_out_has_no_default(sampled: Saved, forger: Path) -> None:
    """What is not said is not guessed: neither in a promise nor in the description of the release."""
    body = deepcopy(sampled.body)
    del body["guarantees"][1]["promise"]["group"]
    assert not verify(sign(forger, body)).passed
    body = deepcopy(sampled.body)
    del body["release"]["bins"][0]["reads"]
    assert "what was released" in wrong(verify(sign(forger, body)))


def test_what_holds_for_the_population_is_not_believed_of_the_table(tmp_path: Path, forger: Path) -> None:
    body = Saved(tmp_path, {"crowd": 20, "collected": "0.05"}).body
    for step in body["guarantees"]:
        if step["people"] == "population":
            changed = deepcopy(body)
            changed["guarantees"] = [step | {"people": "table"}]
            told = wrong(verify(sign(forger, changed)))
            assert "about other people than those it holds for, which are the population" in told
