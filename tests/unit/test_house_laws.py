"""The laws of the house that a program can check on the tree itself. Each check has a control that it can fail."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import hubbub
from hubbub import registry

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "hubbub"
MODULES = sorted(SOURCE.rglob("*.py"))


def inside(path: Path) -> str:
    """The path below src/hubbub, with forward slashes."""
    return path.relative_to(SOURCE).as_posix()


def offences(check: Callable[[Path], list[str]], paths: list[Path] = MODULES) -> dict[str, list[str]]:
    """What a check finds, by module; empty if every module keeps the law."""
    return {inside(path): found for path in paths if (found := check(path))}


# --- one door to randomness -------------------------------------------------------------------------------------

DOOR = "noise/source.py"
SEEDED_ALLOWED = "demo/"  # invents public data, the same every time

RANDOM_MODULES = ("random", "numpy.random", "secrets", "uuid")
RANDOM_NAMES = frozenset({"urandom", "getrandom", "default_rng", "SystemRandom", "RandomState"})
RANDOM_DEVICES = ("/dev/random", "/dev/urandom", "/dev/hwrng")
ENTROPY_WORD = re.compile("|".join(["random", "secrets", "uuid", "default_rng", "RandomState", "/dev/"]))
SEEDED = frozenset(
    {"random", "random.Random", "numpy.random"}
    | {f"numpy.random.{name}" for name in ("default_rng", "Generator", "PCG64", "PCG64DXSM", "Philox", "SeedSequence")}
)


class Entropy(ast.NodeVisitor):
    """Collects every use of randomness in a module, by import, alias, attribute, name or device file."""

    def __init__(self, *, seeded: bool) -> None:
        self.seeded = seeded
        self.found: list[str] = []
        self.origins: dict[str, str] = {}  # local name -> dotted name it stands for

    def report(self, node: ast.AST, what: str) -> None:
        self.found.append(f"line {getattr(node, 'lineno', '?')}: {what}")

    def meet(self, node: ast.AST, dotted: str) -> None:
        is_random = any(f"{dotted}.".startswith(f"{module}.") for module in RANDOM_MODULES)
        is_random = is_random or not RANDOM_NAMES.isdisjoint(dotted.split("."))
        if is_random and not (self.seeded and dotted in SEEDED):
            self.report(node, dotted)

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            local = name.asname or name.name.partition(".")[0]
            self.origins[local] = name.name if name.asname else local
            self.meet(node, name.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module:
            for name in node.names:
                dotted = f"{node.module}.{name.name}"
                self.origins[name.asname or name.name] = dotted
                self.meet(node, dotted)

    def dotted(self, node: ast.expr) -> str | None:
        """The dotted name that an expression stands for, if its first part was imported."""
        if isinstance(node, ast.Name):
            return self.origins.get(node.id)
        if isinstance(node, ast.Attribute):
            start = self.dotted(node.value)
            return start and f"{start}.{node.attr}"
        return None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self.dotted(node)
        if dotted is not None:
            self.meet(node, dotted)
            return
        if node.attr in RANDOM_NAMES:
            self.report(node, node.attr)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.meet(node, self.origins.get(node.id, f"local.{node.id}"))

    def visit_Call(self, node: ast.Call) -> None:
        callee = self.dotted(node.func) or (node.func.id if isinstance(node.func, ast.Name) else "")
        texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if callee in ("getattr", "__import__", "importlib.import_module", "importlib.__import__"):
            for text in texts:
                self.meet(node, text)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        unseeded = not given or all(isinstance(arg, ast.Constant) and arg.value is None for arg in given)
        if self.seeded and callee in SEEDED and unseeded:
            self.report(node, f"{callee} without a seed")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value in RANDOM_DEVICES:
            self.report(node, node.value)


def entropy(source: str, *, seeded: bool = False) -> list[str]:
    """Every use of randomness in `source`; with `seeded`, a generator that was given a seed is let through."""
    if not ENTROPY_WORD.search(source):
        return []  # whatever is found below has one of these words in it
    # Imports first, wherever they stand: a function may use a name that the module imports further down.
    tree = ast.parse(source)
    visitor = Entropy(seeded=seeded)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            visitor.visit(node)
    visitor.found.clear()
    visitor.visit(tree)
    return visitor.found


def test_randomness_comes_through_one_door() -> None:
    found = offences(
        lambda path: entropy(path.read_text(encoding="utf-8"), seeded=inside(path).startswith(SEEDED_ALLOWED))
    )
    assert found.pop(DOOR), "the door draws no entropy: is it still the door?"
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import random as chance",
        "from random import choice",
        "import secrets",
        "from secrets import token_bytes as word",
        "import uuid",
        "from uuid import uuid4",
        "import numpy.random",
        "import numpy.random as npr",
        "from numpy import random",
        "from numpy.random import Generator",
        "import numpy as np\nx = np.random.normal()",
        "import numpy\nx = numpy.random.Generator",
        "def f():\n    return np.random.normal()\nimport numpy as np",
        "import os\nos.urandom(8)",
        "import os as system\nread = system.urandom",
        "from os import urandom",
        "import os\nos.getrandom(8)",
        "import os\ngetattr(os, 'urandom')(8)",
        "rng = default_rng()",
        "rng = module().default_rng(3)",
        "__import__('random').random()",
        "import importlib\nimportlib.import_module('numpy.random')",
        "open('/dev/urandom', 'rb').read(8)",
    ],
)
def test_the_walker_sees_every_disguise(source: str) -> None:
    assert entropy(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(random):\n    return random.choice",
        "import numpy as np\nnp.zeros(3)",
        "import os\nos.path.join('a', 'b')",
        "from hubbub.noise.source import Source\nSource",
        "'words about random and secrets'",
        "import randomness, secretsharing",
    ],
)
def test_the_walker_leaves_the_innocent_alone(source: str) -> None:
    assert entropy(source) == []


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("import random\nr = random.Random(7)\nr.random()", False),
        ("import random\nr = random.Random()", True),
        ("import random\nrandom.choice('ab')", True),
        ("import random\nrandom.seed(3)", True),
        ("from random import Random\nr: Random = Random('Millbrook')", False),
        ("import numpy as np\nr = np.random.default_rng(7)", False),
        ("import numpy as np\nr = np.random.default_rng(seed=None)", True),
        ("import numpy as np\nnp.random.normal()", True),
        ("import secrets", True),
        ("import os\nos.urandom(8)", True),
        ("import random\nrandom.SystemRandom(3)", True),
    ],
)
def test_the_demo_may_use_a_seeded_generator_and_nothing_else(source: str, refused: bool) -> None:
    assert bool(entropy(source, seeded=True)) is refused


# --- every claim says its guarantee -----------------------------------------------------------------------------

CLAIMING = (
    "guarantees/implications.py",
    "guarantees/composition.py",
    "guarantees/accountant/concentrated.py",
    "guarantees/accountant/sampled_counts.py",
    "noise/sampler.py",
    "noise/binomial.py",
    "query_classes/classes.py",
    "query_classes/tails.py",
    "graphs/samplers.py",
    "graphs/noise_scale.py",
    "kinds/graph/promises.py",
    "ledger/admission.py",
    "ledger/charge.py",
    "sampling/amplification.py",
    "sampling/averages.py",
    "channels/mechanisms/noise_reach.py",
    "channels/custom_curve.py",
    "sampling/safepub.py",
    "sampling/sanitize.py",
    "kinds/cube/levels.py",
    "kinds/cube/margin_bounds.py",
    "account/sample_complexity.py",
    "audit/blackbox.py",
    "account/derivations.py",
    "account/tradeoff.py",
    "plan/targets.py",
    "voting/guarantees/assurance.py",
    "voting/chance.py",
    "voting/guarantees/choices.py",
    "voting/count/comparison.py",
    "voting/manipulation/condorcet.py",
    "voting/count/counted.py",
    "voting/guarantees/efficiency.py",
    "voting/manipulation/gain.py",
    "voting/manipulation/gain_profiles.py",
    "voting/guarantees/guarantee.py",
    "voting/guarantees/strategyproofness.py",
    "voting/rules/margins.py",
    "voting/rules/pairwise.py",
    "kinds/ballots/promises.py",
    "voting/rules/punishing.py",
    "kinds/ballots/round_bounds.py",
    "voting/guarantees/tails.py",
)
WITHOUT_A_CLAIM = frozenset(
    {
        "account/derivations.py:read_noise",
        "account/derivations.py:read_promise",
        "account/tradeoff.py:why_impossible",
        "audit/blackbox.py:look_sizes",
        "audit/blackbox.py:power",
        "audit/blackbox.py:power_on_leak",
        "audit/blackbox.py:power_sentence",
        "audit/blackbox.py:repeat_runs",
        "graphs/samplers.py:explore",
        "graphs/samplers.py:offset",
        "graphs/samplers.py:share",
        "graphs/samplers.py:walk",
        "plan/targets.py:parse_want",
        "query_classes/classes.py:box_of",
        "query_classes/classes.py:cells_of",
        "query_classes/classes.py:sum_cells",
        "query_classes/classes.py:is_table_name",
        "query_classes/classes.py:parse",
        "query_classes/classes.py:width",
    }
)
"""Functions of these modules that read, count or say something, and promise nothing."""
GUARANTEE = re.compile(r"^\s*Guarantee:\s*\S", re.MULTILINE)


def silent_functions(source: str) -> list[str]:
    """The public functions of a module whose docstring has no ``Guarantee:`` paragraph."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    public = [function for function in functions if not function.name.startswith("_")]
    return [function.name for function in public if not GUARANTEE.search(ast.get_docstring(function) or "")]


