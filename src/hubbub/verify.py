"""Check a certificate without the data: its form, its signature, its file, and every number in it, worked out again.

The promises are derived from the release's description with the theorems in this program, and the certificate must say
exactly that; the channel's own promise is held against its exact laws. What no program can see from here, such as
how people came into the table, is listed and not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.certificate import FORMAT, SIGNATURE, about, certificate, release_of, signed_bytes, tree
from hubbub.channels.channel import Channel
from hubbub.channels.lecture import Lecture
from hubbub.channels.lower_bound import LowerBound
from hubbub.channels.outliers import OutlierNoisy
from hubbub.channels.profile import checkable, judge, loss_curve, profile
from hubbub.channels.staircase import Staircase, certified
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.guarantees.canonical import LARGEST, read
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.ledger.book import dataset_name
from hubbub.ledger.durable import sha256
from hubbub.ledger.key import ALGORITHM, signed
from hubbub.tables.description import described
from hubbub.tables.histogram import Histogram
from hubbub.tables.promises import promises
from hubbub.tables.written import difference

_MOST_COUNTS: Final = 12  # at which the channel's laws are compared; beyond them stands its proof
_MOST_PARTS: Final = 3_000  # of a law that is compared
_FEW_COUNTS: Final = 3
_LOWEST_RATE: Final = Fraction(1, 1000)  # of a second noise
_LONGEST: Final = 100  # characters of a certificate's own text in a sentence

_DESCRIBED: Final = (
    "kind",
    "bins",
    "channel",
    "unit",
    "sample",
    "collected",
    "at_delta",
    "coverage",
    "scale_up",
    "remarks",
)
_ENTRY: Final = {"id": str, "dataset": str, "hash": str, "nonce": str}
_MARKS: Final = {"id": 32, "hash": 64, "nonce": 32}  # hexadecimal digits
_NAMES: Final = {
    "release_file": r"release\.(csv|parquet)",
    "release_sha256": r"[0-9a-f]{64}",
    "software": r"hubbub [0-9][0-9A-Za-z.+-]{0,40}",
}
_BEYOND: Final = (ValueError, ArithmeticError, RecursionError, MemoryError)  # numbers that nobody can work with


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what, whether it is right, and what was found."""

    what: str
    passed: bool
    found: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A certificate with everything that was checked, in order; the last check is the first that failed, if one did."""

    checks: tuple[Check, ...]
    certificate: Mapping[str, Any] | None = None
    spec: Histogram | None = None
    promises: tuple[Derivation, ...] = ()
    signer: str | None = None  # the public key of a signature that fits

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What cannot be seen from here and is taken for granted."""
        return tuple(dict.fromkeys(text for step in self.promises for text in step.all_assumptions()))


def load(path: str | Path) -> bytes:
    """The bytes of a certificate file."""
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except OSError:
        raise CheckFailed(f"there is no certificate {str(path)[:200]!r} that can be read; check the name") from None


def verify(
    data: bytes, *, release: str | Path | None = None, key: str | None = None, dataset: str | None = None
) -> Checked:
    """Check a certificate: with `release`, the file that it is about; with `key`, who signed it.

    Guarantee: if it passes, the bytes are the canonical form of a certificate signed by the key it names, every
    number, theorem and sentence in it is what this program derives from the described release, and the described
    channel has the privacy it claims, proved, with its exact laws compared where they change and are not too wide.
    """
    seen = _Seen()
    checks: list[Check] = []
    try:
        checks.extend(_checks(data, release, key, dataset, seen))
    except _Failed as failed:
        checks.extend((*failed.before, failed.check))
    return Checked(tuple(checks), seen.body, seen.spec, seen.promises, seen.signer)


class _Seen:
    body: Mapping[str, Any] | None = None
    spec: Histogram | None = None
    promises: tuple[Derivation, ...] = ()
    signer: str | None = None


class _Failed(Exception):
    def __init__(self, before: list[Check], check: Check) -> None:
        self.before, self.check = before, check


