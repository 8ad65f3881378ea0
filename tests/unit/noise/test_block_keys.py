"""The secret of a release in parts: a stream for each block, the same wherever it is drawn, and gone afterwards."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise import source
from hubbub.noise.source import BlockKeys, BlockSource, RecordingSource, ScriptedSource, SystemSource, is_secure


def keys(label: str = "block keys") -> BlockKeys:
    return BlockKeys(ScriptedSource.from_label(label))


def test_a_block_has_the_same_words_on_every_machine_and_in_every_attempt() -> None:
    here = keys()
    there = pickle.loads(pickle.dumps(here))
    assert np.array_equal(here.stream(3, 1).words(100), there.stream(3, 1).words(100))
    in_pieces = here.stream(3, 1)
    assert np.array_equal(np.concatenate([in_pieces.words(n) for n in (1, 0, 30, 69)]), here.stream(3, 1).words(100))


def test_no_two_blocks_parts_or_secrets_share_a_word() -> None:
    one, other = keys(), keys("another")
    blocks = [(), (0,), (1,), (256,), (0, 0), (0, 1), (1, 0)]
    words = [each.stream(*block).words(50) for each in (one, other) for block in blocks]
    assert len(np.unique(np.concatenate(words))) == 50 * len(words)


def test_a_stream_takes_a_new_key_after_its_share_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "REKEY_BYTES", 80)
    one, pieces = keys().stream(1), keys().stream(1)
    whole = one.words(35)
    assert np.array_equal(np.concatenate([pieces.words(7) for _ in range(5)]), whole)
    assert len(np.unique(whole)) == 35
    monkeypatch.setattr(source, "REKEY_BYTES", 1 << 26)
    assert np.array_equal(keys().stream(1).words(35)[:10], whole[:10])
    assert not np.array_equal(keys().stream(1).words(35)[10:], whole[10:])


def test_a_secret_is_secure_only_if_it_came_from_the_operating_system() -> None:
    assert BlockKeys(SystemSource()).secure
    assert BlockKeys(RecordingSource(SystemSource())).secure
    assert pickle.loads(pickle.dumps(BlockKeys(SystemSource()))).secure
    assert not keys().secure
    assert not pickle.loads(pickle.dumps(keys())).secure
    assert not BlockKeys(keys().stream(1)).secure


def test_no_release_begins_with_words_that_can_be_made_again() -> None:
    assert not is_secure(BlockKeys(SystemSource()).stream(0))
    with pytest.raises(AttributeError):
        BlockKeys(b"\x07" * 32)  # there is no way to hand in a secret
    with pytest.raises(WrongUse):
        pickle.dumps(keys().stream(0))


def test_a_secret_is_fresh_takes_256_bits_and_is_in_no_text() -> None:
    recorded = RecordingSource(SystemSource())
    drawn = BlockKeys(recorded)
    (secret,) = recorded.record.requests
    assert len(secret) == 32
    assert secret.hex() not in repr(drawn) + str(drawn)
    assert repr(secret) not in repr(drawn)
    assert not np.array_equal(BlockKeys(SystemSource()).stream(0).words(4), drawn.stream(0).words(4))


def test_a_secret_that_was_forgotten_gives_no_word() -> None:
    drawn = keys()
    drawn.forget()
    with pytest.raises(WrongUse, match="forgotten"):
        drawn.stream(0)
    assert bytes(drawn._secret) == bytes(32)


def test_a_size_below_nothing_is_refused() -> None:
    with pytest.raises(WrongUse):
        BlockSource(bytes(32)).words(-1)
