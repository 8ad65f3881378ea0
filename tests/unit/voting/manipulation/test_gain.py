"""A voter's gain: table B4, the bound over a union, the sample, and what is answered."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import rational
from hubbub.voting.figures import approximately
from hubbub.voting.guarantees.guarantee import gain_bound
from hubbub.voting.manipulation import gain_profiles, gain_three
from hubbub.voting.manipulation.beliefs import Belief, belief, dirichlet
from hubbub.voting.manipulation.gain import Contest, Question, Sampling, at_most, expected_path, gain
from hubbub.voting.manipulation.gain_answer import answer
from hubbub.voting.manipulation.question import utility
from hubbub.voting.rules.threshold import ForGain, Margin, Power, threshold

ABC = ("a", "b", "c")
EXAMPLE = belief("abc:1/2,bac:1/2", ABC)
CAB = (2, 0, 1)


def example(voters: int, contest: Contest) -> Question:
    """The motivating example of chapter 5: truth c > a > b, the others abc or bac with probability 1/2 each."""
    return Question(belief=EXAMPLE, truth=CAB, voters=voters, contest=contest)


# --- table B4 -----------------------------------------------------------------------------------------------------

B4 = {
    11: (".123047", ".246094", ".123", ".123", ".123", ".123"),
    101: (".039795", ".079589", "0", "0", ".0398", ".0398"),
    1001: (".012613", ".025225", "0", "0", ".0126", "0"),
    10001: (".003989", ".007979", "0", "0", "0", "0"),
}
MARGINS: tuple[Margin, ...] = (
    Power(Fraction(1, 10)),
    Power(Fraction(1, 4)),
    Power(Fraction(2, 5)),
    ForGain(Fraction(1, 10**6)),
)


def printed(x: Fraction, like: str) -> bool:
    """Whether x rounds to the number as it is printed; a printed 0 means exactly 0."""
    if like == "0":
        return x == 0
    return abs(x - rational(like)) <= Fraction(1, 2 * 10 ** len(like.partition(".")[2]))


@pytest.mark.parametrize("voters", B4)
def test_table_b4_to_the_printed_digits(voters: int) -> None:
    drawn, ordered, *eliminations = B4[voters]
    plain = gain(example(voters, Contest(kind="plurality")))
    assert plain.low == plain.high == Fraction(comb(voters - 1, (voters - 1) // 2), 2**voters)
    assert printed(plain.high, drawn)
    assert plain.lie is not None
    assert plain.lie[0] == 0  # vote for a
    assert printed(gain(example(voters, Contest(kind="plurality", order=(1, 0, 2)))).high, ordered)
    for asked, text in zip(MARGINS, eliminations, strict=True):
        for kind in ("repeated-plurality", "approximate-runoff"):
            contest = Contest(kind=kind, margin=threshold(asked, kind, voters, 3))
            found = gain(example(voters, contest))
            assert found.low == found.high
            assert printed(found.high, text), (voters, contest, float(found.high))


def test_b4_by_top_counts_too() -> None:
    for voters in (11, 101, 1001):
        exact = gain(example(voters, Contest(kind="plurality"))).high
        close = gain(example(voters, Contest(kind="plurality")), "three")
        assert close.low <= exact <= close.high
        assert close.high - close.low < Fraction(1, 10**12)


def test_the_gain_for_one_utility_is_its_step_times_the_gain() -> None:
    """B4: multiply the gain in Pr[a wins] by u(a) - u(b)."""
    contest = Contest(kind="plurality")
    worth = utility("c=1,a=0.4,b=0", ABC)
    question = Question(belief=EXAMPLE, truth=CAB, voters=101, contest=contest, worth=worth)
    exact = gain(question)
    assert exact.high == gain(example(101, contest)).high * Fraction(2, 5)
    close = gain(question, "three")
    assert close.low <= exact.high <= close.high


# --- the bound ----------------------------------------------------------------------------------------------------


def quarters() -> list[Belief]:
    """Every belief about three candidates with denominator 4."""
    rankings, found = list(permutations(range(3))), []
    for bars in combinations(range(9), 5):
        parts = [b - a - 1 for a, b in zip((-1, *bars), (*bars, 9), strict=True)]
        shares = tuple((r, Fraction(k, 4)) for r, k in zip(rankings, parts, strict=True) if k)
        found.append(Belief(candidates=ABC, shares=shares))
    return found


@pytest.mark.parametrize("kind", ["repeated-plurality", "approximate-runoff"])
def test_theorem_b1_over_all_beliefs_with_denominator_4(kind: str) -> None:
    """Truth abc; other truths are the same beliefs with other names. The exact gain is below both bounds.

    101 voters leave the bound for all beliefs at 1; where a lie gains, 401 are asked about too, for whom it is below.
    """
    beliefs = quarters()
    assert len(beliefs) == 126
    margins = {101: 13, 401: 50}
    general = {voters: gain_bound(kind, voters, 3, margin, Fraction(1, 4)) for voters, margin in margins.items()}
    assert general[401] < Fraction(4, 5)
    real = dict.fromkeys(margins, 0)
    for others in beliefs:
        for voters, margin in margins.items():
            contest = Contest(kind=kind, margin=margin)
            question = Question(belief=others, truth=(0, 1, 2), voters=voters, contest=contest)
            exact, bound = gain(question, "three"), gain(question, "bound")
            assert exact.low <= bound.high <= general[voters]
            assert bound.high < 1
            if exact.low < Fraction(1, 10**6):
                break
            real[voters] += 1
    assert min(real.values()) >= 9  # the test can fail: some lies do gain


@pytest.mark.parametrize(
    ("text", "kind", "gained"),
    [
        ("abc:1/4,bca:1/4,cba:1/2", "repeated-plurality", "2.2e-7"),
        ("abc:1/4,bca:1/4,cba:1/2", "approximate-runoff", "4.5e-9"),
        ("abc:1/3,bca:1/3,cba:1/3", "repeated-plurality", "3.9e-7"),
        ("abc:1/3,bca:1/3,cba:1/3", "approximate-runoff", "4.6e-10"),
    ],
)
def test_theorem_b1_where_its_bound_says_something(text: str, kind: str, gained: str) -> None:
    """n = 1001, B = 124: the worst of all beliefs with denominators 3 and 4, far below bounds that are far below 1."""
    question = Question(belief=belief(text), truth=(0, 1, 2), voters=1001, contest=Contest(kind=kind, margin=124))
    exact, bound = gain(question, "three"), gain(question, "bound")
    assert float(f"{float(exact.high):.1e}") == float(gained)
    assert exact.high < bound.high < Fraction(2, 10**5)
    assert bound.high < gain_bound(kind, 1001, 3, 124, question.belief.coarseness) < Fraction(1, 100)


def test_ten_to_the_minus_49_can_be_said() -> None:
    others = belief("abc:1/2,bac:1/4,cab:1/4")
    for voters, margin, below in ((10_001, 1249, "1e-49"), (100_001, 12_499, "1e-482"), (1_000_001, 124_999, None)):
        contest = Contest(kind="repeated-plurality", margin=margin)
        found = gain(Question(belief=others, truth=CAB, voters=voters, contest=contest))
        assert found.method == "bound"
        assert 0 < found.high < (rational(below) if below else Fraction(1, 10**4800))
        verdict = at_most(found, Fraction(1, 10**30))
        assert isinstance(verdict, Proved)
        assert approximately(found.high) in verdict.reason
        assert "e-" in approximately(found.high)


def test_the_expected_path_of_theorems_78_and_79() -> None:
    others = belief("abcd:3/8,bacd:3/8,cabd:1/4", ("a", "b", "c", "d"))
    repeated = expected_path(others, Contest(kind="repeated-plurality", margin=1))
    assert [(r.left, r.level) for r in repeated] == [((0, 1, 2, 3), (0, 1)), ((0, 1), (0,)), ((0,), (0,))]
    runoff = expected_path(others, Contest(kind="approximate-runoff", margin=1))
    assert [(r.left, r.level) for r in runoff] == [
        ((0, 1, 2, 3), (3,)),
        ((0, 1, 2), (2,)),
        ((0, 1), (1,)),
        ((0,), (0,)),
    ]


def test_no_bound_without_a_theorem() -> None:
    with pytest.raises(Refused, match="no theorem"):
        gain(example(101, Contest(kind="plurality")), "bound")
    with pytest.raises(Refused, match="fixed order"):
        gain(example(101, Contest(kind="repeated-plurality", margin=10, order=(0, 1, 2))), "bound")


# --- other methods ------------------------------------------------------------------------------------------------


def test_four_candidates_by_enumeration_stay_below_the_bound() -> None:
    others = belief("abcd:1/2,bcad:1/4,cabd:1/4", ("a", "b", "c", "d"))
    for kind in ("repeated-plurality", "approximate-runoff"):
        question = Question(belief=others, truth=(2, 1, 0, 3), voters=41, contest=Contest(kind=kind, margin=5))
        exact = gain(question)
        assert exact.method == "enumerate"
        assert exact.high <= gain(question, "bound").high


def test_truncated_ballots_and_not_voting_are_reports() -> None:
    others = belief("a:1/2,bc:1/2", ABC, truncated=True)
    runoff = Question(belief=others, truth=(2, 0), voters=21, contest=Contest(kind="instant-runoff"))
    assert () in runoff.reports
    assert len(runoff.reports) == runoff.number_of_lies == 1 + 3 + 6 + 6 - 1
    question = Question(belief=others, truth=(2, 0), voters=21, contest=Contest(kind="plurality"))
    assert question.reports == ((0, 2), (1, 2, 0), ())
    exact = gain(question)
    assert exact.method == "enumerate"
    assert exact.high == gain(example(21, Contest(kind="plurality"))).high
    with pytest.raises(WrongUse, match="complete ballots"):
        gain(question, "three")


def test_a_sample_brackets_the_truth_and_never_says_zero() -> None:
    source = ScriptedSource.from_label("a sample of elections")
    sampled = gain(example(101, Contest(kind="plurality")), "sample", Sampling(draws=20_000, source=source))
    exact = gain(example(101, Contest(kind="plurality"))).high
    assert 0 < sampled.low < exact < sampled.high
    assert sampled.estimate is not None
    assert sampled.lie is not None
    nothing = gain(
        example(101, Contest(kind="repeated-plurality", margin=15)), "sample", Sampling(draws=2000, source=source)
    )
    assert nothing.low == 0 < nothing.high
    assert nothing.lie is None
    assert isinstance(at_most(nothing, Fraction(1, 2)), Undecided)
    with pytest.raises(WrongUse, match="too many"):
        gain(example(10**6, Contest(kind="plurality")), "sample", Sampling(draws=10**6))


def test_a_sampled_gain_is_one_number_in_its_json_and_in_its_text() -> None:
    source = ScriptedSource.from_label("a sample of elections")
    told = answer(
        example(101, Contest(kind="plurality")), Fraction(1, 10), "sample", Sampling(draws=20_000, source=source)
    )
    facts = told.as_json()
    assert float(facts["gain_text"]) == pytest.approx(facts["gain"], rel=1e-5)
    assert facts["gain_low"] < facts["gain"] < facts["gain_high"]
    rare = example(101, Contest(kind="repeated-plurality", margin=15))
    none = answer(rare, Fraction(1, 10), "sample", Sampling(draws=2000, source=source)).as_json()
    assert (none["gain"], none["gain_text"][:8]) == (None, "at most ")


@pytest.mark.parametrize(
    ("worth", "most"),
    [(None, "1"), ("c=1,a=0.4,b=0", "1"), ("c=0.5,a=0.3,b=0.2", "0.3"), ("c=0.02,a=0.01,b=0", "0.02")],
)
def test_no_interval_goes_beyond_what_the_best_victory_is_worth_more(worth: str | None, most: str) -> None:
    """Ten draws say next to nothing, and a margin of 1 proves nothing: 1 is still above what can be gained."""
    named = None if worth is None else utility(worth, ABC)
    for kind, method, margin in (("plurality", "sample", None), ("repeated-plurality", "bound", 1)):
        question = Question(
            belief=EXAMPLE, truth=CAB, voters=11, contest=Contest(kind=kind, margin=margin), worth=named
        )
        source = ScriptedSource.from_label("few draws") if method == "sample" else None
        found = gain(question, method, Sampling(draws=10 if method == "sample" else None, source=source))
        assert 0 <= found.low <= found.high == rational(most)


def test_the_three_answers() -> None:
    exact = gain(example(101, Contest(kind="plurality")))
    assert isinstance(at_most(exact, Fraction(1, 10)), Proved)
    refuted = at_most(exact, Fraction(1, 100))
    assert isinstance(refuted, Refuted)
    witness = dict(refuted.witness)
    assert witness["lie"] in ("abc", "acb")
    assert rational(witness["gain at least"]) <= exact.high
    wide = gain(
        Question(belief=EXAMPLE, truth=CAB, voters=101, contest=Contest(kind="repeated-plurality", margin=60)), "bound"
    )
    undecided = at_most(wide, Fraction(1, 10))
    assert isinstance(undecided, Undecided)
    assert "union" in undecided.why


def test_the_method_that_is_chosen() -> None:
    full = belief("abc:1/6,acb:1/6,bac:1/6,bca:1/6,cab:1/6,cba:1/6")
    narrow, wide = Contest(kind="repeated-plurality", margin=20), Contest(kind="repeated-plurality", margin=300)
    assert gain(Question(belief=full, truth=CAB, voters=8, contest=narrow)).method == "enumerate"
    assert gain(Question(belief=full, truth=CAB, voters=60, contest=narrow)).method == "three"
    assert gain(Question(belief=full, truth=CAB, voters=5000, contest=wide)).method == "bound"
    runoff = Question(belief=full, truth=CAB, voters=5000, contest=Contest(kind="instant-runoff"))
    assert gain(runoff, None, Sampling(draws=200, source=ScriptedSource.from_label("few"))).method == "sample"
    plain = Question(belief=full, truth=CAB, voters=5000, contest=Contest(kind="plurality"))
    assert gain(plain).method == "pivots"
    points = Question(belief=full, truth=CAB, voters=500, contest=Contest(kind="borda"))
    assert gain(points).method == "three"
    four = Question(belief=dirichlet({}, "abcd"), truth=(2, 0, 1, 3), voters=15, contest=Contest(kind="instant-runoff"))
    assert gain(four).method == "four"
    assert gain(Question(belief=full, truth=CAB, voters=50, contest=narrow, lies=((0, 1, 2),))).method == "three"


def test_what_is_refused() -> None:
    plain = Contest(kind="plurality")
    with pytest.raises(WrongUse, match="2 voters"):
        Question(belief=EXAMPLE, truth=CAB, voters=1, contest=plain)
    with pytest.raises(WrongUse, match="2 of 3"):
        Question(belief=EXAMPLE, truth=(2, 0), voters=5, contest=plain)
    with pytest.raises(WrongUse, match="differ from the true"):
        Question(belief=EXAMPLE, truth=CAB, voters=5, contest=plain, lies=(CAB,))
    with pytest.raises(WrongUse, match="not consistent"):
        Question(belief=EXAMPLE, truth=CAB, voters=5, contest=plain, worth=utility("a=1,b=0.5,c=0", ABC))
    with pytest.raises(WrongUse, match="name each"):
        Question(belief=EXAMPLE, truth=CAB, voters=5, contest=Contest(kind="plurality", order=(0, 1)))
    with pytest.raises(WrongUse, match="found by one of"):
        gain(example(5, plain), "guess")
    names = tuple("abcdefgh")
    runoff = Contest(kind="instant-runoff")
    many = Question(belief=belief("abcdefgh:1"), truth=tuple(range(8)), voters=5, contest=runoff)
    with pytest.raises(WrongUse, match="too many to try"):
        gain(many, "enumerate")
    one = Question(belief=belief("abcdefgh:1"), truth=tuple(range(8)), voters=5, contest=plain, lies=((7, *range(7)),))
    assert gain(one, "enumerate").high == 0
    assert names == many.belief.candidates
    full = belief("abc:1/6,acb:1/6,bac:1/6,bca:1/6,cab:1/6,cba:1/6")
    with pytest.raises(WrongUse, match="too many to go through"):
        gain_profiles.laws_of_reports(full, 101, plain, [CAB, (0, 1, 2)])
    with pytest.raises(WrongUse, match="too many to go through"):
        gain(Question(belief=full, truth=CAB, voters=10_000, contest=plain), "three")
    assert gain_three.states(full, 10_000) > gain_three.MOST_STATES


@pytest.mark.parametrize(
    ("x", "up", "down"),
    [
        ("1/3", "0.3334", "0.3333"),
        ("0", "0", "0"),
        ("1", "1", "1"),
        ("2e-9", "2e-9", "2e-9"),
        ("1/3000000", "3.334e-7", "3.333e-7"),
        ("9.9999e-5", "1e-4", "9.999e-5"),
    ],
)
def test_numbers_are_said_on_the_safe_side(x: str, up: str, down: str) -> None:
    assert approximately(rational(x)) == up
    assert approximately(rational(x), up=False) == down


def test_approval_and_minimax_by_hand() -> None:
    """The other approves of b. Whoever approves of a and b lets b win; with a alone it is a tie, worth 1/2 more."""
    other = Belief(candidates=tuple("abc"), shares=(((1,), Fraction(1)),), truncated=True)
    found = gain(Question(belief=other, truth=(0, 1), voters=2, contest=Contest(kind="approval")))
    assert (found.method, found.low, found.high, found.lie) == ("enumerate", Fraction(1, 2), Fraction(1, 2), (0,))
    whole = Belief(candidates=tuple("abc"), shares=(((1, 0, 2), Fraction(1)),))
    with pytest.raises(WrongUse, match="names whom it approves of"):
        Question(belief=whole, truth=(0, 1, 2), voters=2, contest=Contest(kind="approval"))
    # Others bca twice, cab twice: b beats c 3 to 2 by her truth abc, c beats a, a beats b. With bac, b beats everybody.
    others = Belief(candidates=tuple("abc"), shares=(((1, 2, 0), Fraction(1, 2)), ((2, 0, 1), Fraction(1, 2))))
    best = gain(Question(belief=others, truth=(0, 1, 2), voters=5, contest=Contest(kind="minimax")))
    assert best.low == best.high > 0
    assert best.lie == (1, 0, 2)


def test_runoffs_of_five_candidates_are_sampled() -> None:
    names = tuple("abcde")
    shares = (((0, 1, 2, 3, 4), Fraction(1, 3)), ((1, 2, 3, 4, 0), Fraction(1, 3)), ((2, 3, 4, 0, 1), Fraction(1, 3)))
    asked = Question(
        belief=Belief(candidates=names, shares=shares),
        truth=(2, 0, 1, 3, 4),
        voters=31,
        contest=Contest(kind="instant-runoff"),
        lies=((0, 2, 1, 3, 4), (2, 1, 0, 3, 4)),
    )
    exact = gain(asked, "enumerate")
    drawn = gain(asked, "sample", Sampling(draws=4000, source=ScriptedSource.from_label("five")))
    assert exact.low == exact.high > 0
    assert drawn.low <= exact.low <= drawn.high
