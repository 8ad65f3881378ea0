"""Answers are worked out once, and whoever asks too early is told so."""

from __future__ import annotations

import os
import time
from functools import partial
from threading import Event

import pytest

from hubbub.errors import WrongUse
from hubbub.studio.answers import Answers, soon


@pytest.fixture
def answers() -> Answers:
    return Answers()


def test_a_number_is_worked_out_once(answers: Answers) -> None:
    asked: list[int] = []
    for _ in range(3):
        assert answers.answer("key", lambda: asked.append(1) or 7, soon(5)).value == 7  # type: ignore[func-returns-value]
    assert asked == [1]
    answers.close()


def test_whoever_asks_too_early_is_told_so_and_asks_again(answers: Answers) -> None:
    done = Event()
    assert answers.answer("key", lambda: done.wait(20), soon(0)).waiting
    done.set()
    assert answers.answer("key", lambda: done.wait(20), soon(5)).value is True
    answers.close()


def test_a_refusal_is_an_answer(answers: Answers) -> None:
    def refuse() -> int:
        raise WrongUse("not so")

    found = answers.answer("key", refuse, soon(5))
    assert not found.waiting
    assert str(found.error) == "not so"
    answers.close()


def _until(answers: Answers, key: str, work: partial[object]) -> object:
    for _ in range(2000):
        found = answers.answer(key, work, soon(), slow=True)
        if not found.waiting:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not end")


def test_what_is_slow_is_done_beside_and_a_death_there_is_survived(answers: Answers) -> None:
    first = _until(answers, "pid", partial(os.getpid))
    assert getattr(first, "value") != os.getpid()  # noqa: B009
    wrong = _until(answers, "death", partial(os._exit, 1))
    assert "could not be worked out here" in str(getattr(wrong, "error"))  # noqa: B009
    answers.close()


def test_of_several_slow_ones_the_last_counts(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "_background", lambda self: self._hands)
    gate = Event()
    begun: list[str] = []

    def work(name: str) -> str:
        begun.append(name)
        gate.wait(20)
        return name

    for name in ("a", "b", "c", "d", "e"):  # two hands: a and b begin, c and d are dropped
        answers.answer(name, partial(work, name), soon(), slow=True)
        while name in "ab" and name not in begun:
            time.sleep(0.01)
    gate.set()
    assert answers.answer("e", partial(work, "e"), soon(5)).value == "e"
    assert begun == ["a", "b", "e"]
    answers.close()
