"""``hubbub graph``: the plan as JSON and in words, estimates, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands

ALL = "connectivity,eulerian,cycle-freeness,average-degree,edges"
PLAN = ["graph", "plan", "--vertices", "1000000", "--max-degree", "200", "--samples", "10000", "--epsilon", "1"]


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, args, catch_exceptions=False)


def test_the_plan_as_json() -> None:
    found = json.loads(run(*PLAN, "--json").stdout)
    rows = {row["of"]: row for row in found["rows"]}
    assert list(rows) == ["connectivity", "eulerian", "cycle-freeness", "average-degree", "edges"]
    wanted = {"of", "scale", "scale_proposition_12", "scale_node_dp", "explores"}
    assert all(set(row) >= wanted for row in rows.values())
    first = rows["connectivity"]
    scales = [round(first[name]) for name in ("scale", "scale_proposition_12", "scale_node_dp")]
    assert (scales, first["explores"], first["aggregate"]) == ([5649, 40_876, 200], 200, "RSE(10000, 200)")
    assert rows["edges"]["aggregate"] == "RSN(10000, 1)"


def test_the_plan_in_words() -> None:
    shown = run(*PLAN, "--of", "connectivity,triangles")
    assert shown.exit_code == 0
    assert "connectivity" in shown.stdout
    assert "5,649" in shown.stdout
    assert "zero-knowledge with respect to 10,000 random people" in " ".join(shown.stdout.split())


def test_the_plan_of_a_centred_simulator_says_what_it_costs() -> None:
    words = ["plan", "--vertices", "4039", "--max-degree", "1045", "--samples", "254", "--epsilon", "1", "--centred"]
    done = run("graph", *words, "--of", "connectivity")
    assert "597.44" in done.output
    assert "differentially a person may lose more than epsilon" in " ".join(done.output.split())


def test_histogram_and_triangles_need_no_samples() -> None:
    asked = ["graph", "plan", "--vertices", "50", "--max-degree", "10", "--epsilon", "1/2"]
    found = json.loads(run(*asked, "--of", "degree-histogram,triangles", "--json").stdout)
    assert [row["scale"] for row in found["rows"]] == [40, 90]
    assert [row["explores"] for row in found["rows"]] == [None, None]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--of", "friends"],
        ["--of", "edges,edges"],
        ["--vertices", "1"],
        ["--vertices", "1e15"],
        ["--max-degree", "0"],
        ["--samples", "0"],
        ["--samples", "2000000"],
        ["--explore", "1"],
        ["--epsilon", "0"],
        ["--epsilon", "x"],
        ["--average-at-most", "201"],
        ["--average-at-most", "20", "--of", "connectivity"],
    ],
)
def test_wrong_use_is_one_sentence(wrong: list[str]) -> None:
    found = run(*PLAN, *wrong)
    assert found.exit_code == 2
    assert found.stderr.startswith("hubbub: ")
    assert found.stderr.count("\n") == 1


def test_a_plan_without_samples_says_what_is_missing() -> None:
    found = run("graph", "plan", "--vertices", "50", "--max-degree", "10", "--epsilon", "1")
    assert (found.exit_code, "--samples" in found.stderr) == (2, True)


def test_estimates_of_a_file(tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("one,two\n" + "".join(f"{i},{i + 1}\n" for i in range(0, 200, 2)))
    asked = ["graph", "estimate", str(links), "--samples", "150", "--vertices", "300"]
    found = json.loads(run(*asked, "--json").stdout)
    assert found["private"] is False
    by_name = {each["of"]: each for each in found["estimates"]}
    assert by_name["connectivity"]["low"] <= 199 <= by_name["connectivity"]["high"]
    assert len(found["estimates"]) == 5
    shown = run(*asked, "--of", "eulerian", "--explore", "5")
    assert "do not publish" in shown.stderr or "not for publication" in shown.stderr
    assert "eulerian" in shown.stdout


@pytest.mark.parametrize(
    ("content", "more", "code"),
    [
        ("a,b\n1,2\n", ["--samples", "3"], 2),
        ("a,b\n1,2\n", ["--vertices", "1", "--samples", "1"], 3),
        ("a,b\n1,\n", ["--samples", "1"], 3),
        ("a,b\n1,2\n1,3\n", ["--samples", "1", "--max-degree", "1"], 2),
        ("a,b\n1,2\n", ["--samples", "1", "--of", "triangles"], 2),
        ("a,b\n1,2\n", ["--samples", "1", "--confidence", "1"], 2),
        ("a,b\n", ["--samples", "1"], 2),
        ("", ["--samples", "1", "--vertices", "0"], 2),
    ],
)
def test_a_graph_that_does_not_fit_is_one_sentence(content: str, more: list[str], code: int, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(content)
    found = run("graph", "estimate", str(tmp_path / "links.csv"), *more)
    assert (found.exit_code, found.stdout) == (code, "")
    assert found.stderr.count("\n") == 1


def test_one_edge_and_no_edge_are_graphs(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("1 2\n")
    assert run("graph", "estimate", str(tmp_path / "links.txt"), "--samples", "2").exit_code == 0
    (tmp_path / "none.txt").write_text("")
    assert run("graph", "estimate", str(tmp_path / "none.txt"), "--samples", "2", "--vertices", "3").exit_code == 0


# --- a private look -----------------------------------------------------------------------------------------------


def test_a_preview_is_marked_as_private_and_enters_nothing(tmp_path: Path) -> None:
    from hubbub.ledger.ledger import Ledger

    out = tmp_path / "private.html"
    told = json.loads(run("graph", "preview", "millbrook", "--out", str(out), "--json").stdout)
    page = out.read_text(encoding="utf-8")
    assert told == {"private": True, "warning": told["warning"], "page": str(out)}
    assert page.count("PRIVATE: these are the exact degrees") == 2
    assert "<title>0: 6,000</title>" in page
    assert out.stat().st_mode & 0o077 == 0
    assert Ledger().accounts() == {}
    shown = run("graph", "preview", "millbrook", "--out", str(out))
    assert (shown.exit_code, "for you alone" in shown.stdout, "PRIVATE" in shown.stderr) == (0, True, True)
    (tmp_path / "none.csv").write_text("")
    assert run("graph", "preview", str(tmp_path / "none.csv"), "--out", str(out)).exit_code == 0
    for wrong in (tmp_path / "private.txt", tmp_path / "nowhere" / "private.html"):
        assert run("graph", "preview", "millbrook", "--out", str(wrong)).exit_code == 2


# --- release ------------------------------------------------------------------------------------------------------

RELEASE = ["--vertices", "60", "--max-degree", "4", "--samples", "20", "--epsilon", "1"]


@pytest.fixture
def links(tmp_path: Path) -> Path:
    file = tmp_path / "links.csv"
    file.write_text("one,two\n" + "".join(f"{i},{i + 1}\n" for i in range(0, 50, 2)))
    return file


def release(file: Path | str, out: Path, *words: str) -> Result:
    return run("graph", "release", str(file), *RELEASE, "--out", str(out), *words)


def test_a_release_as_json(links: Path, tmp_path: Path) -> None:
    done = release(links, tmp_path / "out", "--of", ALL, "--average-at-most", "3", "--compare", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert [each["of"] for each in told["answers"]] == ALL.split(",")
    assert all({"of", "value", "low", "high", "distance"} <= set(each) for each in told["answers"])
    assert all(each["low"] <= each["high"] for each in told["answers"])
    # Noise may go below 0, and above the 59 edges that connect any 60 vertices.
    assert told["answers"][0]["distance"] == min(max(told["answers"][0]["count"], 0), 59) / 120
    assert told["answers"][4]["distance"] is None
    assert [row["of"] for row in told["compare"]["rows"]] == ALL.split(",")
    first = told["compare"]["rows"][0]
    assert first["scale"] == told["answers"][0]["scale"]
    assert first["scale_proposition_12"] > first["scale"] > first["scale_node_dp"]
    assert {each["unit"] for each in told["guarantees"]} == {"vertex"}
    assert told["dataset"] == "links"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "release.csv",
        "certificate.json",
        "datapackage.json",
        "report.html",
    }
    assert run("verify", told["certificate"]).exit_code == 0
    said = " ".join(run("explain", told["certificate"]).stdout.split())
    assert "with that person's edges removed" in said
    assert "20 people picked at random" in said


def test_a_release_in_words(links: Path, tmp_path: Path) -> None:
    done = release(links, tmp_path, "--of", "eulerian,average-degree", "--compare", "--explain")
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    for part in ("as a distance", "scale of the noise", "k = 20", "Prop. 12", "RSE(20, 9)", "a path that uses every"):
        assert part in said, part
    assert max(map(len, done.stdout.splitlines()[:4])) <= 80


def test_every_sign_of_a_release_shows_on_the_terminal(links: Path, tmp_path: Path) -> None:
    shown = release(links, tmp_path / "signs", "--of", "connectivity")
    assert shown.exit_code == 0
    assert "95 %" in shown.stdout
    assert "\\u" not in shown.stdout


def test_the_scales_of_a_release_are_those_of_the_plan(tmp_path: Path) -> None:
    asked = ["--vertices", "6000", "--max-degree", "40", "--samples", "500", "--epsilon", "1", "--of", ALL]
    planned = json.loads(run("graph", "plan", *asked, "--json").stdout)["rows"]
    done = json.loads(run("graph", "release", "millbrook", *asked, "--out", str(tmp_path), "--json").stdout)
    assert [each["scale"] for each in done["answers"]] == [row["scale"] for row in planned]
    assert done["dataset"] == "millbrook-friends"


def test_the_examples_of_its_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hubbub.kinds.graph.request import KIND

    monkeypatch.chdir(tmp_path)
    shown = run("graph", "release", "--help-all").stdout
    assert run("release", "graph", "--help-all").stdout.splitlines()[3:] == shown.splitlines()[3:]
    for example in KIND.examples:
        assert example in shown, "an example must stand on one line, to be copied"
        assert run(*example.split()[1:]).exit_code == 0
    assert "release" in run("graph", "--help").stdout


def test_a_vertex_file_and_named_columns(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("weight\tfrom\tto\n3\tann\tbob\n1\tbob\tann\n2\tann\tann\n")
    (tmp_path / "people.txt").write_text("ann\nbob\ncid\n")
    words = ["--columns", "from,to", "--vertex-file", str(tmp_path / "people.txt"), "--no-header"]
    assert release(tmp_path / "links.tsv", tmp_path / "no", *words).exit_code != 0  # the names are then no columns
    words[-1] = "--header"
    done = release(
        tmp_path / "links.tsv", tmp_path / "out", *words, "--of", "edges", "--epsilon", "40", "--yes", "--json"
    )
    (answer,) = json.loads(done.stdout)["answers"]
    assert answer["scale"] < 2
    assert abs(answer["value"] - 1) < 60


ODD: dict[str, tuple[str, str, int]] = {  # file, what is in it, the exit code
    "an empty file": ("g.csv", "", 0),
    "a heading alone": ("g.csv", "a,b\n", 0),
    "one vertex": ("g.csv", "a,b\n7,7\n", 0),
    "weights": ("g.csv", "a,b,weight\n1,2,0.5\n", 2),
    "negative ids": ("g.csv", "a,b\n-1,-2\n-2,3\n", 0),
    "ids beyond 64 bits": ("g.csv", f"a,b\n{10**30},{10**30 + 1}\n{2**64},5\n", 0),
    "self-loops": ("g.csv", "a,b\n" + "5,5\n" * 100_000, 0),
    "an end is missing": ("g.csv", "a,b\n1,\n", 3),
    "one column": ("g.csv", "a\n1\n", 2),
    "a GML that never ends": ("g.gml", "graph [\n" + "node [ id 1 " * 50_000, 2),
    "no GraphML": ("g.graphml", "<graphml><graph>", 2),
    "bytes": ("g.parquet", "PAR1", 2),
    "another ending": ("g.doc", "1,2\n", 2),
    "too many people": ("g.csv", "a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(0, 200, 2)), 3),
    "too many friends": ("g.csv", "a,b\n" + "".join(f"0,{i}\n" for i in range(1, 9)), 3),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_graphs_are_released_or_cost_nothing(what: str, tmp_path: Path) -> None:
    from hubbub.ledger.ledger import Ledger

    name, content, code = ODD[what]
    (tmp_path / name).write_text(content)
    done = release(tmp_path / name, tmp_path / "out", "--json")
    assert done.exit_code == code, done.output
    spent = [record for account in Ledger().accounts().values() for record in account.records if record.is_spent]
    assert (len(spent), bool(done.stdout)) == ((1, True) if code == 0 else (0, False))
    if code:
        assert done.stderr.startswith("hubbub: ")
        assert done.stderr.count("\n") == 1
        assert not list((tmp_path / "out").glob("*"))


def test_an_unknown_vertex_costs_nothing(links: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("p\n1\n2\n")
    done = release(links, tmp_path / "out", "--vertex-file", str(tmp_path / "people.csv"))
    assert (done.exit_code, "not among the vertices" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    "words",
    [
        ["--of", "paths"],
        ["--of", "edges,edges"],
        ["--of", "edges,triangles"],
        ["--samples", "0"],
        ["--vertices", "many"],
        ["--epsilon", "-1"],
        ["--per-edge"],
        ["--format", "xml"],
        ["--coverage", "2"],
        ["--columns", "a"],
        ["--vertex-file", "none.csv"],
    ],
)
def test_wrong_use_of_a_release_is_one_sentence(words: list[str], links: Path, tmp_path: Path) -> None:
    done = release(links, tmp_path / "out", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("missing", ["--vertices", "--max-degree", "--epsilon", "--samples"])
def test_what_is_public_must_be_said(missing: str, links: Path, tmp_path: Path) -> None:
    at = RELEASE.index(missing)
    words = [*RELEASE[:at], *RELEASE[at + 2 :]]
    done = run("graph", "release", str(links), *words, "--out", str(tmp_path / "out"))
    assert (done.exit_code, missing in done.stderr) == (2, True)


def test_two_releases_in_turn_share_the_sampled_people_unless_the_network_is_another(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("a,b,c\n" + "".join(f"{i},{i + 1},{i + 2}\n" for i in range(1, 31)))
    words = ["--vertices", "40", "--max-degree", "4", "--samples", "10", "--epsilon", "0.3", "--columns"]
    for number, (of, columns, people, walk) in enumerate(
        (("connectivity", "a,b", 10, ", 7 for each"), ("edges", "a,b", 10, ", 7 for each"), ("edges", "a,c", 20, "7"))
    ):
        done = run("graph", "release", str(file), *words, columns, "--of", of, "--out", str(tmp_path / str(number)))
        assert done.exit_code == 0, done.output
        shown = " ".join(run("ledger", "show", "links").stdout.split())
        whole = shown.partition("All releases together")[2]
        assert f"beside the raw data and links of {people} people picked at random" in whole
        assert walk in whole
        assert f"epsilon 0.{3 * number + 3}, beside" in whole
        assert "for one person with other edges" in whole
    assert run("ledger", "check").exit_code == 0
