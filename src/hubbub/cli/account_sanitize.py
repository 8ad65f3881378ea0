"""``hubbub account sanitize`` and ``hubbub account mean``: zero-knowledge privacy from k of n rows."""

from __future__ import annotations

import click

from hubbub.cli import examples, json_option, page, print_json
from hubbub.cli.account_answer import numbers, short, table, written
from hubbub.cli.account_numbers import a_delta, a_loss, a_size
from hubbub.errors import WrongUse


@click.command(
    "sanitize",
    short_help="Draw k of n rows in secret, run something private on them.",
    epilog=examples(
        "hubbub account sanitize --rows 1000 --of 1000000 --epsilon-zk 0.1",
        "hubbub account sanitize --rows 1000 --of 10000 --epsilon-dp 1 --delta-dp 1e-9 --json",
    ),
)
@click.option("--rows", metavar="K", required=True, help="How many rows are drawn, in secret, without replacement.")
@click.option("--of", metavar="N", required=True, help="How many rows there are.")
@click.option("--epsilon-dp", metavar="EPS", help="The differential privacy of what runs on the sample (replacement).")
@click.option("--epsilon-zk", metavar="EPS", help="The zero-knowledge privacy that is wanted.")
@click.option("--delta-dp", metavar="D", default="0", show_default=True, help="Its delta, inside the sample.")
@click.option("--midpoint", is_flag=True, help="A blank lies half way: a histogram whose blank is in no bin.")
@click.option("--two-valued", is_flag=True, help="Rows have two values, and a blank is a fair coin.")
@click.option("--group", metavar="C", default="1", show_default=True, help="For C people who stand or fall together.")
@json_option
def sanitize(
    rows: str,
    of: str,
    epsilon_dp: str | None,
    epsilon_zk: str | None,
    delta_dp: str,
    midpoint: bool,
    two_valued: bool,
    group: str,
    as_json: bool,
) -> None:
    """Draw k of n rows in secret and run something private on them: Proposition 16, sharp, both ways.

    The mechanism must be symmetric in its rows, or be handed them in a secret random order. The promise is with respect
    to RS(k): whoever knows k random rows learns little more. k is a parameter of the promise, like epsilon.
    """
    from hubbub.guarantees.closeness import chained
    from hubbub.sampling.sanitize import Blank, inside, outside

    if (epsilon_dp is None) == (epsilon_zk is None):
        raise WrongUse("give one of --epsilon-dp (what runs on the sample) and --epsilon-zk (what is wanted)")
    if midpoint and two_valued:
        raise WrongUse("--midpoint and --two-valued are two kinds of blank; choose one")
    blank = Blank.HALF_WAY if midpoint else Blank.COIN if two_valued else Blank.ANY
    k, n, inner = a_size(rows, "--rows", least=1), a_size(of, "--of", least=1), a_delta(delta_dp, "--delta-dp")
    if epsilon_dp is not None:
        found = outside(k, n, a_loss(epsilon_dp, "--epsilon-dp"), inner, blank)
    else:
        assert epsilon_zk is not None
        found = inside(k, n, a_loss(epsilon_zk, "--epsilon-zk"), inner, blank)
    people = a_size(group, "--group", least=1)
    epsilon, delta = chained(found.epsilon_zk, found.delta_zk, people)  # blanked one after the other
    # What may be spent is rounded down, and everything promised is rounded up.
    result = {
        **_down(epsilon_dp=found.epsilon_dp),
        **numbers(delta_dp=found.delta_dp, epsilon=epsilon, delta=delta),
        "group": people,
        "rows": k,
        "of": n,
        "blank": blank.value,
        "paper": numbers(epsilon=found.paper_epsilon, delta=found.paper_delta),
        "theorem": found.theorem,
        "aggregate": f"RS({k} of {n})",
    }
    if as_json:
        print_json(result)
        return
    lines = [
        ["ours", short(found.epsilon_zk, 6), short(found.delta_zk, 6)],
        ["the paper's (Proposition 16)", short(found.paper_epsilon, 6), short(found.paper_delta, 6)],
    ]
    if people > 1:
        lines.insert(1, [f"ours, for groups of {people}", short(epsilon, 6), short(delta, 6)])
    table(lines, ["outside the sample", "epsilon", "delta"])
    page().print(
        f"\nInside the sample up to epsilon = {_floor(found.epsilon_dp)} may be spent; the release is then "
        f"({short(found.epsilon_zk, 6)}, {short(found.delta_zk, 6)})-zero-knowledge private with respect to "
        f"RS({k:,} of {n:,}). {found.theorem}."
    )


