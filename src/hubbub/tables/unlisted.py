"""The share of people who may be in no bin, as declared: above it a release is refused before anything is drawn.

A bin that is spelt otherwise than the data (other capitals, a blank, another year) counts nobody, and zeros are
published. To refuse because nobody is in a bin would tell that somebody is, wherever it is not refused; so nothing
refuses for that unless a share is declared, and then it is one number about all people together: how many of them are
outside of all bins. Somebody with several rows is outside if none of them is in a bin. Conditions, values and empty
bins never refuse. What is not refused is told by that to be so, which the certificate names as an assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import Exact, rational, to_text
from hubbub.protocol.option import Option
from hubbub.tables.bins import Countable, Discovered

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine

UNLISTED: Final = Option(
    "unlisted", "SHARE", "Refuse if more of the people are in no bin; not looked at unless given.", advanced=True
)

TOO_MANY_UNLISTED: Final = (
    "more people than `unlisted` allows are in none of the bins; see with hubbub check how values and bins differ, "
    "then list them as they are written, add other, or allow a larger share (that it was refused is itself "
    "information, and for you alone); nothing was drawn"
)
"""Reads the same for every such table. For the steward alone: it tells something about the data."""


NOT_COUNTED: Final = "Rows in none of the bins are not counted."
HOW_TO_COUNT: Final = "List null to count empty cells too."
"""For whoever publishes; a reader of the report can do nothing about it."""


def leaves_out(axes: Sequence[Countable]) -> bool:
    """Whether somebody can be in no bin, since a value is missing or not listed."""
    return any(not isinstance(axis, Discovered) and not axis.other for axis in axes)


def sentences(axes: Sequence[Countable]) -> tuple[str, ...]:
    """What is said of rows without a value, where no bin is for them."""
    if any(not isinstance(axis, Discovered) and not axis.other and not axis.null for axis in axes):
        return NOT_COUNTED, HOW_TO_COUNT
    return ()


def declared(share: Exact | None, axes: Sequence[Countable]) -> Fraction | None:
    """The share that was said, or one sentence if it is none, or about no bins that anybody could be outside of."""
    if share is None:
        return None
    most = rational(share, "unlisted")
    if not 0 <= most < 1:
        raise WrongUse(
            "`unlisted` is a share of people outside of declared bins, at least 0 and below 1, not "
            f"{to_text(most)[:20]}; choose one like 0.05"
        )
    if not is_possible(most, axes):
        raise WrongUse(
            "`unlisted` is about people outside of declared bins, and no bins are declared here; declare those of a "
            "column, like `by=town=Bath,York`, or leave it out"
        )
    return most


def is_possible(share: Fraction, axes: Sequence[Countable]) -> bool:
    """Whether such a share can be declared of such bins."""
    return 0 <= share < 1 and any(not isinstance(axis, Discovered) for axis in axes)


def assumed(share: Fraction | None) -> tuple[Assumption, ...]:
    """The assumption that the certificate states for a declared share."""
    if share is None:
        return ()
    sentence = (
        "at most a share {share} of the people, or one person, is in none of the bins, as was looked at before "
        "anything was drawn; that the release was not refused for it is taken to tell nothing about anybody"
    )
    return (Assumption("bins.unlisted", sentence, (("share", to_text(share)),)),)


def check(engine: Engine, axes: Sequence[Countable], person: str | None, share: Fraction | None) -> None:
    """Refuse if a larger share of people is in no bin. One alone never is: nobody stops a release by themselves."""
    if share is None:
        return
    outside, people = engine.unlisted(tuple(axes), person)
    if outside > 1 and outside > share * people:
        raise Refused(TOO_MANY_UNLISTED)