def _checks(data: bytes, release: str | Path | None, key: str | None, dataset: str | None, seen: _Seen) -> list[Check]:
    done: list[Check] = []

    def check(what: str, passed: bool, found: str = "", *, wrong: str = "") -> None:
        if not passed:
            raise _Failed(done, Check(printable(what), False, printable(wrong or found)))
        right = Check(printable(what), True, printable(found))
        if right not in done:  # several promises may rest on one step
            done.append(right)

    try:
        body = read(data, "the certificate")
    except CheckFailed as error:
        raise _Failed(done, Check("canonical form", False, str(error))) from None
    check("canonical form", isinstance(body, dict), wrong="it is no certificate; check the name of the file")
    other = f"this program reads {FORMAT!r}; update it, or get the original"
    check("format", body.get("format") == FORMAT, FORMAT, wrong=other)
    signature = body.pop(SIGNATURE, None)
    _signature(check, body, signature, key)
    seen.signer = signature["public_key"]
    _entry(check, body, dataset)
    if release is not None:
        _file(check, body, release)
    try:
        spec = described({name: body[name] for name in _DESCRIBED})
        derived = promises(spec, spec.axes)
    except (KeyError, HubbubError, *_BEYOND) as error:
        why = f"{error}" if isinstance(error, HubbubError) else "a part of it is missing, or no number that can be"
        raise _Failed(done, Check("what was released", False, printable(why))) from None
    seen.body, seen.spec, seen.promises = body, spec, derived
    check("what was released", True, f"a histogram by {', '.join(axis.column for axis in spec.axes)}")
    if release is not None:
        _keys(check, spec, release, str(body.get("release_file")))
    given = body.get("guarantees")
    right = isinstance(given, list) and len(given) == len(derived)
    check("the promises", right, f"{len(derived)} of them", wrong=f"{len(derived)} follow from the description")
    for step, said in zip(derived, given, strict=True):
        _derivation(check, step, said)
    _laws(check, spec.channel)
    _rest(check, body, spec, derived)
    return done


def _signature(check: Any, body: Mapping[str, Any], signature: Any, key: str | None) -> None:
    parts: dict[str, Any] = signature if isinstance(signature, dict) else {}
    right = set(parts) == {"algorithm", "public_key", "value"} and all(isinstance(part, str) for part in parts.values())
    wrong = f"it must be signed with {ALGORITHM}; get the original"
    check("signed", right and parts["algorithm"] == ALGORITHM, f"with {ALGORITHM}", wrong=wrong)
    whose = parts["public_key"]
    wrong = "it does not fit what is signed: something was changed; get the original"
    check("the signature", signed(whose, parts["value"], signed_bytes(body)), f"is by the key {whose}", wrong=wrong)
    if key is not None:
        check("the key", whose == key, "is the one that was given", wrong="is another than the one that was given")


def _entry(check: Any, body: Mapping[str, Any], dataset: str | None) -> None:
    found = body.get("ledger")
    entry: dict[str, Any] = found if isinstance(found, dict) else {}
    right = {name: type(value) for name, value in entry.items()} == _ENTRY and _is_place(entry)
    place = f"dataset {entry.get('dataset')}, entry {entry.get('hash')}"
    check("place in the ledger", right, place, wrong="it names none")
    if dataset is not None:
        check("the dataset", entry["dataset"] == dataset, dataset, wrong=f"it is {entry['dataset'][:_LONGEST]!r}")


def _is_place(entry: Mapping[str, Any]) -> bool:
    """Whether a ledger may have written this."""
    with suppress(WrongUse):
        name = dataset_name(entry["dataset"]) == entry["dataset"]
        marks = [re.fullmatch(f"[0-9a-f]{{{digits}}}", entry[part]) for part, digits in _MARKS.items()]
        return name and all(marks)
    return False


