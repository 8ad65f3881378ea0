"""The door to entropy: nothing is given twice, to nobody, and only the real thing counts as secure."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hubbub.errors import CheckFailed, WrongUse
from hubbub.noise import source as door
from hubbub.noise.source import (
    BUFFER_WORDS,
    Record,
    RecordingSource,
    ReplaySource,
    ScriptedSource,
    Source,
    SystemSource,
    Words,
    is_secure,
)

if TYPE_CHECKING:
    from _typeshed import TraceFunction

SHARE = BUFFER_WORDS // 8
SIZES = (1, 2, 3, 1, SHARE - 1, 5, SHARE, 1, SHARE + 1, *(SHARE,) * 9, 3 * BUFFER_WORDS, 7, 0, 1)
"""Out of the buffer, past its end and beside it, so that every path hands over to every other."""


def draw(source: Source, sizes: tuple[int, ...] = SIZES) -> Words:
    return np.concatenate([source.words(n) for n in sizes])


def repeats(*draws: Words) -> int:
    """Words that occur twice. Among 2**18 uniform words there is one with probability below 2**-29."""
    everything = np.concatenate(draws)
    return everything.size - np.unique(everything).size


class Keys:
    """Stands in for the operating system: counts what it is asked for, and gives known keys."""

    def __init__(self) -> None:
        self.given: list[bytes] = []

    def urandom(self, n: int) -> bytes:
        self.given.append(bytes([len(self.given) + 1]) * n)
        return self.given[-1]


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Keys:
    stand_in = Keys()
    monkeypatch.setattr("hubbub.noise.source.os.urandom", stand_in.urandom)
    return stand_in


def keystream(key: bytes, n: int) -> Words:
    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return np.frombuffer(encryptor.update(bytes(8 * n)), dtype=np.uint64)


# --- SystemSource -----------------------------------------------------------------------------------------------


def test_no_seed_can_be_given() -> None:
    assert list(inspect.signature(SystemSource).parameters) == []
    assert not [name for name in dir(SystemSource) if "seed" in name]


def test_words_have_the_asked_number_and_type() -> None:
    source = SystemSource()
    for n in SIZES:
        words = source.words(n)
        assert words.shape == (n,)
        assert words.dtype == np.uint64
        assert words.flags.writeable


def test_no_word_is_given_twice() -> None:
    source = SystemSource()
    assert repeats(draw(source), draw(source), draw(SystemSource())) == 0


def test_a_repeat_is_noticed() -> None:
    words = draw(SystemSource())
    assert repeats(words, words[5:6]) == 1


def test_every_word_of_the_keystream_is_given_at_most_once_and_none_is_made_up(keys: Keys) -> None:
    given = draw(SystemSource())
    assert len(keys.given) == 1
    assert repeats(given) == 0
    assert np.isin(given, keystream(keys.given[0], 2 * given.size)).all()


def test_what_was_given_is_wiped() -> None:
    source = SystemSource()
    words = source.words(100)
    left = source._here.buffer
    made = left.base
    assert made is not None
    assert words.all()
    assert not made[:100].any()
    assert made[100:].all()
    assert left.size == BUFFER_WORDS - 100
    words[:] = 0  # the caller's array is the caller's: writing to it changes nothing to come
    assert source.words(100).all()


def test_a_key_is_replaced_before_it_has_made_too_much(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "REKEY_BYTES", 3 * 8 * BUFFER_WORDS)
    source = SystemSource()
    for _ in range(9 * BUFFER_WORDS // 1024):
        source.words(1024)
    assert len(keys.given) == 3
    large = source.words(7 * BUFFER_WORDS)
    assert len(keys.given) == 6
    assert (large[: 3 * BUFFER_WORDS] == keystream(keys.given[3], 3 * BUFFER_WORDS)).all()
    assert (large[3 * BUFFER_WORDS : 6 * BUFFER_WORDS] == keystream(keys.given[4], 3 * BUFFER_WORDS)).all()
    assert (large[6 * BUFFER_WORDS :] == keystream(keys.given[5], BUFFER_WORDS)).all()


def test_ones_and_zeros_are_balanced_in_every_bit() -> None:
    # Size: 64 two-sided tests at 8 standard deviations, below 64 * 2e-15. A bit stuck or copied from a buffer of zeros
    # is off by hundreds.
    n, deviations = 1 << 18, 8.0
    words = SystemSource().words(n)
    for bit in range(64):
        ones = int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1)))
        distance = abs(ones - n / 2) / (n**0.5 / 2)
        assert distance < deviations, f"bit {bit}: n = {n}, {distance:.1f} standard deviations, allowed {deviations}"


FORK = textwrap.dedent(
    """
    import os
    from hubbub.noise.source import SystemSource

    source = SystemSource()
    source.words(3)  # parent and child now hold the same buffer and the same key

    def child():
        read, write = os.pipe()
        if os.fork() == 0:
            # A child of the child too, and requests on both sides of the buffer.
            lines = [source.words(4), source.words(10_000)[:4]]
            if os.fork() == 0:
                lines = [source.words(4)]
                os.write(write, "".join(f"{word}\\n" for line in lines for word in line).encode())
                os._exit(0)
            os.wait()
            os.write(write, "".join(f"{word}\\n" for line in lines for word in line).encode())
            os._exit(0)
        os.close(write)
        os.wait()
        with os.fdopen(read) as lines:
            return lines.read()

    print(child() + child(), *source.words(4), *source.words(10_000)[:4], sep="\\n")
    """
)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_forked_children_and_their_parent_draw_different_words() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    words = done.stdout.split()
    assert len(words) == 2 * 12 + 8
    assert len(set(words)) == len(words)


def test_a_signal_handler_that_draws_gets_words_of_its_own() -> None:
    # A handler may run between any two lines. A trace function runs between every two, and draws.
    source = SystemSource()
    taken: list[Words] = []
    given: list[Words] = []

    def interrupt(frame: FrameType, event: str, arg: object) -> TraceFunction | None:
        if frame.f_code not in (SystemSource.words.__code__, SystemSource._make.__code__):
            return None
        if event == "line":
            taken.append(source.words(SHARE))
        return interrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        for n in (1, 100, SHARE, 300, SHARE + 1, 7, SHARE):
            given.append(source.words(n))
    finally:
        sys.settrace(before)
    assert len(taken) > 30
    assert repeats(*taken, *given) == 0


@pytest.mark.parametrize("clue", ["a new process number", "a fork that Python saw"])
def test_either_clue_of_a_fork_brings_a_new_key(keys: Keys, monkeypatch: pytest.MonkeyPatch, clue: str) -> None:
    source = SystemSource()
    before = source.words(4)
    if clue == "a new process number":
        monkeypatch.setattr("hubbub.noise.source.os.getpid", lambda: -1)
    else:
        monkeypatch.setattr(door, "_forks", door._forks + 1)
    after = source.words(4)
    assert len(keys.given) == 2
    assert repeats(before, after) == 0


def test_threads_share_no_keystream(keys: Keys) -> None:
    source, many = SystemSource(), 8
    together = threading.Barrier(many)
    given: list[Words] = []

    def run() -> None:
        together.wait()
        given.append(draw(source))

    threads = [threading.Thread(target=run) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys.given) == many
    assert repeats(*given) == 0


def test_a_copy_starts_with_a_key_of_its_own() -> None:
    source = SystemSource()
    draws = [source.words(4)]
    copies = [copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))]
    draws += [each.words(4) for each in (*copies, source)]
    assert repeats(*draws) == 0


@pytest.mark.parametrize("source", [SystemSource(), ScriptedSource(), RecordingSource(SystemSource())])
def test_a_negative_number_of_words_is_refused(source: Source) -> None:
    with pytest.raises(WrongUse, match="at least 0"):
        source.words(-1)


# --- ScriptedSource ---------------------------------------------------------------------------------------------


def test_a_script_says_that_it_is_for_tests_alone() -> None:
    assert (ScriptedSource.__doc__ or "").startswith("FOR TESTS ALONE")


def test_a_script_plays_its_words_and_then_says_so() -> None:
    source = ScriptedSource([5, 0, 2**64 - 1])
    assert source.words(2).tolist() == [5, 0]
    assert source.words_left == 1
    with pytest.raises(WrongUse, match=r"script .* is over: 2 words were asked for and 1 of 3"):
        source.words(2)
    assert source.words(1).tolist() == [2**64 - 1]


def test_a_label_always_makes_the_same_script_and_another_label_another() -> None:
    one, same = ScriptedSource.from_label("a"), ScriptedSource.from_label("a")
    assert (draw(one) == same.words(sum(SIZES))).all()
    assert repeats(draw(ScriptedSource.from_label("a")), draw(ScriptedSource.from_label("b"))) == 0


def test_a_script_may_go_on_with_a_label() -> None:
    given = ScriptedSource([7, 8], then="a").words(4)
    assert given[:2].tolist() == [7, 8]
    assert (given[2:] == ScriptedSource.from_label("a").words(2)).all()


# --- recording and replaying ------------------------------------------------------------------------------------


def test_a_replay_gives_the_recorded_words() -> None:
    recording = RecordingSource(SystemSource())
    given = [recording.words(n) for n in SIZES]
    record = recording.record
    assert record.sizes == SIZES
    for words in given:
        words[:] = 0  # what the caller does with its words does not reach the record
    replay = ReplaySource(record)
    again = [replay.words(n) for n in SIZES]
    assert replay.is_used_up
    assert all(words.flags.writeable for words in again)
    assert [words.tobytes() for words in again] == list(record.requests)
    assert repeats(*again) == 0


def test_a_replay_refuses_another_size_and_more_requests() -> None:
    recording = RecordingSource(ScriptedSource([1, 2, 3]))
    recording.words(3)
    replay = ReplaySource(recording.record)
    with pytest.raises(CheckFailed, match="request 1 is for 2 words and the recording has 3"):
        replay.words(2)
    assert replay.words(3).tolist() == [1, 2, 3]
    with pytest.raises(CheckFailed, match="request 2 for 3 words is beyond the recording"):
        replay.words(3)


def test_a_record_is_frozen_and_keeps_its_words_out_of_messages() -> None:
    recording = RecordingSource(ScriptedSource([0x4142434445464748]))
    recording.words(1)
    record = recording.record
    assert "A" not in repr(record)
    assert record == Record(record.requests)
    with pytest.raises(AttributeError):
        record.requests = ()  # type: ignore[misc]


# --- what a release accepts -------------------------------------------------------------------------------------


class Fast(SystemSource):
    """Looks secure to isinstance."""

    __slots__ = ()

    def words(self, n: int) -> Words:
        return np.zeros(n, dtype=np.uint64)


@pytest.mark.parametrize(
    ("source", "secure"),
    [
        (SystemSource(), True),
        (RecordingSource(SystemSource()), True),
        (RecordingSource(RecordingSource(SystemSource())), True),
        (ScriptedSource.from_label("a"), False),
        (RecordingSource(ScriptedSource.from_label("a")), False),
        (ReplaySource(Record(())), False),
        (Fast(), False),
        (RecordingSource(Fast()), False),
    ],
)
def test_only_the_systems_entropy_is_secure(source: Source, secure: bool) -> None:
    assert is_secure(source) is secure
