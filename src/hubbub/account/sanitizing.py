"""Zero-knowledge privacy from k of n rows drawn in secret: Proposition 16, sharp, both ways."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import chained
from hubbub.numeric.exact import Exact, Loss
from hubbub.numeric.format import numbers, numbers_down, short
from hubbub.numeric.limits import a_delta, a_loss, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank, Sanitized, inside, outside


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAndSanitize:
    """What may be spent on `rows` of `of` rows, and what it is worth outside, for one person and for `group` of them.

    What may be spent is rounded down, and everything promised is rounded up.
    """

    rows: int
    of: int
    blank: Blank
    found: Sanitized
    group: int
    epsilon: Loss
    delta: Fraction

    def as_json(self) -> dict[str, Any]:
        found = self.found
        return {
            **numbers_down(epsilon_dp=found.epsilon_dp),
            **numbers(delta_dp=found.delta_dp, epsilon=self.epsilon, delta=self.delta),
            "group": self.group,
            "rows": self.rows,
            "of": self.of,
            "blank": self.blank.value,
            "paper": numbers(epsilon=found.paper_epsilon, delta=found.paper_delta),
            "theorem": found.theorem,
            "aggregate": f"RS({self.rows} of {self.of})",
        }

    def table(self) -> tuple[tuple[str, str, str], ...]:
        """(whose, epsilon, delta) outside the sample."""
        found = self.found
        ours = ("ours", short(found.epsilon_zk, 6), short(found.delta_zk, 6))
        groups = (f"ours, for groups of {self.group}", short(self.epsilon, 6), short(self.delta, 6))
        theirs = ("the paper's (Proposition 16)", short(found.paper_epsilon, 6), short(found.paper_delta, 6))
        return (ours, groups, theirs) if self.group > 1 else (ours, theirs)

    def sentences(self) -> tuple[str, ...]:
        found = self.found
        return (
            f"Inside the sample up to epsilon = {short(found.epsilon_dp, 6, up=False)} may be spent; the release is "
            f"then ({short(found.epsilon_zk, 6)}, {short(found.delta_zk, 6)})-zero-knowledge private with respect to "
            f"RS({self.rows:,} of {self.of:,}). {found.theorem}.",
        )


def sanitize(
    rows: Annotated[Exact, option_help("K", "How many rows are drawn, in secret, without replacement.")],
    of: Annotated[Exact, option_help("N", "How many rows there are.")],
    *,
    epsilon_dp: Annotated[
        Exact | None, option_help("EPS", "The privacy of what runs on the sample (replacement).")
    ] = None,
    epsilon_zk: Annotated[Exact | None, option_help("EPS", "The zero-knowledge privacy that is wanted.")] = None,
    delta_dp: Annotated[Exact, option_help("D", "Its delta, inside the sample.")] = 0,
    midpoint: Annotated[
        bool, option_help(None, "A blank lies half way: counts of bins, with a blank in none.")
    ] = False,
    two_valued: Annotated[bool, option_help(None, "Rows have two values, and a blank is a fair coin.")] = False,
    group: Annotated[Exact, option_help("C", "For C people who stand or fall together.")] = 1,
) -> SampleAndSanitize:
    """Draw k of n rows in secret and run something private on them: Proposition 16, sharp, both ways.

    Say what runs on the sample (`epsilon_dp`) or what is wanted (`epsilon_zk`). The mechanism must be symmetric in its
    rows, or be handed them in a secret random order. The promise is with respect to RS(k): whoever knows k random rows
    learns little more. k is a parameter of the promise, like epsilon.

    Guarantee: a mechanism that is symmetric in its rows, with what may be spent, is then so private (Theorem A1), and
    a group loses what its members lose one after the other.
    """
    if (epsilon_dp is None) == (epsilon_zk is None):
        raise WrongUse("give one of `epsilon_dp` (what runs on the sample) and `epsilon_zk` (what is wanted)")
    if midpoint and two_valued:
        raise WrongUse("`midpoint` and `two_valued` are two kinds of blank; choose one")
    blank = Blank.HALF_WAY if midpoint else Blank.COIN if two_valued else Blank.ANY
    k, n, inner = a_size(rows, "`rows`", least=1), a_size(of, "`of`", least=1), a_delta(delta_dp, "`delta_dp`")
    if epsilon_dp is not None:
        found = outside(k, n, a_loss(epsilon_dp, "`epsilon_dp`"), inner, blank)
    else:
        assert epsilon_zk is not None
        found = inside(k, n, a_loss(epsilon_zk, "`epsilon_zk`"), inner, blank)
    people = a_size(group, "`group`", least=1)
    epsilon, delta = chained(found.epsilon_zk, found.delta_zk, people)  # blanked one after the other
    return SampleAndSanitize(rows=k, of=n, blank=blank, found=found, group=people, epsilon=epsilon, delta=delta)
