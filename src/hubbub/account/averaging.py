"""Noise on the average of all rows, for zero-knowledge privacy: Proposition 12 for averages, as proved here."""

from __future__ import annotations

from typing import Annotated, Any, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact
from hubbub.numeric.format import numbers, short
from hubbub.numeric.limits import a_loss, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.averages import THEOREM, Average, epsilon_for, scale_for

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
