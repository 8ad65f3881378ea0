"""From a file of questions, or the words of a block, to their spec, or one sentence; and the kind itself.

::

    zero_knowledge = 0.5      # all questions together
    rows = 1000               # K, drawn in secret, once
    people = 40000            # N, public

    [[question]]
    name = "old"
    kind = "count"
    where = "age >= 65"

    [[question]]
    name = "salaries"
    kind = "mean"
    of = "salary:0..300000:1000"
    by = ["department=Police,Fire,other"]
    share = 2                 # of what may be lost inside the sample; 1 if not given

With `delta` beside them the noise of counts, shares and means may be Gaussian, which has less error where there are some
ten or more numbers of a person; which noise it is (`noise = "geometric"`, `"gaussian"`, or the better one) follows from the
questions alone.

In the place of `zero_knowledge` there may be `epsilon`, the differential privacy of all questions together for one
person replaced. Without either each question says what it may lose inside the sample, with its own `epsilon`, and the
sum decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.channels.noise_choice import AUTO, check_words
from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import EXPECTED, KEPT, ROWS, UNIQUE
from hubbub.kinds.questions.gaussian import log_of_errors, variances
from hubbub.kinds.questions.spec import Asked, Questions, read
from hubbub.kinds.sums.request import DISTINCT, MOST_PEOPLE, ONE_ROW, declared
from hubbub.kinds.sums.spec import Statistic
from hubbub.numeric.exact import Exact, integer, positive, rational, rounded
from hubbub.numeric.limits import a_coverage
from hubbub.options.mechanism import NOISE
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.spec import Kind
from hubbub.sampling.ranks import LARGEST
from hubbub.sampling.sanitize import Blank, inside, joint_epsilon, may_lose
from hubbub.serialization.toml import read_toml
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.privacy_unit import Unit, of_options, on_average
from hubbub.tables.protection import Knowledge

KINDS: Final = ("count", "fraction", "mean", "quantile")
_TOP: Final = ("zero_knowledge", "epsilon", "delta", "noise", "rows", "people", "coverage", "question")
_KEYS: Final = ("name", "kind", "by", "of", "q", "where", "epsilon", "share")
_DIGITS: Final = 12


def questions(
    questions: Sequence[Mapping[str, Any]],
    *,
    rows: Exact,
    people: Exact,
    zero_knowledge: Exact | None = None,
    epsilon: Exact | None = None,
    coverage: Exact = "0.95",
    delta: Exact | None = None,
    noise: str | None = None,
    unit: Unit | None = None,
) -> Questions:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    k, n = integer(rows, "rows", least=1), integer(people, "people", least=1)
    if k > n:
        raise WrongUse(f"rows is how many of all people may be known, at most {n}, not {k}; lower it")
    if n > MOST_PEOPLE or min(k, n - k) > LARGEST:
        raise WrongUse(f"of at most {MOST_PEOPLE:,} people at most {LARGEST:,} are drawn, or left out; choose others")
    level = a_coverage(coverage)
    if not questions:
        raise WrongUse("no question is asked; add one, like a count with a where")
    blanks = [_question(each, Fraction(1)).blank(unit or Unit()) for each in questions]
    losses = _losses(questions, blanks, k, n, zero_knowledge, epsilon)
    every = tuple(_question(each, loss) for each, loss in zip(questions, losses, strict=True))
    total_loss = joint_epsilon(k, n, list(zip(losses, blanks, strict=True)))
    reached = total_loss if zero_knowledge is None else positive(zero_knowledge, "zero-knowledge")
    found = Questions(asked=every, epsilon=reached, rows=k, of_people=n, unit=unit or Unit(), coverage=level)
    allowed = None if delta is None else positive(delta, "delta")
    check_words(noise or AUTO, allowed)
    if allowed is None or noise == "geometric":
        return found
    if zero_knowledge is not None:  # a blank half way is not worth anything to Gaussian noise
        losses = _shared(questions, inside(k, n, reached).epsilon_dp)
    other = _gaussian(found, losses, allowed, keep_epsilon=zero_knowledge is not None)
    if other is None and noise == "gaussian":
        raise WrongUse(
            "Gaussian noise is for counts, shares and means, and there is none of them; leave out `mechanism`"
        )
    if other is None or (noise != "gaussian" and not _better(other, found)):
        return found
    return other


def _gaussian(spec: Questions, losses: Sequence[Fraction], delta: Fraction, *, keep_epsilon: bool) -> Questions | None:
    """The same questions with Gaussian noise where that is known; None where it is of none of them.

    Guarantee: the delta of all of them, outside the sample, is at most the one that is allowed.
    """
    about = zip(spec.asked, spec.statistics, losses, strict=True)
    parts = [
        (loss, *_moved_by_replacing(statistic)) for each, statistic, loss in about if statistic.sensitivity is not None
    ]
    if not parts:
        return None
    within = min(rounded(delta / spec.share, up=False, digits=9), Fraction(1, 2))
    found = iter(variances(sum((loss for loss, _, _ in parts), Fraction(0)), within, tuple(parts)))
    asked = tuple(
        replace(each, loss=loss, variance=None if statistic.sensitivity is None else next(found))
        for each, statistic, loss in zip(spec.asked, spec.statistics, losses, strict=True)
    )
    other = replace(spec, asked=asked, delta=delta)
    return other if keep_epsilon else replace(other, epsilon=other.reached)


def _moved_by_replacing(statistic: Statistic) -> tuple[Fraction, int]:
    """How far one person replaced moves the numbers of a question, squared, and at most how many of them."""
    knowledge = statistic.protection
    assert isinstance(knowledge, Knowledge)
    noise = replace(statistic, protection=replace(knowledge, variance=Fraction(1))).gaussian
    assert noise is not None
    return noise.squared, noise.moved


def _better(gaussian: Questions, geometric: Questions) -> bool:
    """Whether the Gaussian noises are smaller than the geometric ones of the same promise."""
    both = zip(gaussian.asked, geometric.statistics, strict=True)
    rates = [each.sum_rate for asked, each in both if asked.variance is not None]
    return log_of_errors([each.s2 for each in gaussian.noises], [rate for rate in rates if rate is not None]) < 0


def _losses(
    questions: Sequence[Mapping[str, Any]],
    blanks: Sequence[Blank],
    k: int,
    n: int,
    zero_knowledge: Exact | None,
    epsilon: Exact | None,
) -> list[Fraction]:
    """What each question may lose inside the sample.

    Guarantee: with `epsilon` their sum E satisfies ln(1 + (k/n)(e^E - 1)) <= epsilon, which is what all of them promise
    to one person replaced (Theorem A1, solved for E and rounded down).
    """
    if zero_knowledge is not None and epsilon is not None:
        raise WrongUse("`zero_knowledge` and `epsilon` each say what all questions together may lose; keep one of them")
    if zero_knowledge is None and epsilon is None:
        if any(each.get("epsilon") is None or each.get("share") is not None for each in questions):
            raise WrongUse(
                "say what all questions together may lose: `epsilon` for one person replaced, or zero_knowledge (in the file) beyond "
                "the sample; or give each question in the file its epsilon inside the sample"
            )
        return [positive(each["epsilon"], "epsilon") for each in questions]
    if any(each.get("epsilon") is not None for each in questions):
        raise WrongUse("where all questions share one number, a question has a share of it and no epsilon; drop that")
    if epsilon is not None:
        return _shared(questions, inside(k, n, positive(epsilon, "`epsilon`")).epsilon_dp)
    assert zero_knowledge is not None
    target = positive(zero_knowledge, "zero-knowledge")
    return _shared(questions, may_lose(k, n, target, list(zip(_shares(questions), blanks, strict=True))))


def _shares(questions: Sequence[Mapping[str, Any]]) -> list[Fraction]:
    return [positive(1 if each.get("share") is None else each["share"], "share") for each in questions]


def _shared(questions: Sequence[Mapping[str, Any]], total_loss: Fraction) -> list[Fraction]:
    """What each may lose of all, by their shares."""
    shares = _shares(questions)
    parts = [rounded(total_loss * share / sum(shares), up=False, digits=_DIGITS) for share in shares]
    if not all(parts):
        raise WrongUse("a question with so small a share would have next to nothing; raise it, or that of all")
    return parts


def _question(given: Mapping[str, Any], loss: Fraction) -> Asked:
    name, what = given.get("name"), given.get("kind")
    if not isinstance(name, str) or not name:
        raise WrongUse('each question has a name, which its file gets; add name, like name = "old"')
    if what not in KINDS:
        raise WrongUse(f"the question {name[:40]!r} is a count, fraction, mean or quantile; say which, with kind")
    unknown = next((key for key in given if key not in _KEYS), None)
    if unknown is not None:
        raise WrongUse(f"a question knows {', '.join(_KEYS)}, and not {str(unknown)[:40]!r}; leave it out")
    by, of, where, q = given.get("by") or (), given.get("of"), given.get("where"), given.get("q")
    if isinstance(by, str) or not all(isinstance(each, str) for each in by):
        raise WrongUse(f"by of the question {name[:40]!r} is a list of texts, even for one; put it in brackets")
    if (of is None) == (what in ("mean", "quantile")):
        raise WrongUse(
            f'say what a mean or quantile is of, like of="salary:0..300000:100", and nothing of a count or a fraction; '
            f"correct the question {name[:40]!r}"
        )
    if q is not None and what != "quantile":
        raise WrongUse(f"q is for quantiles, and the question {name[:40]!r} is a {what}; leave it out")
    if where is None and what == "fraction":
        raise WrongUse(f"a fraction is of those who meet a condition; add where to the question {name[:40]!r}")
    return Asked(
        name=name,
        what=what,
        loss=loss,
        axes=tuple(declared(each) for each in by),
        where=where if where is None or isinstance(where, Condition) else parse_condition(where),
        of=None if of is None else measured(of),
        q=rational("0.5" if q is None else q, "q") if what == "quantile" else None,
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except (OSError, ValueError):
        raise WrongUse(
            f"the questions must be a TOML file that can be read, not {str(path)[:60]!r}; check the file"
        ) from None


def from_file(spec: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """What a TOML file of questions says; its numbers are exactly what they read."""
    found = dict(spec) if isinstance(spec, Mapping) else _toml(Path(spec))
    unknown = next((key for key in found if key not in _TOP), None)
    if unknown is not None:
        raise WrongUse(f"a file of questions knows {', '.join(_TOP)}, and not {str(unknown)[:40]!r}; leave it out")
    listed = found.get("question")
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise WrongUse("a file of questions has a table [[question]] for each, with its name and kind; add some")
    for name in ("rows", "people"):
        if name not in found:
            raise WrongUse("a file of questions says how many people are drawn, rows, of how many, people; add both")
    return found


def from_options(
    *,
    spec: Any = None,
    epsilon: Any = None,
    delta: Exact | None = None,
    noise: str | None = None,
    kept_rows: bool = False,
    **whose: Any,
) -> Questions:
    """Build the spec from the options of a command."""
    found = from_file(spec)
    if epsilon is not None:
        if found.get("zero_knowledge") is not None or found.get("epsilon") is not None:
            raise WrongUse(
                "the file of questions says itself what they may lose together; drop `epsilon`, or that line"
            )
        found["epsilon"] = epsilon
    for name, given in (("delta", delta), ("noise", noise)):
        if given is not None and found.get(name) is not None:
            raise WrongUse(f"the file of questions says its {name} itself; drop `{name}`, or that line")
        if given is not None:
            found[name] = given
    return on_one_sample(found.pop("question"), of_options(whose)[0], kept_rows=kept_rows, **found)


def on_one_sample(listed: Sequence[Mapping[str, Any]], unit: Unit, *, kept_rows: bool, **options: Any) -> Questions:
    """The questions, with intervals of one row per person for what is kept on average, where such are known of all."""
    average = on_average(unit, kept_rows=kept_rows)
    if average != unit and not any(each.get("kind") == "quantile" for each in listed):
        return questions(listed, unit=average, **options)
    return questions(listed, unit=unit, **options)


KIND: Final = Kind(
    name="questions",
    wire="questions/1",
    help="""Answer several questions from one secret sample: counts, shares, means and quantiles.

