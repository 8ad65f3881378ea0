"""A verdict is taken apart, never asked whether it is true."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict

VERDICTS: tuple[Verdict, ...] = (Proved("W1"), Refuted("too large", (("count", "3"),)), Undecided("out of time"))


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda v: type(v).__name__)
def test_no_verdict_is_true_or_false(verdict: Verdict) -> None:
    for ask in (bool, lambda v: not v, lambda v: v and 1):
        with pytest.raises(TypeError, match="neither true nor false; use match"):
            ask(verdict)


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda v: type(v).__name__)
def test_verdicts_are_frozen_values(verdict: Verdict) -> None:
    assert verdict in set(VERDICTS)
    with pytest.raises(FrozenInstanceError):
        setattr(verdict, fields(verdict)[0].name, "another")
    assert not hasattr(verdict, "__dict__")


def test_match_tells_them_apart() -> None:
    told = []
    for verdict in VERDICTS:
        match verdict:
            case Proved(reason):
                told.append(f"yes: {reason}")
            case Refuted(reason, witness):
                told.append(f"no: {reason} at {dict(witness)['count']}")
            case Undecided(why):
                told.append(f"perhaps: {why}")
    assert told == ["yes: W1", "no: too large at 3", "perhaps: out of time"]