def is_mechanism(cls: type) -> bool:
    """Whether a class publishes values: it has a law and a release, and is not the protocol that asks for them."""
    acts = all(callable(getattr(cls, name, None)) for name in ("law", "release"))
    return acts and not cls.__name__.startswith("_") and not getattr(cls, "_is_protocol", False)


def is_silent(cls: type) -> bool:
    return not GUARANTEE.search(cls.__doc__ or "")


def draws(cls: type) -> bool:
    """Whether a class stands between exact numbers and a measurement (:class:`hubbub.protocol.measurement.Mechanism`)."""
    return callable(getattr(cls, "draw", None)) and hasattr(cls, "schema") and not getattr(cls, "_is_protocol", False)


def mechanisms() -> Iterator[type]:
    """Every channel, and every mechanism of a kind."""
    for folder, wanted in (("channels", is_mechanism), ("kinds", draws)):
        for found in pkgutil.walk_packages([str(SOURCE / folder)], f"hubbub.{folder}."):
            module = importlib.import_module(found.name)
            for _, cls in inspect.getmembers(module, inspect.isclass):
                if cls.__module__ == found.name and wanted(cls):
                    yield cls


@pytest.mark.parametrize("name", CLAIMING)
def test_public_functions_with_a_claim_say_their_guarantee(name: str) -> None:
    silent = silent_functions((SOURCE / name).read_text(encoding="utf-8"))
    assert {f"{name}:{function}" for function in silent} - WITHOUT_A_CLAIM == set()


