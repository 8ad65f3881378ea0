"""A contact sheet of every kind of report and every page of the studio, to look at: ``make sheets``.

Reports are about an invented town. Each page is taken at 1440 and at 390 pixels, light and dark, and as paper, and
``out/sheets/index.html`` shows all of them.
"""

from __future__ import annotations

import base64
import html
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

import hubbub
from hubbub import series as planned
from hubbub.kinds.table import Table
from hubbub.protocol.release import Release
from hubbub.report.heading import Heading
from tests.browser.chromium import Browser, Running, browsing, found, running

FOLDER = Path("out") / "sheets"
PEOPLE = 20_000
SIZES = {"1440": (1440, False), "390": (390, False), "dark-1440": (1440, True), "dark-390": (390, True)}
STUDIO = {
    "publish": "/publish",
    "questions": "/publish/table?file=millbrook.parquet",
    "columns": "/publish/table?file=millbrook.parquet&named=1&question=how-many&guided=1&step=2",
    "promise": "/publish/table?file=millbrook.parquet&named=1&question=how-many&guided=1&step=3",
    "filled": "/publish/table?file=millbrook.parquet&question=how-many&who=column:resident&by1-use=on&by3-use=on&step=3",
    "every-month": "/publish/table?file=millbrook.parquet&question=every-month&who=column:resident&by3-use=on&step=2",
    "unread": "/publish/table?file=friends.csv&question=how-many&step=2",
    "second-table": "/publish/table?file=friends.csv&named=1&question=how-many&join=millbrook.parquet&on=&step=2",
    "release": "/release?folder=millbrook-histogram",
    "check": "/check",
    "checked": "/check/folder?folder=millbrook-histogram",
    "plan": "/plan?people=2000&bins=20&rate=0.2",
    "vote": "/vote",
    "vote-seats": "/vote?rule=stv&transfers=ireland&seats=2",
    "result": "/vote/result?folder=millbrook-count&file=millbrook",
    "result-seats": "/vote/result?folder=seats&file=millbrook",
    "ballots": "/vote/ballots?file=millbrook",
    "ledger": "/ledger",
    "ledger-one": "/ledger?dataset=millbrook",
    "series": "/ledger/series?name=residents",
    "nowhere": "/nowhere",
}
HEADING = Heading(publisher="The town of Millbrook", date="May 2026")


def town() -> pa.Table:
    """People who are invented by arithmetic: the same in every sheet."""
    parts = ("Old Town", "Harbour", "Hillside", "Station", "Riverside", "Mill Quarter")
    jobs = ("Schools", "Health", "Police", "Roads", "Library")
    draws = [(i * 2_654_435_761 + i * i * 40_503) % 2**32 / 2**32 for i in range(PEOPLE)]
    again = [(i * 2_246_822_519 + 7 * i * i * 3_266_489) % 2**32 / 2**32 for i in range(PEOPLE)]
    first = date(2025, 1, 1)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(PEOPLE)],
            "district": [parts[int(6 * draw * draw)] for draw in draws],
            "age": [None if i % 61 == 0 else int(18 + 72 * again[i] * (0.4 + 0.6 * draws[i])) for i in range(PEOPLE)],
            "job": [jobs[int(5 * (again[i] + draws[i]) / 2)] for i in range(PEOPLE)],
            "income": [int(1200 + 5200 * again[i] * draws[i]) for i in range(PEOPLE)],
            "days": [int(1 + 30 * again[(i + 11) % PEOPLE] * draws[i]) for i in range(PEOPLE)],
            "weight": [1 + i % 4 for i in range(PEOPLE)],
            "moved": [first + timedelta(days=int(364 * draws[i])) for i in range(PEOPLE)],
            "lon": [13.30 + 0.2 * (draws[i] + again[(i + 7) % PEOPLE]) / 2 for i in range(PEOPLE)],
            "lat": [52.45 + 0.15 * (again[i] + draws[(i + 3) % PEOPLE]) / 2 for i in range(PEOPLE)],
        }
    )


DISTRICTS = 'district="Old Town",Harbour,Hillside,Station,Riverside,"Mill Quarter"'
BOX = [("13.3", "13.5"), ("52.45", "52.6")]
JOBS = "job=Schools,Health,Police,Roads,Library"


