"""Somebody's own function in the game of the promise that it makes: five lines from a newcomer, no knowledge of us.

The function takes a table, or a table and our source of noise (a parameter called ``source``); with that it can be
replayed, without it only run many times. What the neighbours are depends on the game:

::

    differential, outlier   two tables of which one has one person more
    crowd-blending          a list of rows, and which of them is the person
    zero-knowledge          the table, and the same without the person for a simulator (another function)
    distributional          two functions without arguments that draw such tables
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from os import getcwd
from typing import Any, Final

from hubbub.audit.blackbox import CONFIDENCE, RUNS, Experiment, compare, repeat_runs
from hubbub.audit.finding import Finding, Game
from hubbub.audit.replay import replay
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, Infinite, integer, loss, rational, to_text

SOURCE: Final = "source"

Function = Callable[..., object]
Progress = Callable[[int, int], None]


def load(name: str) -> Any:
    """What ``module:name`` stands for, in the folder somebody stands in or among what is installed."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise WrongUse(f"a function is named like module:name, not {name[:60]!r}; name the module and what is in it")
    here = getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # whatever the module raises while it is loaded
        raise WrongUse(
            f"the module {module[:60]!r} cannot be imported ({type(error).__name__}); stand in the folder that has it"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise WrongUse(f"the module {module[:60]!r} has no {part[:60]!r}; name something that it has")
        found = getattr(found, part)
    return found


def takes_source(function: Function) -> bool:
    """Whether a function can be handed its noise."""
    try:
        return SOURCE in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def experiment(function: Function, data: Any, *, drawn: bool = False) -> Experiment:
    """Many runs of a function on a table, or on tables that are drawn."""
    noise = {SOURCE: SystemSource()} if takes_source(function) else {}
    return repeat_runs(lambda: function(data() if drawn else data, **noise))


def audit(
    function: Function,
    neighbours: Any,
    *,
    game: str | Game = Game.DIFFERENTIAL,
    epsilon: Exact | Infinite,
    delta: Exact = 0,
    k: Exact | None = None,
    simulator: Function | None = None,
    distance: Exact | None = None,
    runs: int = RUNS,
    confidence: Exact = CONFIDENCE,
    subject: str | None = None,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """Play the game: a replay first where the function takes our noise and a `distance` is declared, then many runs.

    Guarantee: if the function has the promise, a black box refutes it with probability at most 1 - confidence; a replay
    never does, if `distance` is right.
    """
    played = _game(game)
    name = str(subject or getattr(function, "__name__", "a function"))
    given = neighbours() if callable(neighbours) else neighbours
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise WrongUse(f"the neighbours of a {played.value} game are a pair; see hubbub audit function --help")
    one, two = given
    options: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "subject": name, "game": played}
    often: dict[str, Any] = {"runs": runs, "confidence": confidence, "progress": progress}
    if played is Game.CROWD_BLENDING:
        return (_crowd(function, one, two, k, epsilon, often, name),)
    if played is Game.ZERO_KNOWLEDGE:
        if simulator is None:
            raise WrongUse("zero-knowledge compares with a simulator; name one with `simulator`")
        return (compare(experiment(function, one), experiment(simulator, two), **options, **often),)
    if played is Game.DISTRIBUTIONAL:
        if not callable(one) or not callable(two):
            raise WrongUse("the neighbours of a distributional game are two functions that draw tables; give such")
        left, right = (experiment(function, draw, drawn=True) for draw in (one, two))
        return (compare(left, right, **options, **often),)
    found: list[Finding] = []
    if takes_source(function) and distance is not None:
        frozen = replay(lambda data, source: function(data, source=source), one, two, distance=distance, game=played)
        found.append(replace(frozen, subject=name))
    return (*found, compare(experiment(function, one), experiment(function, two), **options, **often))


def _game(game: str | Game) -> Game:
    if isinstance(game, Game):
        return game
    try:
        return Game(game)
    except ValueError:
        names = ", ".join(each.value for each in Game)
        raise WrongUse(f"there is no game {game[:40]!r}; choose one of {names}") from None


def _crowd(
    function: Function,
    rows: Sequence[Any],
    person: int,
    k: Exact | None,
    epsilon: Exact | Infinite,
    often: dict[str, Any],
    name: str,
) -> Finding:
    """Is the person missed, and by how many of the others can they be told from everybody else?

    Guarantee: as for the black box, with the error shared among all comparisons: if the function is crowd-blending, it
    is refuted with probability at most 1 - confidence.
    """
    if k is None:
        raise WrongUse("crowd-blending is with respect to a crowd; say how large with `k`")
    crowd, people = integer(k, "`k`", least=1), list(rows)
    if not isinstance(person, int) or not 0 <= person < len(people):
        raise WrongUse("the neighbours of a crowd-blending game are a list of rows and the number of the person in it")
    kinds = Counter(map(_frozen, people))
    own = _frozen(people[person])
    others = [each for each in kinds if each != own]
    alpha = (1 - rational(often["confidence"], "`confidence`")) / (1 + len(others))
    each_time = {**often, "confidence": 1 - alpha}
    rest = people[:person] + people[person + 1 :]
    on_whole_table = experiment(function, people)
    options: dict[str, Any] = {"epsilon": epsilon, "game": Game.CROWD_BLENDING, "subject": name, **each_time}
    missed = compare(on_whole_table, experiment(function, rest), **options)
    claimed = f"({crowd}, {to_text(loss(epsilon, '`epsilon`'))})-crowd-blending"
    sure = to_text(Fraction(rational(often["confidence"], "`confidence`")))
    if not missed.is_refuted:
        verdict: Verdict = Undecided(f"the person can be left out, as far as {often['runs']:,} runs of each show")
        return replace(missed, verdict=verdict, claimed=claimed, confidence=sure)
    alike, distinguishable = kinds[own], 0
    for other in others:
        if alike >= crowd:
            break
        swapped = list(people)
        swapped[person] = next(row for row in people if _frozen(row) == other)
        if compare(on_whole_table, experiment(function, swapped), **options).is_refuted:
            distinguishable += 1
        else:
            alike += kinds[other]
    if alike >= crowd:
        verdict = Undecided(f"the person is missed, and {alike} people may be like them: not refuted")
    else:
        witness = (
            *(missed.verdict.witness if isinstance(missed.verdict, Refuted) else ()),
            ("crowd_at_most", str(alike)),
        )
        verdict = Refuted("a person stands in too small a crowd and is missed when left out", witness)
    return replace(missed, verdict=verdict, claimed=claimed, confidence=sure, lower_bound=f"a crowd of {alike} at most")


def _frozen(row: Any) -> str:
    return repr(row)