def test_mechanisms_say_their_guarantee() -> None:
    assert {"Warped", "Bins", "Sums", "Ways", "NoisyCounts"} <= {cls.__name__ for cls in mechanisms()}
    assert [cls.__qualname__ for cls in mechanisms() if is_silent(cls)] == []


def test_a_silent_claim_is_noticed() -> None:
    spoken = '"""Adds.\n\n    Guarantee: the sum is private (Thm. 1).\n    """'
    source = f'def a():\n    {spoken}\n\ndef b():\n    """Guarantee:"""\n\ndef c(): ...\n\ndef _d(): ...\n'
    assert silent_functions(source) == ["b", "c"]

    class Sender:
        def law(self) -> None: ...
        def release(self) -> None: ...

    class Heir(Sender):
        """Guarantee: whatever the parent says."""

    class Bystander:
        def law(self) -> None: ...

    assert [is_mechanism(cls) for cls in (Sender, Heir, Bystander)] == [True, True, False]
    assert [is_silent(cls) for cls in (Sender, Heir)] == [True, False]


# --- a message is spelt by whoever shows it ---------------------------------------------------------------------

FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"hubbub (?:[a-z]+ )+[^;)]*")  # a whole command is the same for everybody
FRONT = ("cli/", "studio/", "demo/")