def _file(check: Any, body: Mapping[str, Any], release: str | Path) -> None:
    try:
        found = sha256(release)
    except OSError:
        check("the release file", False, f"{str(release)[:200]!r} cannot be read; check the name")
        return
    right = body.get("release_sha256") == found
    check("the release file", right, f"SHA-256 {found}", wrong="it is another file than the certificate is about")


def _keys(check: Any, spec: Histogram, release: str | Path, name: str) -> None:
    """The file has the columns and bins that the certificate describes."""
    found = difference(release, "parquet" if name.endswith(".parquet") else "csv", spec.axes)
    wrong = f"{found}, and not those that are described; get the originals of both"
    check("the columns and bins of the file", found is None, "are those described", wrong=wrong)


def _derivation(check: Any, step: Derivation, said: Any) -> None:
    """Every step of a derivation, premises first, as it is written and as it works out."""
    expected = {**about(step.conclusion, floats=False), "derivation": tree(step)}
    if not isinstance(said, dict):
        check(f"{step.conclusion}", False, "it is not written as a promise")
    for mine, theirs in _pairs(expected["derivation"], said.get("derivation")):
        what = f"{mine['conclusion']}, by {mine['theorem']}"
        difference = _difference(mine, theirs)
        check(what, difference is None, _told(mine["numbers"]), wrong=difference or "")
    difference = _difference(expected, said)
    check(f"promised: {step.conclusion}", difference is None, wrong=difference or "")


def _pairs(mine: Mapping[str, Any], theirs: Any) -> Iterator[tuple[Mapping[str, Any], Any]]:
    below = theirs.get("premises") if isinstance(theirs, dict) else None
    for i, premise in enumerate(mine["premises"]):
        found = below[i] if isinstance(below, list) and i < len(below) else None
        yield from _pairs(premise, found)
    yield mine, theirs


def _difference(mine: Any, theirs: Any, where: str = "") -> str | None:
    """The first place where two JSON values part, in words."""
    if isinstance(mine, list) and mine == theirs and all(type(part) is str for part in theirs):
        return None  # quick for long lists of labels
    if type(mine) is not type(theirs):
        return f"{where or 'it'} is missing or of another kind"
    if isinstance(mine, dict):
        for name in sorted({*mine, *theirs}):
            if name not in theirs:
                return f"{name} is missing"
            if name not in mine:
                return f"there is no {name[:_LONGEST]!r} in it"
            found = _difference(mine[name], theirs[name], name)
            if found is not None:
                return found
        return None
    if isinstance(mine, list):
        if len(mine) != len(theirs):
            return f"{where} has {len(theirs)} parts, and {len(mine)} are right"
        return next((d for a, b in zip(mine, theirs, strict=True) if (d := _difference(a, b, where)) is not None), None)
    if mine != theirs:
        return f"{where} is {str(theirs)[:_LONGEST]}, and works out to {str(mine)[:_LONGEST]}"
    return None


def printable(text: str) -> str:
    """A certificate's own words on one line, so that they cannot pass for ours."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def _told(numbers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in numbers.items())


def _laws(check: Any, channel: Channel) -> None:
    """The channel's claim against its exact laws at the counts where something changes, and its proof beyond."""
    what = f"the channel {channel.name} has what it claims"
    claim = checkable(channel.claim)
    try:
        rows = profile(channel, critical(channel), claim)
        verdict = judge(channel, rows, claim)
        if isinstance(verdict, Proved) and isinstance(channel, Lecture) and not channel.holds:
            verdict = Undecided("its delta is smaller than the largest of the exact ones up to K - t")
        if isinstance(verdict, Undecided) and isinstance(channel, Staircase) and _is_certified(channel):
            verdict = Proved("every count up to each threshold was checked exactly; above, the first noise")
    except (HubbubError, *_BEYOND) as error:
        why = f"{error}" if isinstance(error, HubbubError) else "they lie beyond all numbers"
        check(what, False, f"its laws cannot be worked out: {why}")
        return
    if isinstance(verdict, Proved):
        counts = ", ".join(str(row.count) for row in rows) or "none: too wide"
        check(what, True, f"proved ({verdict.reason}); laws compared exactly at counts {counts}")
    elif isinstance(verdict, Refuted):
        check(what, False, f"{verdict.reason}: " + ", ".join(f"{name} {text}" for name, text in verdict.witness))
    else:
        check(what, False, f"undecided: {verdict.why}")