def releases(people: Callable[[], Table]) -> Iterator[tuple[str, Callable[[], Release]]]:
    """One of each kind, and of the shapes of data that are drawn differently."""

    def every(what: str, *names: Any, **words: Any) -> tuple[str, Callable[[], Release]]:
        return what, lambda: getattr(people(), names[0])(*names[1:], **words)

    yield every("histogram-ages", "histogram", ["age:10..100:10,null"], epsilon="0.5")
    yield every("histogram-crowds", "histogram", [DISTRICTS], crowd=20, sample="0.1")
    yield every("histogram-months", "histogram", ["moved:month:2025-01..2025-12"], epsilon="0.2")
    yield every("histogram-two", "histogram", [DISTRICTS, "age:20..100:20,null"], epsilon="0.5")
    yield every("histogram-found", "histogram", ["district", "job"], crowd=400)
    yield every("cube", "cube", [DISTRICTS, JOBS, "age:0..120:40"], crowd=20)
    yield every("cube-noise", "cube", [DISTRICTS, JOBS], epsilon="1")
    yield every("cube-three-noise", "cube", [DISTRICTS, JOBS, "age:0..120:40"], epsilon="1")
    yield every("records", "records", ["district", "job", "age:30"], crowd=20)
    yield every("count", "count", where="age >= 65", by=[DISTRICTS], epsilon="0.5")
    yield every("share", "fraction", where="age >= 65", by=[DISTRICTS], epsilon="0.5")
    yield every("mean", "mean", "income:0..10000:10", by=[DISTRICTS], epsilon="0.5")
    yield every("mean-months", "mean", "income:0..10000:10", by=["moved:month:2025-01..2025-12"], epsilon="0.5")
    yield every("mean-of-nobody", "mean", "income:0..10000:10", by=["district=Harbour,Nowhere"], epsilon="0.5")
    yield every("sum", "sum", "income:0..10000:10", by=[DISTRICTS], epsilon="1")
    yield every("sum-capped", "sum", "income:0..10000:10", by=["age:20..100:20,null"], epsilon="1", cap="5000")
    yield every("sum-octaves", "sum", "income:0..10000:10", by=[DISTRICTS], tailored="1:0.2,101:1")
    yield every("variance", "variance", "income:0..10000:10", by=[DISTRICTS], epsilon="1")
    yield every("std", "std", "income:0..10000:10", by=["age:20..100:20,null"], epsilon="1")
    yield every("std-one", "std", "income:0..10000:10", epsilon="1")
    yield every("median", "quantile", "income:0..10000:50", epsilon="0.5")
    yield every("median-by", "quantile", "income:0..10000:50", by=[DISTRICTS], epsilon="0.5")
    yield every("points", "points", ["lon", "lat"], box=BOX, grid=["0.02", "0.015"], crowd=20, epsilon="2")
    yield every("queries", "queries", [DISTRICTS, JOBS, "age:0..100:10,null"], "marginals:2", epsilon="1")
    yield every("ratio", "ratio", "income:0..10000:10", "days:0..31:1", by=[DISTRICTS], epsilon="2")
    yield every("mean-weighted", "mean", "income:0..10000:10", by=[DISTRICTS], weight="weight:0..4:1", epsilon="2")
    yield every("synthetic", "synthetic", [DISTRICTS, JOBS, "age:0..100:20,null"], epsilon="4")
    yield every("queries-intervals", "queries", ["age:0..100:1"], "intervals", epsilon="1", method="tree")


def visits(folder: Path, ledgers: Iterator[int]) -> Iterator[tuple[str, Callable[[], Release]]]:
    """Several rows of a person, and a table that says where people live, joined to it."""
    rows = town().slice(0, 6000)
    several = pa.concat_tables([rows, rows.slice(0, 3000), rows.slice(0, 900)]).drop_columns(["district"])
    homes = rows.select(["id", "district"])

    def opened(table: pa.Table, **words: Any) -> Table:
        return hubbub.open(table, person="id", dataset="visits", ledger=folder / f"{next(ledgers)}.db", **words)

    called: dict[str, Any] = {"rows_per_person": 3, "rows_called": "visits"}
    yield "rows-histogram", lambda: opened(several).histogram([JOBS], epsilon="1", **called)
    yield "rows-sum", lambda: opened(several).sum("income:0..10000:10", [JOBS], epsilon="1", **called)
    yield "rows-mean", lambda: opened(several).mean("income:0..10000:10", [JOBS], epsilon="1", **called)
    both = {"join": several, "on": "id"}
    yield "joined", lambda: opened(homes, **both).histogram([DISTRICTS, JOBS], epsilon="1", **called)


def series(folder: Path, ledgers: Iterator[int]) -> Iterator[tuple[str, Callable[[], Release]]]:
    """The first and the third month of a series by age, and one of a single number."""

    def month(number: int, **words: Any) -> Release:
        ledger = folder / f"{next(ledgers)}.db"
        planned.start("residents", person="id", periods=12, first="2026-01", ledger=ledger, **words)
        for t in range(number):
            people = hubbub.open(town().slice(4000 * t, 6000), person="id", dataset="residents", ledger=ledger)
            done = planned.release(people.engine, "residents", f"2026-{t + 1:02}", ledger=ledger)
        return done

    ages: dict[str, Any] = {"kind": "histogram", "by": ["age:10..90:20,null"], "epsilon": "1"}
    yield "series-first", lambda: month(1, **ages)
    yield "series-third", lambda: month(3, **ages)
    yield "series-count", lambda: month(3, kind="count", epsilon="1")