def flags_said(source: str) -> list[str]:
    """The messages of errors that name a parameter as it is typed in a shell."""
    said: list[str] = []
    if "--" not in source:
        return said
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            parts = [n.value for n in ast.walk(node.exc) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            text = COMMAND.sub("", "".join(parts))
            if FLAG.search(text):
                said.append(text)
    return said


def test_no_message_of_the_library_says_a_flag() -> None:
    library = [path for path in MODULES if not inside(path).startswith(FRONT)]
    assert offences(lambda path: flags_said(path.read_text(encoding="utf-8")), library) == {}


def test_a_flag_in_a_message_is_noticed() -> None:
    assert flags_said('raise WrongUse(f"{x} needs it; add --crowd 20")')
    assert flags_said('raise WrongUse("it is gone; run hubbub ledger key --new; or add --crowd")')
    assert not flags_said('raise WrongUse("it is gone; make another with hubbub ledger key --new")')
    assert not flags_said('raise WrongUse("say `crowd=20`")')


# --- a channel is known by what it says of itself ---------------------------------------------------------------


@cache
def channel_classes() -> frozenset[str]:
    """The names of all channels there are, by their definitions."""
    names = set()
    for path in (SOURCE / "channels").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                isinstance(b, ast.Name) and b.id == "Channel" for b in node.bases
            ):
                names.add(node.name)
    return frozenset(names)


def told_apart(source: str, classes: frozenset[str]) -> list[str]:
    """The channels that a module looks for with isinstance, with `type(...) is` or with a class pattern."""
    found: list[str] = []
    if not re.search(r"isinstance|issubclass|type\(|\bcase ", source) or not any(name in source for name in classes):
        return found
    for node in ast.walk(ast.parse(source)):
        looked: list[ast.AST] = []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            looked = list(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            looked = [node.cls]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            called = node.left.func
            looked = list(node.comparators) if isinstance(called, ast.Name) and called.id == "type" else []
        names = (part for each in looked for part in ast.walk(each))
        found += [part.id for part in names if isinstance(part, ast.Name) and part.id in classes]
    return found


def test_no_module_tells_channels_apart_by_their_class() -> None:
    assert offences(lambda path: told_apart(path.read_text(encoding="utf-8"), channel_classes())) == {}


def test_a_look_at_the_class_of_a_channel_is_noticed() -> None:
    classes = channel_classes()
    assert {"Geometric", "Warped", "Staircase", "ExactOrSuppressed"} <= classes
    assert told_apart("if isinstance(c, int | Geometric): ...", classes) == ["Geometric"]
    assert told_apart("if type(c) is Warped: ...", classes) == ["Warped"]
    assert told_apart("match c:\n    case Staircase(): ...", classes) == ["Staircase"]
    assert not told_apart("Geometric(1)", classes)


# --- names ------------------------------------------------------------------------------------------------------

# Words that once were names here and name nothing: a reader who knows the field cannot search for what they know. Prose
# may use them. "words" stays where it means the 64-bit words of a random source or the words of a line.
PRIVATE_WORDS = frozenset(
    [
        "told",
        "tell",
        "tells",
        "telling",
        "asked",
        "said",
        "saying",
        "whole",
        "alone",
        "together",
        "there",
        "standing",
        "meeting",
        "meets",
        "noticing",
        "notice",
        "thin",
        "thinned",
        "coins",
        "looks",
        "looked",
        "place",
        "places",
        "placed",
        "shown",
        "desk",
        "weigh",
        "weighed",
        "weighing",
        "honesty",
        "written",
        "resolved",
        "described",
        "spoken",
        "speak",
        "heard",
        "mended",
        "untold",
        "closeness",
    ]
)
HELD_BY_CERTIFICATES = frozenset({"Asked"})  # certificates of questions name it
NAMES = re.compile(r"(?:def|class)\s+\w+|\w+\s*:|\*\w+|lambda[^:]*")  # all that are defined here, and some prose


def private_words(name: str) -> frozenset[str]:
    return PRIVATE_WORDS & {*re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())}