def _is_certified(channel: Staircase) -> bool:
    return not _is_wide(channel) and certified(channel)


def critical(channel: Channel) -> list[int]:
    """A few counts: the first, and those around each change of what is claimed."""
    claim = checkable(channel.claim)
    around = {1, 2}
    for piece in loss_curve(claim).pieces:
        around |= {count for count in (piece.start - 1, piece.start, piece.start + 1) if count >= 1}
    if _is_wide(channel):
        return []
    if isinstance(channel, LowerBound):
        return [count for count in sorted(around) if _parts(channel, count) <= _MOST_PARTS][:_FEW_COUNTS]
    return sorted(around)[:_MOST_COUNTS]


def _is_wide(channel: Channel) -> bool:
    """Whether its laws are tables too long to be compared in a while: noise upon noise, of a low rate."""
    rates = channel.epsilons[1:] if isinstance(channel, Staircase) else ()
    if isinstance(channel, OutlierNoisy):
        rates = (channel.epsilon / channel.k,)
    return any(0 < rate < _LOWEST_RATE for rate in rates)


def _parts(channel: LowerBound, count: int) -> int:
    """Of how many parts a law consists: one for each value of the estimate."""
    centre, reach = channel.made.centre(count), channel.made.reach(count)
    return reach if reach > 10 * _MOST_PARTS else len(channel.made.cells(centre - reach, centre + reach))


def _rest(check: Any, body: Mapping[str, Any], spec: Histogram, derived: tuple[Derivation, ...]) -> None:
    """Everything else is what it has to be, and nothing more is there."""
    found = {name: body.get(name) for name in _NAMES}
    right = all(isinstance(text, str) and re.fullmatch(_NAMES[name], text, re.ASCII) for name, text in found.items())
    check("names and digests", right, wrong="the file, its digest or the software is missing, or none of Hubbub's")
    release = release_of(body["release_file"], body["release_sha256"])
    whole = certificate(spec, spec.axes, derived, release, body["ledger"], body["software"])
    difference = _difference(whole, dict(body))
    right = difference is None
    check("every other word", right, "follows from these, and nothing more is said", wrong=difference or "")


CANNOT_KNOW: Final = (
    "whether the file was made from these people by this mechanism: the signature says who vouches for it",
    "what else was published about the same people: ask for hubbub ledger show",
)
"""What a certificate cannot show, beside its assumptions."""


def free(done: Checked, *, with_file: bool) -> tuple[str, ...]:
    """What whoever signed it could write as they liked: no theorem and no other part of it says otherwise."""
    if done.certificate is None or done.spec is None:
        return ()
    entry, person = done.certificate["ledger"], done.spec.unit.person
    told = [
        f"the name of the dataset, {entry['dataset']}, and its marks in the ledger (id, hash, nonce): the publisher's "
        "own hubbub ledger check knows them",
        f"the version of the software, {done.certificate['software']}",
        f"how often an interval is right, {done.certificate['coverage']}: no promise to people rests on it",
    ]
    if done.spec.sample is None and done.spec.collected is None:
        told.append("at_delta: without a sample no promise rests on it")
    if person is not None:
        told.append(f"the name of the column that says who is who, {person}")
    if not with_file:
        told.append("the names of columns and bins, and where ranges begin and end: give the file with --release")
    if done.spec.collected is not None and done.spec.collected.low < done.spec.collected.high:
        told.append("the lowest rate at which people were collected: no promise rests on it")
    return tuple(told)
