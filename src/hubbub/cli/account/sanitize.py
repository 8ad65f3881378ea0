"""``hubbub account sanitize`` and ``hubbub account mean``: zero-knowledge privacy from k of n rows."""

from __future__ import annotations

import click

from hubbub.cli import examples, json_option, page, print_json, table


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
@click.option("--midpoint", is_flag=True, help="A blank lies half way: counts of bins, with a blank in none.")
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
    from hubbub import account

    answer = account.sanitize(
        rows,
        of,
        epsilon_dp=epsilon_dp,
        epsilon_zk=epsilon_zk,
        delta_dp=delta_dp,
        midpoint=midpoint,
        two_valued=two_valued,
        group=group,
    )
    if as_json:
        print_json(answer.as_json())
        return
    table(answer.table(), ["outside the sample", "epsilon", "delta"])
    for sentence in answer.sentences():
        page().print(f"\n{sentence}")


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
    from hubbub import account

    answer = account.mean(rows, of, epsilon_zk=epsilon_zk, scale=scale)
    if as_json:
        print_json(answer.as_json())
        return
    table(answer.table(), ["scale of the Laplace noise", ""])
    for sentence in answer.sentences():
        page().print(f"\n{sentence}")
