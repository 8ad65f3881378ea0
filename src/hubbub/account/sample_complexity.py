"""Functions that a sample approximates: the noise that makes them zero-knowledge private, the converse, histograms.

Noise on the average of all rows, for zero-knowledge privacy: Proposition 12 for averages, as proved here.

Zero-knowledge privacy from k of n rows drawn in secret: Proposition 16, sharp, both ways.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Annotated, Any, Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import chain_losses
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, Loss, ball, log, precision, rational, rounded, upper
from hubbub.numeric.format import numbers, numbers_down, short
from hubbub.numeric.limits import a_delta, a_loss, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling import sample_complexity as sc
from hubbub.sampling.averages import THEOREM, Average, epsilon_for, scale_for
from hubbub.sampling.sample_complexity import SampleComplexity
from hubbub.sampling.sanitize import Blank, Sanitized, inside, outside


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyFunction:
    """The scale of the noise on a function, what it promises, and by which item of the paper."""

    complexity: SampleComplexity
    sensitivity: Fraction
    spread: Fraction
    scale: Fraction
    epsilon: Fraction
    theorem: str
    aggregate: str

    def as_json(self) -> dict[str, Any]:
        return {
            **numbers(epsilon=self.epsilon, scale=self.scale, sensitivity=self.sensitivity),
            "delta": 0,
            "sample_complexity": numbers(delta=self.complexity.delta, beta=self.complexity.beta),
            "theorem": self.theorem,
            "aggregate": self.aggregate,
        }

    def table(self) -> tuple[tuple[str, str], ...]:
        """(what, number)."""
        return (
            ("scale of the Laplace noise", short(self.scale)),
            ("epsilon", short(self.epsilon)),
            ("one row moves the function by at most", short(self.sensitivity)),
        )

    def sentences(self) -> tuple[str, ...]:
        return (
            f"The function with that noise is {short(self.epsilon)}-zero-knowledge private with respect to "
            f"{self.aggregate}. {self.theorem}.",
        )


def noise(
    within: Annotated[Exact, option_help("D", "How near the sampler comes, in L1.")],
    fails: Annotated[Exact, option_help("B", "The probability that it does not.")],
    spread: Annotated[Exact, option_help("S", "How far apart two values of the function can be, in L1.")],
    *,
    sensitivity: Annotated[Exact | None, option_help("S", "How far one row moves the function, in L1.")] = None,
    rows: Annotated[Exact | None, option_help("K", "The sampler reads K random rows.")] = None,
    of: Annotated[Exact | None, option_help("N", "How many rows there are.")] = None,
    epsilon_zk: Annotated[Exact | None, option_help("EPS", "The zero-knowledge privacy that is wanted.")] = None,
    scale: Annotated[
        Exact | None, option_help("L", "The scale of the Laplace noise, to ask for epsilon instead.")
    ] = None,
) -> NoisyFunction:
    """Noise on a function that a few rows approximate: Proposition 12, Corollaries 13 and 14.

    A sampler that is within D except with probability B, whatever the table, says how much noise is enough. Without
    `sensitivity` it follows from the sampler (Lemma 11), for which `rows` and `of` are needed. A sampler that reads
    every row is never off: `within` 0, `fails` 0.

    Guarantee: the function with Laplace noise of that scale on each number is epsilon-zero-knowledge private with
    respect to the summaries that the sampler belongs to; epsilon and scale are rounded up.
    """
    if (epsilon_zk is None) == (scale is None):
        raise WrongUse("give one of `epsilon_zk` (to ask for the noise) and `scale` (to ask for epsilon)")
    if (rows is None) != (of is None):
        raise WrongUse("`rows` and `of` belong together: a sampler reads K of N rows; give both or none")
    complexity = SampleComplexity(delta=rational(within, "`within`"), beta=rational(fails, "`fails`"))
    widest, sizes = rational(spread, "`spread`"), None
    if rows is not None and of is not None:
        sizes = a_size(rows, "`rows`", least=1), a_size(of, "`of`", least=1)
    if sensitivity is not None:
        moved, theorem = rational(sensitivity, "`sensitivity`"), sc.PROPOSITION_12
    elif sizes is not None:
        moved, theorem = sc.sensitivity_bound(complexity, *sizes), sc.COROLLARY_13
    else:
        raise WrongUse(
            "say how far one row moves the function with `sensitivity`, or how the sampler reads: `rows`, `of`"
        )
    if moved < 0 or widest <= 0:
        raise WrongUse("`sensitivity` is 0 or more and `spread` above 0; change them")
    if sizes is not None and sizes[0] == sizes[1] and not complexity.delta and not complexity.beta:
        theorem = sc.COROLLARY_14
    given = complexity, moved, widest
    if epsilon_zk is not None:
        epsilon = a_loss(epsilon_zk, "`epsilon_zk`")
        size = sc.scale_of_noise(*given, epsilon)
    else:
        assert scale is not None
        size = a_loss(scale, "`scale`")
        epsilon = sc.epsilon_of_noise(*given, size)
    return NoisyFunction(
        complexity=complexity,
        sensitivity=moved,
        spread=widest,
        scale=size,
        epsilon=epsilon,
        theorem=theorem,
        aggregate="the sampler's class" if sizes is None else f"RS({sizes[0]:,} of {sizes[1]:,})",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Converse:
    """How often a sampler fails that is as near as a private release, and the least epsilon if none is as good."""

    beta: Fraction
    epsilon: Fraction | None
    failure: Fraction

    def as_json(self) -> dict[str, Any]:
        if self.epsilon is None:
            return {"theorem": sc.PROPOSITION_15, **numbers(fails=self.failure)}
        return {
            "theorem": sc.PROPOSITION_15,
            **numbers_down(epsilon=self.epsilon),
            **numbers(sampler_fails=self.failure),
        }

    def table(self) -> tuple[tuple[str, str], ...]:
        """(what, number)."""
        if self.epsilon is None:
            return (("a sampler that is as near fails at most", short(self.failure)),)
        return (("the least epsilon", short(self.epsilon, up=False)),)

    def sentences(self) -> tuple[str, ...]:
        if self.epsilon is None:
            return (
                "Whoever may know what the simulator knows can be as near to the truth as the release, except with "
                f"probability {short(self.failure)}. {sc.PROPOSITION_15}.",
            )
        return (
            "No release is as near to the truth with less, with respect to summaries that all fail so often. "
            f"{sc.PROPOSITION_15}.",
        )


def converse(
    fails: Annotated[Exact, option_help("B", "The probability that the release is not near the truth.")],
    *,
    epsilon_zk: Annotated[Exact | None, option_help("EPS", "Its zero-knowledge privacy.")] = None,
    sampler_fails: Annotated[
        Exact | None, option_help("B", "How often every sampler fails on some table, to ask for the least epsilon.")
    ] = None,
) -> Converse:
    """What is accurate and zero-knowledge private can be sampled: Proposition 15, both ways.

    A release that is near the truth except with probability B, and zero-knowledge private, gives a sampler that is as
    near. If every sampler fails more often, the release loses at least so much.

    Guarantee: the sampler's failure is rounded up, the least epsilon down.
    """
    if (epsilon_zk is None) == (sampler_fails is None):
        raise WrongUse("give one of `epsilon_zk` (to ask for the sampler) and `sampler_fails` (to ask for epsilon)")
    beta = rational(fails, "`fails`")
    if not 0 <= beta < 1:
        raise WrongUse("`fails` is a probability from 0 to below 1; change it")
    if epsilon_zk is not None:
        return Converse(beta=beta, epsilon=None, failure=sc.sampler_of(beta, a_loss(epsilon_zk, "`epsilon_zk`")))
    assert sampler_fails is not None
    failure = rational(sampler_fails, "`sampler_fails`")
    if not 0 <= failure < 1:
        raise WrongUse("`sampler_fails` is a probability from 0 to below 1; change it")
    return Converse(beta=beta, epsilon=sc.least_epsilon(beta, failure), failure=failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledHistogram:
    """The noise on the counts of a sample, and how exact the histogram is that is scaled up from it."""

    rows: int
    of: int
    rate: Fraction
    epsilon: Fraction
    miss: Fraction
    error: HistogramError

    def as_json(self) -> dict[str, Any]:
        return {
            **numbers_down(rate=self.rate),
            **numbers(epsilon=self.epsilon, largest_error=self.error.largest, total_error=self.error.total),
            **numbers(miss=self.miss),
            "aggregate": f"RS({self.rows} of {self.of})",
        }

    def table(self) -> tuple[tuple[str, str], ...]:
        """(what, people)."""
        return (
            ("the worst bin is off by at most", f"{ceil(self.error.largest):,}"),
            ("all bins together, at most", f"{ceil(self.error.total):,}"),
        )

    def sentences(self) -> tuple[str, ...]:
        return (
            f"A histogram of {self.rows:,} of {self.of:,} rows, with two-sided geometric noise of rate "
            f"{short(self.rate, up=False)} on each count, is {short(self.epsilon)}-zero-knowledge private with respect "
            f"to RS({self.rows:,} of {self.of:,}). Each bound fails with a probability of at most {short(self.miss)}.",
        )


def histogram(
    rows: Annotated[Exact, option_help("K", "How many rows are drawn, in secret, without replacement.")],
    of: Annotated[Exact, option_help("N", "How many rows there are.")],
    bins: Annotated[Exact, option_help("M", "How many bins the histogram has.")],
    epsilon_zk: Annotated[Exact, option_help("EPS", "The zero-knowledge privacy that is wanted.")],
    *,
    miss: Annotated[Exact, option_help("B", "The probability that a bound fails.")] = "0.05",
) -> SampledHistogram:
    """How exact a zero-knowledge histogram is: one sample for all bins, with noise, scaled up.

    Guarantee: the histogram is epsilon-zero-knowledge private with respect to RS(rows) (Theorem A1', a blank row being
    in no bin), and each error bound holds on every table but with probability `miss`; bounds are rounded up.
    """
    k, n, m = a_size(rows, "`rows`", least=1), a_size(of, "`of`", least=2), a_size(bins, "`bins`", least=1)
    wrong = rational(miss, "`miss`")
    if not 0 < wrong < 1:
        raise WrongUse("`miss` is a probability between 0 and 1; change it")
    epsilon = a_loss(epsilon_zk, "`epsilon_zk`")
    spent = inside(k, n, epsilon, blank=Blank.HALF_WAY).epsilon_dp
    if not isinstance(spent, Fraction) or spent <= 0:
        raise WrongUse("`epsilon_zk` is above 0 and finite; give another")
    return SampledHistogram(
        rows=k, of=n, rate=spent / 2, epsilon=epsilon, miss=wrong, error=histogram_error(k, n, m, spent / 2, wrong)
    )


# Error bounds of a noisy histogram of k sampled rows, scaled up to n rows (statement A2).
#
# One sample serves all m bins: counts c_j of the sample get two-sided geometric noise of rate 1/b, and (n/k)(c_j + noise)
# is published. With f = min{1 - (k - 1)/n, (1 - k/n)(1 + 1/k)} (Serfling), each bound holds with probability 1 - miss.
_DIGITS: Final = 12
_GRID: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramError:
    """Error bounds in people: of the worst bin (L-infinity), and of all bins together (L1)."""

    largest: Fraction
    total: Fraction


def histogram_error(k: int, n: int, bins: int, rate: Fraction, miss: Fraction) -> HistogramError:
    """The bounds for noise of a rate on the counts of k of n rows.

    Guarantee: each holds on every table, except with probability `miss`; rounded up. The worst bin: by Serfling's bound
    for a sampled count and the tail of the noise, over all bins. All bins: a mean by Cauchy and Schwarz, McDiarmid's
    inequality for a sample without replacement, and the quantile of a sum of `bins` exponential laws that is above that
    of the noise by at most 1/2 each.
    """
    with precision():
        f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
        up, width = ball(Fraction(n, k)), ball(1 / rate)
        worst = (ball(k * f) * log(4 * bins / miss) / 2).sqrt() + width * log(2 * bins / miss) + ball(Fraction(1, 2))
        drawn = (ball(Fraction((bins - 1) * k * (n - k), max(n - 1, 1)))).sqrt() + (2 * k * log(2 / miss)).sqrt()
        noise = width * _gamma_quantile(bins, miss / 2) + ball(Fraction(bins, 2))
        return HistogramError(
            largest=rounded(up * worst, up=True, digits=_DIGITS),
            total=rounded(up * (drawn + noise), up=True, digits=_DIGITS),
        )


def _gamma_quantile(shape: int, miss: Fraction) -> arb:
    """A number that a sum of so many exponential laws of mean 1 exceeds with probability at most `miss`."""
    t = log(1 / miss)
    high = upper(shape + (2 * shape * t).sqrt() + t)  # P(sum > this) <= e^-t

    def rare(step: int) -> bool:
        return bool(ball(high * Fraction(step, _GRID)).gamma_upper(shape, 1) <= ball(miss))

    return ball(high * Fraction(first(rare, 1, _GRID), _GRID))


_BESIDE: Final = {
    "hoeffding_scale": "Proposition 12, best delta, Hoeffding",
    "serfling_scale": "Proposition 12, best delta, Serfling",
    "variance_scale": "ours, by the variance instead of the mean deviation",
    "binary_scale": "the least for 0/1 rows with this simulator (scanned)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMean:
    """The scale of the noise and what it promises; beside it, in floating-point numbers, what else is known."""

    found: Average

    @property
    def better(self) -> str:
        """What has the smaller error: this, or a noisy mean of sampled rows with the same promise."""
        sample, noise = self.found.beside["sample_error"], self.found.beside["noise_error"]
        assert sample is not None and noise is not None
        return "a noisy mean of sampled rows (account sanitize)" if sample < noise else "noise on the mean of all rows"

    def as_json(self) -> dict[str, Any]:
        found = self.found
        beside = dict(found.beside)
        return {
            **numbers(epsilon=found.epsilon, scale=found.scale),
            "delta": 0,
            "rows": found.rows,
            "of": found.of,
            "paper": {"epsilon": numbers(e=found.epsilon)["e"], "scale": beside.pop("paper_scale")},
            "comparison": beside,
            "smaller_error": self.better,
            "theorem": THEOREM,
            "aggregate": f"RS({found.rows} of {found.of})",
        }

    def table(self) -> tuple[tuple[str, str], ...]:
        """(whose, scale of the noise)."""
        beside = self.found.beside
        return (
            ("ours, proved", short(self.found.scale)),
            ("the paper's", _plain(beside["paper_scale"])),
            *((label, _plain(beside[name])) for name, label in _BESIDE.items()),
        )

    def sentences(self) -> tuple[str, ...]:
        found = self.found
        return (
            f"The average of {found.of:,} rows with that noise is {short(found.epsilon)}-zero-knowledge private with "
            f"respect to RS({found.rows:,} of {found.of:,}). The smaller error has {self.better}: "
            f"{_plain(found.beside['noise_error'])} with noise alone, "
            f"{_plain(found.beside['sample_error'])} with a sample.",
        )


def _plain(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def mean(
    rows: Annotated[Exact, option_help("K", "How many rows the simulator may know.")],
    of: Annotated[Exact, option_help("N", "How many rows there are; all of them are averaged.")],
    *,
    epsilon_zk: Annotated[Exact | None, option_help("EPS", "The zero-knowledge privacy that is wanted.")] = None,
    scale: Annotated[
        Exact | None, option_help("L", "The scale of the Laplace noise, to ask for epsilon instead.")
    ] = None,
) -> NoisyMean:
    """Noise on the average of all rows, each in [0, 1], for zero-knowledge privacy: Proposition 12 for averages, as
    proved here.

    The noise is continuous; a count with integer noise needs a little more, because what is simulated must be rounded.
    Beside it stand the paper's scale, its proposition with the best delta (by Hoeffding's and by Serfling's bound), and
    the root mean square errors of this release and of a noisy mean of K sampled rows with the same promise; those are
    floating-point numbers for comparison.

    Guarantee: the average with noise of that scale is epsilon-zero-knowledge private with respect to RS(rows); both
    numbers are rounded up.
    """
    if (epsilon_zk is None) == (scale is None):
        raise WrongUse("give one of `epsilon_zk` (to ask for the noise) and `scale` (to ask for epsilon)")
    k, n = a_size(rows, "`rows`", least=1), a_size(of, "`of`", least=2)
    if epsilon_zk is not None:
        return NoisyMean(found=scale_for(k, n, a_loss(epsilon_zk, "`epsilon_zk`")))
    assert scale is not None
    return NoisyMean(found=epsilon_for(k, n, a_loss(scale, "`scale`")))


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
    epsilon, delta = chain_losses(found.epsilon_zk, found.delta_zk, people)  # blanked one after the other
    return SampleAndSanitize(rows=k, of=n, blank=blank, found=found, group=people, epsilon=epsilon, delta=delta)