def network(folder: Path, ledger: Path) -> Release:
    """A ring of friends, each with the next two."""
    file = folder / "friends.csv"
    rows = [f"{i},{(i + j) % 400}" for i in range(400) for j in (1, 2, 7)]
    file.write_text("\n".join(["a,b", *rows]) + "\n", encoding="utf-8")
    opened = hubbub.open_graph(file, ledger=ledger)
    return opened.statistics(["average-degree", "connectivity"], vertices=400, max_degree=20, epsilon="1", samples=40)


def reports(folder: Path, names: list[str]) -> dict[str, Path]:
    """Every report by its name, or those that are named."""
    made: dict[str, Path] = {}
    everybody, ledgers = town(), count()

    def people() -> Table:
        """Each release with a ledger of its own: what they add up to is not the point here."""
        return hubbub.open(everybody, person="id", dataset="millbrook", ledger=folder / f"{next(ledgers)}.db")

    asked = [
        *releases(people),
        *visits(folder, ledgers),
        *series(folder, ledgers),
        ("network", lambda: network(folder, folder / "network.db")),
    ]
    for name, release in asked:
        if names and name not in names:
            continue
        try:
            files = hubbub.save(release(), folder / name, heading=HEADING)
        except Exception as error:  # the sheet shows the others
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        made[name] = Path(files["report"])
        print(f"made {name}", file=sys.stderr)
    return made


def taken(browser: Browser, address: str, name: str, into: Path) -> list[str]:
    """Pictures of a page, whole; their files."""
    files = []
    for what, (width, dark) in SIZES.items():
        browser.width(width)
        browser.dark(dark)
        browser.open(address)
        if "/plan" in address:
            browser.settled()
        for _ in range(2):  # what is beside the page may grow with the window
            high = browser.driver.execute_script("return document.documentElement.scrollHeight")
            browser.width(width, min(int(high), 6000))
        taken = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        file = into / f"{name}-{what}.png"
        file.write_bytes(base64.b64decode(taken["data"]))
        files.append(file.name)
    browser.dark(False)
    browser.width(1280)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    file = into / f"{name}-print.pdf"
    file.write_bytes(base64.b64decode(printed["data"]))
    return [*files, file.name]


def used(browser: Browser, studio: Running) -> None:
    """A studio in which something was published and something was counted."""
    browser.width(1280)
    browser.open(studio.link)
    browser.click("#example")
    browser.until("What this would give")
    browser.settled()
    browser.click("#release")
    browser.until("Published: millbrook-histogram")
    browser.open(f"{studio.address}/vote")
    browser.click("#read")
    browser.until("Nothing is counted yet")
    browser.click("#count")
    browser.until("wins")
    browser.open(f"{studio.address}/vote?rule=stv&transfers=ireland&seats=2&out=seats")
    browser.click("#read")
    browser.until("Nothing is counted yet")
    browser.click("#count")
    browser.until("are elected")
    browser.open(f"{studio.address}{STUDIO['every-month']}&name=residents&first=2026-01".replace("step=2", "step=3"))
    browser.settled()
    browser.click("#release")
    browser.until("Publish 2026-01")
    browser.click("#publish-period")
    browser.until("Published:")


def pages_of(pdf: bytes) -> int:
    """How many pages a PDF of Chromium has."""
    return pdf.count(b"/Type /Page") - pdf.count(b"/Type /Pages")


def sheet(shots: dict[str, list[str]], into: Path) -> None:
    """A page with all of them, small."""
    parts = []
    for name, files in shots.items():
        figures = []
        for file in files:
            if file.endswith(".pdf"):
                count = pages_of((into / file).read_bytes())
                figures.append(f'<p><a href="{file}">print</a>: {count} {"page" if count == 1 else "pages"}</p>')
            else:
                figures.append(f'<a href="{file}"><img src="{file}" alt="{html.escape(file)}"></a>')
        parts.append(f"<h2>{html.escape(name)}</h2><div>{''.join(figures)}</div>")
    looks = "img { width: 22rem; border: 1px solid #aaa; vertical-align: top; margin: .3rem } body { font: 15px sans-serif }"
    (into / "index.html").write_text(
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Sheets</title><style>{looks}</style>{"".join(parts)}',
        encoding="utf-8",
    )


def main(names: list[str]) -> None:
    """Take all, or those that are named; "studio" names all its pages."""
    if found() is None:
        sys.exit("sheets need chromium and chromedriver; install both")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    shots: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="hubbub-sheets-") as temporary, browsing() as browser:
        at = Path(temporary)
        for name, page in reports(at, names).items():
            shutil.copy(page, FOLDER / f"{name}.html")
            shots[name] = taken(browser, f"file://{page}", name, FOLDER)
        if not names or "studio" in names:
            with running(at / "studio") as studio:
                used(browser, studio)
                for name, path in STUDIO.items():
                    shots[f"studio-{name}"] = taken(browser, f"{studio.address}{path}", f"studio-{name}", FOLDER)
    sheet(shots, FOLDER)
    print(f"Open {FOLDER / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