def private_names(source: str, *, module: str = "") -> list[str]:
    """The names of functions, classes, parameters and of the module that contain a private word as a word."""
    names = [module]
    near = private_words(" ".join(NAMES.findall(source)))  # most modules have none, and need no closer look
    for node in ast.walk(ast.parse(source)) if near else ():
        kind = type(node)
        if kind is ast.arg:
            names.append(node.arg)  # type: ignore[attr-defined]
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            names.append(node.name)  # type: ignore[attr-defined]
    return [name for name in names if private_words(name) and name not in HELD_BY_CERTIFICATES]


def test_names_are_words_of_the_field() -> None:
    found = offences(lambda path: private_names(path.read_text(encoding="utf-8"), module=path.stem))
    assert found == {}, "say what it is, not that it was told"


def test_a_private_word_in_a_name_is_noticed() -> None:
    assert private_names("def told_apart(whole: int) -> None: ...") == ["told_apart", "whole"]
    assert private_names("class NotThere: ...\nasync def run(*asked, **said): ...") == ["NotThere", "asked", "said"]
    assert private_names("", module="shown_sample") == ["shown_sample"]
    assert private_names("all = lambda told, n=1: n") == ["told"]
    assert private_names("def placement(wholesale: int, totals: int) -> None: ...") == []


# --- the shape of the tree --------------------------------------------------------------------------------------

MOST = 20  # modules beside __init__.py: a folder is a room


def crowded(modules: list[Path]) -> list[str]:
    """The folders that hold more modules than a reader keeps in mind."""
    held = Counter(module.parent for module in modules if module.name != "__init__.py")
    return [folder.name for folder, count in held.items() if count > MOST]


def test_a_file_is_named_for_its_one_concept() -> None:
    assert offences(lambda path: [path.stem] if path.stem in ("utils", "helpers", "manager") else []) == {}


def test_no_folder_has_more_modules_than_a_room_holds() -> None:
    assert crowded(MODULES) == []
    assert crowded([SOURCE / "full" / f"part_{number}.py" for number in range(MOST + 1)]) == ["full"]


def test_every_folder_says_what_lives_there() -> None:
    folders = {path.parent for path in MODULES}
    first = {folder: folder / "__init__.py" for folder in folders}
    assert [inside(folder) for folder, file in first.items() if not file.exists()] == []
    assert [inside(f) for f in first.values() if not ast.get_docstring(ast.parse(f.read_text(encoding="utf-8")))] == []


STANDARD = frozenset({"spec", "request", "mechanism", "result"})  # and load, promises, text, wire, chart as needed
OUTSIDE = frozenset({"custom", "quantile"})  # somebody else's mechanism; one that sums count, draw and present


def unlike(folder: Path) -> frozenset[str]:
    """The standard files that a kind's folder lacks."""
    return STANDARD - {path.stem for path in folder.glob("*.py")}


def test_every_kind_has_a_folder_with_the_standard_files() -> None:
    folders = [path.parent for path in MODULES if path.name == "__init__.py" and path.parents[1] == SOURCE / "kinds"]
    assert {name for name in registry.names() if name in ("histogram", "cube", "graph")} <= {f.name for f in folders}
    assert {folder.name: unlike(folder) for folder in folders if folder.name not in OUTSIDE and unlike(folder)} == {}
    assert unlike(SOURCE / "kinds") == STANDARD


BORROWED = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_", re.MULTILINE)


def test_no_test_module_imports_another() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    assert len(paths) > 50
    assert [path.name for path in paths if BORROWED.search(path.read_text(encoding="utf-8"))] == []
    assert BORROWED.search("import os\nfrom tests.unit.test_" + "verify import Saved\n")


# --- nothing of the machine it was written on -------------------------------------------------------------------

MACHINE = re.compile(r"(?<![\w.])/(?:root|home|work|Users)/")
REGISTRY = re.compile(r"https?://\S*pypi|files\.pythonhosted", re.IGNORECASE)
NOT_OURS = frozenset({".git", ".venv", "build", "dist", "out", "hubbub-demo"})
PIN = re.compile(r"[A-Za-z0-9][\w.-]*==\d[\w.!+]*")


