"""Check the signed result of a count: its form, its signature, and the count itself, made again from the ballots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hubbub.errors import CheckFailed, HubbubError
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import read
from hubbub.verification import read_signed
from hubbub.verification.verdict import Failed, Notes, Verdict

if TYPE_CHECKING:  # a certificate is checked without what counts votes
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rctab.record import OfficeFile

_FIELDS: Final = {"format", "software", "count"}
_BEYOND: Final = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError)
_LONGEST: Final = 200  # signs of a result's own words in a sentence

BALLOTS: Final = "whether these are the ballots that were cast: the signature says who vouches for them"
NO_DICE: Final = (
    "where the recorded draws came from: they were replayed as they stand, and that they were drawn fairly is the word "
    "of whoever signed; only with public dice could anybody draw them again"
)
BY_HAND: Final = "who broke the ties by hand, and why so: the answers are taken as they stand in the record"
SEED: Final = "whether the seed of the configuration, or the order of its candidates, was fixed before votes were known"
DICE: Final = "whether the public words of the dice were said after the last ballot and before the count"


@dataclass(frozen=True, slots=True)
class CountChecked(Verdict):
    """A result with everything that was checked."""

    thing: ClassVar[str] = "result"
    count: Mapping[str, Any] | None = None
    repeated: bool = False  # whether it was counted again
    blank: str = ""  # what the blank ballots of the file are beside those of the record, if they differ

    @property
    def files(self) -> tuple[str, ...]:
        return ("the ballots",) if self.repeated else ()

    @property
    def missing(self) -> tuple[str, ...]:
        return () if self.repeated else ("the ballots",)

    @property
    def complete(self) -> bool:
        """Whether it passed, somebody known signed it, and it was counted again."""
        return self.passed and self.signer is not None and self.repeated

    @property
    def verdict(self) -> str:
        """All of it in one sentence."""
        if not self.passed:
            return self.failure
        if not self.repeated:
            return f"The result is whole, {self.by}; it was not counted again, because the ballots are not there."
        return f"The result holds, {self.by}, counted again from the ballots{self.blank and f': {self.blank}'}."

    @property
    def lacking(self) -> tuple[str, ...]:
        """What it would take for somebody known to have signed it and for a second count; with marks."""
        return self.trust if self.repeated else (*self.trust, "give the ballots, `ballots=FILE`, to count them again")

    def as_json(self) -> dict[str, Any]:
        return self.with_facts(
            self.verdict,
            complete=self.complete,
            files=self.files,
            missing=self.missing,
            not_checked=self.not_checked,
            free=self.free,
        )

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What was not, and what cannot be, checked."""
        if self.count is None:
            return ()
        draws = self.count.get("draws") or ()
        if self.count.get("answers") or any(isinstance(draw, dict) and draw.get("by_hand") for draw in draws):
            return (BALLOTS, BY_HAND)
        if self.count.get("ties"):
            return (BALLOTS, SEED)
        drawn = (DICE,) if self.count.get("dice") is not None else (NO_DICE,) if self.count.get("draws") else ()
        return (BALLOTS, *drawn)

    @property
    def free(self) -> tuple[str, ...]:
        """What whoever signed it could write as they liked."""
        return ("the version of the software",)


def is_count(data: bytes) -> bool:
    """Whether it says that it is the result of a count."""
    with suppress(CheckFailed):
        body = read(data, "the result")
        return isinstance(body, dict) and str(body.get("format", "")).startswith("hubbub count ")
    return False


def verify_count(
    data: bytes,
    *,
    ballots: Callable[[Mapping[str, Any]], BallotFile | OfficeFile] | None = None,
    key: str | None = None,
    known: Callable[[str], str | None] = lambda key: None,
) -> CountChecked:
    """Check the result of a count. `ballots` reads the ballots as its record says that they were read.

    Guarantee: if it passes and `repeated` is so, the bytes are the canonical form of a result signed by the key it
    names, and the count by its rule of the ballots that were given has every one of its rounds and winners, bit for
    bit: with the draws that its public words make, or else with the draws that it records. Where the ballots differ in
    the number of blank ones, and in nothing else, it says so.
    """
    notes = Notes()
    seen: dict[str, Any] = {}
    with suppress(Failed):
        _check(notes, seen, data, ballots, key, known)
    return CountChecked(tuple(notes.done), **seen)


def _check(
    notes: Notes,
    seen: dict[str, Any],
    data: bytes,
    ballots: Callable[[Mapping[str, Any]], BallotFile | OfficeFile] | None,
    key: str | None,
    known: Callable[[str], str | None],
) -> None:
    from hubbub.voting.count.record import FORMAT

    body = read_signed(notes, seen, data, ("the result", "it is no result of a count", FORMAT), key, known)
    count = body.get("count")
    right = set(body) == _FIELDS and isinstance(body["software"], str) and isinstance(count, dict)
    notes.note("its parts", right, "are those of a result", wrong="they are not those of a result; get the original")
    seen["count"] = count
    if ballots is None:
        return
    try:
        given = ballots(count)
        again = _again(count, given)
    except HubbubError as error:
        notes.note("counted again", False, str(error))
    except _BEYOND:
        notes.note("counted again", False, "a part of the record is missing, or no number that can be")
    voters = again["ballots"]["voters"]
    seen["blank"] = blank = _blank(voters, given)
    notes.note("the ballots", True, f"are those of the record, {voters:,} of them{blank and f': the file has {blank}'}")
    for what, found in (
        *_repeated(again),
        ("the winner", ", ".join(again["winners"])[:_LONGEST] or "nobody is elected yet"),
    ):
        notes.note(what, True, found)
    seen["repeated"] = True


def _blank(recorded: int, given: BallotFile | OfficeFile) -> str:
    """How many blank ballots the file has more or fewer than the record; nothing where it has as many."""
    from hubbub.voting.rctab.record import OfficeFile

    many = 0 if isinstance(given, OfficeFile) else given.ballots.voters - recorded
    if not many:
        return ""
    ballots = f"{abs(many):,} blank ballot{'' if abs(many) == 1 else 's'} {'fewer' if many < 0 else 'more'}"
    return f"{ballots} than in the record (rows of empty cells are left out); the result is the same"


def _again(count: Mapping[str, Any], ballots: BallotFile | OfficeFile) -> dict[str, Any]:
    from hubbub.voting.count.record import count_again
    from hubbub.voting.rctab.record import OfficeFile, count_configured_again

    if isinstance(ballots, OfficeFile):
        return count_configured_again(count, ballots).as_json()
    return count_again(count, ballots).as_json()


def _repeated(again: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What a second count found of rounds and draws."""
    if "passes" in again:
        rounds, ties = sum(map(len, again["passes"])), len(again["ties"])
        drawn = f"{ties:,}, broken again as the configuration says" if ties else "none were met"
        return (
            ("the configuration", "is that of the record"),
            ("the rounds", f"{rounds:,}, every number of them"),
            ("the ties", drawn),
        )
    drawn = "drawn again from the public words" if again["dice"] is not None else "taken from the record, not checked"
    return (
        ("the rounds", f"{len(again['rounds']):,}, every number of them"),
        ("the draws", f"{len(again['draws']):,}, {drawn}" if again["draws"] else "none were needed"),
    )