FILE is TOML: zero_knowledge = 0.5, rows = 1000 (K) and people = 40000 (N) for all of them, and a table
[[question]] for each, with name, kind (count, fraction, mean or quantile), of, by, where and q as the
commands of these kinds have them, and share, its part of what may be lost inside the sample (1 if not given).
In the place of zero_knowledge, `epsilon` is the differential privacy of all questions together for one person replaced
(in the file, or as an option). Without either each question says its epsilon inside the sample instead. With `delta`
(in the file, or as an option) counts, shares and means have geometric or Gaussian noise, whichever has less error.

K people are drawn once and every question is told of them: all answers together tell no more than K random people
do, at most ln(1 + (K/N)(e^E - 1)) more, E being what the questions lose inside, added up (and about half of that where
epsilon is small). K does not grow with the questions, and it is one entry in the ledger. What fresh samples would have
cost is shown beside it.

N is declared and public. A table of another number of people is refused with exit code 3 and one sentence before
anything is spent; that it was refused is information, and for you alone. A person with several rows counts by one of
them, the same one for all questions (`one_row_per_person=True`), or by at most M (`rows_per_person=M`, perhaps with
`distinct=B` bins of a question and `rows_per_bin=C` rows in each): counts, shares and means are then of rows, the same
ones for all questions, and every promise is to people.""",
    examples=(
        "hubbub release questions hubbub-demo/millbrook.parquet --person resident --spec hubbub-demo/questions.toml "
        "--out questions/",
    ),
    options=(
        Option(
            "spec",
            "FILE",
            "The questions, in TOML.",
            takes="str | PathLike[str]",
            missing="say which questions are asked: add `spec=FILE`, a TOML file with a table [[question]] for each",
        ),
        Option("epsilon", "EPS", "What all questions together may lose when one person is replaced by another."),
        Option("delta", "D", "What Gaussian noise may fail with; the better noise is taken.", group=HOW),
        NOISE,
        ONE_ROW,
        UNIQUE,
        EXPECTED,
        KEPT,
        DISTINCT,
        *ROWS,
    ),
    from_options=from_options,
    from_json=read,
    from_file=from_file,
)
Questions.kind = KIND