def project_files() -> list[Path]:
    """What git tracks or would track; without git, everything but the folders that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not any(
            part in NOT_OURS or part.endswith(("_cache", "__pycache__", ".egg-info", ".hypothesis"))
            for part in path.relative_to(ROOT).parts
        )
    ]


def addresses(text: str) -> list[str]:
    return [match.group() for pattern in (MACHINE, REGISTRY) for match in pattern.finditer(text)]


def test_no_machine_paths_or_registry_addresses() -> None:
    files = project_files()
    assert ROOT / "pyproject.toml" in files
    found = {}
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or an archive
        if hits := addresses(text):
            found[str(path.relative_to(ROOT))] = hits
    assert found == {}


@pytest.mark.parametrize(
    "parts",
    [
        ("", "root", "x"),
        ("see ", "home", "ann"),
        ("file:", "", "", "work", "main"),
        ("https:", "", "py" + "pi.org", "simple"),
        ("files.python" + "hosted.org",),
    ],
)
def test_an_address_is_noticed(parts: tuple[str, ...]) -> None:
    assert addresses("/".join(parts))
    assert addresses("docs/work/ and the root of x") == []


def test_constraints_are_versions_only_and_cover_every_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [pin for pin in pins if not PIN.fullmatch(pin)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += [need for extra in project["project"]["optional-dependencies"].values() for need in extra]
    names = {re.split(r"[<>=!~\[; ]", need)[0].lower() for need in wanted}
    assert names - {pin.partition("==")[0].lower() for pin in pins} == set()


def test_pages_name_nobody_to_write_to_whom_the_package_does_not_name() -> None:
    """A page that sends a reporter to maintainers in the metadata, which has none, loses the report."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not {"authors", "maintainers"} & set(project), "now SECURITY.md can name them"
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "maintainers listed" not in page
    assert "has no address for reports" in page


# --- the public surface -----------------------------------------------------------------------------------------

LATE = (
    "click",
    "duckdb",
    "highspy",
    "psycopg",
    "pyarrow",
    "pyspark",
    "resvg_py",
    "scipy",
    "sqlglot",
    "sqlite3",
    "starlette",
)


def test_import_hubbub_loads_nothing_optional() -> None:
    script = f"import sys, hubbub; print(*sorted(set(sys.modules) & set({LATE!r})))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_the_public_surface_is_this_list() -> None:
    words = "account channel correct decide explain interval ledger open open_graph plan profile publish_all reopen save sql "
    words += "sample_and_sanitize verify vote withdraw Certificate CheckFailed HubbubError Network Refused Release Table WrongUse"
    assert sorted(hubbub.__all__) == sorted(["__version__", *words.split()])
    assert [name for name in hubbub.__all__ if not hasattr(hubbub, name)] == []
    assert dir(hubbub) == sorted(hubbub.__all__)


def test_a_name_on_the_surface_stays_what_it_is_once_everything_is_loaded() -> None:
    script = (
        "import hubbub, importlib, pkgutil\n"
        "skip = ('.cli', '.numba_kernels', '.studio')\n"
        "for each in pkgutil.walk_packages(hubbub.__path__, 'hubbub.'):\n"
        "    if not any(part in each.name for part in skip):\n"
        "        importlib.import_module(each.name)\n"
        "print(*(name for name in hubbub.__all__ if type(getattr(hubbub, name)).__name__ == 'module'))\n"
        "print(callable(hubbub.verify), callable(hubbub.explain), dir(hubbub) == sorted(hubbub.__all__))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[:2] == ["account ledger plan vote", "True True True"]


@pytest.mark.parametrize("package", ["hubbub", "hubbub.charts", "hubbub.ledger"])
def test_no_name_that_is_loaded_late_is_hidden_by_a_module_of_its_name(package: str) -> None:
    found = importlib.import_module(package)
    assert found._WHERE
    assert not set(found._WHERE) & {each.name for each in pkgutil.iter_modules(found.__path__)}
