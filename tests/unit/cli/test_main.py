"""The command as a whole: help that is true and fast, one sentence for each expected error, the four exit codes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub import cli, registry
from hubbub.cli.main import commands
from hubbub.demo import millbrook
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse

HEAVY = ("cryptography", "flint", "highspy", "numpy", "scipy")


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, args, catch_exceptions=False)


def every_command(command: click.Command = commands, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from every_command(below, *path, name)


def examples_of(command: click.Command) -> list[str]:
    lines = (command.epilog or "").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("hubbub ")]


EVERY = [pytest.param(path, command, id=" ".join(("hubbub", *path))) for path, command in every_command()]


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_every_help_has_an_example_that_runs(
    path: tuple[str, ...], command: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path == ("sql",):
        pytest.importorskip("sqlglot")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    millbrook.publish(tmp_path / "hubbub-demo")  # what the demo leaves
    shown = run(*path, "--help-all" if isinstance(command, cli.InGroups) else "--help")
    examples = examples_of(command)
    assert shown.exit_code == 0
    assert examples
    assert not any(example.endswith("--help") for example in examples), "no command is its own example"
    for example in examples:
        if "spark://" in example or example.startswith("hubbub studio "):
            continue  # a cluster of its own; a page that stays until it is stopped
        if example.startswith("hubbub ledger finish "):
            assert "nothing to finish" in run(*shlex.split(example)[1:]).stderr  # no process died here
            continue
        assert example in shown.stdout, "an example must stand on one line, to be copied"
        result = run(*shlex.split(example)[1:])
        assert (result.exit_code, bool(result.stdout)) == (0, True), example


def test_a_shell_takes_every_example_as_it_stands() -> None:
    every = "\n".join(example for _, command in every_command() for example in examples_of(command))
    told = subprocess.run(["sh", "-n"], input=every, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")


def test_a_group_without_a_command_shows_its_help() -> None:
    assert run().stdout == run("--help").stdout
    assert run("channel").stdout == run("channel", "--help").stdout
    assert run("channel").exit_code == 0


def test_version() -> None:
    assert run("--version").stdout == f"hubbub, version {hubbub.__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['hubbub', '--help']\nfrom hubbub.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n"
        f"    print(end.code, *sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stderr.split() == ["0"]
    assert told.stdout.startswith("Usage: hubbub [OPTIONS]")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--bogus"], "hubbub: no such option '--bogus'; see hubbub --help\n"),
        (["channel", "law", "--count", "3"], "hubbub: missing option '--channel'; see hubbub channel law --help\n"),
        (["channel", "law", "--channel", "warped", "--curve"], "hubbub: option '--curve' requires an argument"),
        (["chanel"], "hubbub: no such command 'chanel'. Did you mean 'channel'?"),
        (["release", "histogrm"], "hubbub: no such command 'histogrm'. Did you mean 'histogram'?"),
        (["release", "histogram", "people.csv"], "hubbub: missing option '--out'; see hubbub release histogram --help"),
        (["account", "crowd", "--rate", "0.1"], "hubbub: missing option '--k'; see hubbub account crowd --help"),
    ],
)
def test_a_slip_of_the_hand_is_one_sentence(args: list[str], sentence: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(("error", "code"), [(WrongUse, 2), (Refused, 3), (CheckFailed, 4)])
def test_each_expected_error_has_its_exit_code(error: type[HubbubError], code: int) -> None:
    @click.group(cls=cli.Commands)
    def group() -> None: ...

    @group.command()
    def act() -> None:
        raise error("what, the rule, what was given, the next step")

    result = CliRunner().invoke(group, ["act"])
    assert result.exit_code == code
    assert (result.stdout, result.stderr) == ("", "hubbub: what, the rule, what was given, the next step\n")


def test_an_unexpected_error_is_not_hidden() -> None:
    @click.group(cls=cli.Commands)
    def group() -> None: ...

    @group.command()
    def act() -> None:
        raise ZeroDivisionError

    assert isinstance(CliRunner().invoke(group, ["act"]).exception, ZeroDivisionError)


def test_the_help_of_hubbub_has_every_command_in_one_line_by_what_it_is_for() -> None:
    shown = run("--help").stdout
    for heading in ("Publish:", "Check:", "Plan:", "Vote:", "Research:"):
        assert f"\n{heading}\n" in shown
    lines = shown.splitlines()
    for name in commands.list_commands(click.Context(commands)):
        assert sum(line.startswith(f"  {name} ") and line.endswith(".") and len(line) < 80 for line in lines) == 1, name
    assert "..." not in shown.partition("Publish:")[2]
    assert examples_of(commands)[0].startswith("hubbub release histogram hubbub-demo/millbrook.parquet")


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_no_line_about_a_command_is_cut(path: tuple[str, ...], command: click.Command) -> None:
    shown = run(*path, "--help").stdout.partition("\nCommands:\n")[2]
    assert "...\n" not in shown


@pytest.mark.parametrize("module", ["click", "hubbub.cli.main", "hubbub.cli.verify"])
@pytest.mark.parametrize("made", ["KeyboardInterrupt", "ImportError('of a library')"])
def test_ctrl_c_while_the_command_is_loaded_is_one_word(module: str, made: str) -> None:
    """The interrupt as it is, and as DuckDB hands it on when it comes while it is imported."""
    start = f"""
import signal, sys
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise {made} from None
sys.meta_path.insert(0, Hook())
sys.argv = ["hubbub", "verify", "x.json"]
from hubbub.start import main
main()
"""
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (cli.STOPPED, "", "hubbub: stopped\n")


KINDS = [name for name in registry.names() if registry.kind(name).data != "ballots"]


@pytest.mark.parametrize("name", KINDS)
def test_the_help_of_a_release_fits_a_screen_in_groups_and_help_all_has_every_option(name: str) -> None:
    short, long = run("release", name, "--help").stdout, run("release", name, "--help-all").stdout
    headings = ["What is published:", "Whose data it is:", "How people are protected:", "Where it goes:", "More:"]
    found = [line for line in short.splitlines() if line in headings]
    assert found == [each for each in headings if each in found]
    assert len(found) >= (3 if name == "questions" else 5), "the sections in the order of the work"
    assert short.count("\n") <= 40
    assert "Show more: every option" in short
    assert "Example:\n    hubbub " in short
    flags = {f"--{option.name.replace('_', '-')}" for option in registry.kind(name).options}
    assert all(f"  {flag} " in long or f"  {flag}\n" in long for flag in flags)
    assert sum(f"  {flag} " in short for flag in flags) <= 12