def _down(**values: object) -> dict[str, object]:
    from fractions import Fraction

    from hubbub.exact import to_float

    found: dict[str, object] = {}
    for name, value in values.items():
        assert isinstance(value, Fraction)
        found |= {name: to_float(value, round_up=False), f"{name}_exact": written(value)}
    return found


def _floor(value: object) -> str:
    from fractions import Fraction

    from hubbub.exact import rounded, to_float

    assert isinstance(value, Fraction)
    return f"{to_float(rounded(value, up=False, digits=6), round_up=False):.6g}" if value else "0"


@click.command(
    "mean",
    short_help="Noise on the average of all rows, for zero-knowledge privacy.",
    epilog=examples(
        "hubbub account mean --rows 1000 --of 10000 --epsilon-zk 0.1",
        "hubbub account mean --rows 100 --of 1000000 --scale 0.05 --json",
    ),
)
@click.option("--rows", metavar="K", required=True, help="How many rows the simulator may know.")
@click.option("--of", metavar="N", required=True, help="How many rows there are; all of them are averaged.")
@click.option("--epsilon-zk", metavar="EPS", help="The zero-knowledge privacy that is wanted.")
@click.option("--scale", metavar="L", help="The scale of the Laplace noise, to ask for epsilon instead.")
@json_option
def mean(rows: str, of: str, epsilon_zk: str | None, scale: str | None, as_json: bool) -> None:
    """Noise on the average of all rows, each in [0, 1]: Proposition 12 for averages, as proved here.

    The noise is continuous; a count with integer noise needs a little more, because what is simulated must be rounded.
    Beside it stand the paper's scale, its proposition with the best delta (by Hoeffding's and by Serfling's bound), and
    the root mean square errors of this release and of a noisy mean of K sampled rows with the same promise; those are
    floating-point numbers for comparison.
    """
    from hubbub.sampling.averages import THEOREM, epsilon_for, scale_for

    if (epsilon_zk is None) == (scale is None):
        raise WrongUse("give one of --epsilon-zk (to ask for the noise) and --scale (to ask for epsilon)")
    k, n = a_size(rows, "--rows", least=1), a_size(of, "--of", least=2)
    if epsilon_zk is not None:
        found = scale_for(k, n, a_loss(epsilon_zk, "--epsilon-zk"))
    else:
        assert scale is not None
        found = epsilon_for(k, n, a_loss(scale, "--scale"))
    beside = dict(found.beside)
    better = "noise on the mean of all rows"
    if beside["sample_error"] < beside["noise_error"]:  # type: ignore[operator]
        better = "a noisy mean of sampled rows (account sanitize)"
    result = {
        **numbers(epsilon=found.epsilon, scale=found.scale),
        "delta": 0,
        "rows": found.rows,
        "of": found.of,
        "paper": {"epsilon": numbers(e=found.epsilon)["e"], "scale": beside.pop("paper_scale")},
        "comparison": beside,
        "smaller_error": better,
        "theorem": THEOREM,
        "aggregate": f"RS({found.rows} of {found.of})",
    }
    if as_json:
        print_json(result)
        return
    names = {
        "hoeffding_scale": "Proposition 12, best delta, Hoeffding",
        "serfling_scale": "Proposition 12, best delta, Serfling",
        "variance_scale": "ours, by the variance instead of the mean deviation",
        "binary_scale": "the least for 0/1 rows with this simulator (scanned)",
    }
    lines = [["ours, proved", short(found.scale)], ["the paper's", _plain(found.beside["paper_scale"])]]
    lines += [[words, _plain(beside[name])] for name, words in names.items()]
    table(lines, ["scale of the Laplace noise", ""])
    page().print(
        f"\nThe average of {found.of:,} rows with that noise is {short(found.epsilon)}-zero-knowledge private with "
        f"respect to RS({found.rows:,} of {found.of:,}). The smaller error has {better}: "
        f"{_plain(beside['noise_error'])} with noise alone, {_plain(beside['sample_error'])} with a sample."
    )


def _plain(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
