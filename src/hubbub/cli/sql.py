"""``hubbub sql``: publish what a private SQL query asks for."""

from __future__ import annotations

from typing import Any, Final

import click

from hubbub.cli import InGroups, examples, json_option, options, yes_option
from hubbub.cli.release import ANY, TABLE, publish
from hubbub.errors import WrongUse
from hubbub.protocol.option import WHOSE, Option

_DATA: Final = Option(
    "data",
    "FILE",
    "The table, which the query calls as the file is called; or by its name there: visits=visits.csv. Repeat it.",
    many=True,
    group=WHOSE,
)
_OPENING: Final = tuple(option for option in TABLE if option.name in ("table", "dictionary"))  # the query says the rest
_TOWN: Final = "--data hubbub-demo/millbrook.parquet"
_UNIT: Final = "privacy_unit_column = resident"


def _sql(query: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Publish what a private SQL query asks for, as one release.

    QUERY is a SELECT as BigQuery has it, with what is promised after the first word: WITH DIFFERENTIAL_PRIVACY OPTIONS
    (epsilon = 1, privacy_unit_column = patient, max_groups_contributed = 3), WITH CROWD_BLENDING OPTIONS (crowd = 20),
    WITH ZERO_KNOWLEDGE OPTIONS (epsilon = 0.5, rows = 1000, people = 40000) or WITH OUTLIER_PRIVACY OPTIONS (curve =
    '1:0.01,101:1'). It may ask for COUNT, SUM, AVG, VAR_POP, STDDEV_POP, PERCENTILE_CONT or APPROX_QUANTILES, with WHERE
    and GROUP BY. Groups are columns whose bins a data dictionary declares, WIDTH_BUCKET(age, 0, 90, 9), or columns whose
    values are found in the data. What no kind of release does is refused with one sentence, and nothing is spent.

    The query is read as the options of a release and reaches no engine. Its certificate is that of the release.
    """
    from hubbub import registry
    from hubbub.private_sql.execution import prepare

    if not data:
        raise WrongUse("say which table the query is of, with `data=FILE`")
    named = dict(each.split("=", 1) for each in data) if all("=" in each for each in data) else None
    if named is not None and len(named) < len(data):
        raise WrongUse("two tables have the same name; give each by another, like `data=visits=visits.csv`")
    if named is None and len(data) > 1:
        raise WrongUse("two tables are given by their names in the query, like `data=visits=visits.csv`; write them so")
    asked, sources = prepare(
        query,
        data[0] if named is None else named,
        given["dictionary"],
        dataset=given["dataset"],
        table=given["table"],
    )
    opening = asked.opening | ({} if sources.second is None else {"join": sources.second})
    given |= {"person": None, "rows_are_people": False, "table": given["table"] or sources.table}
    publish(registry.kind(asked.kind), sources.first, as_json, False, given | asked.options, opening)


sql = click.command(
    "sql",
    cls=InGroups,
    help=_sql.__doc__,
    epilog=examples(
        f'hubbub sql "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, {_UNIT}) '
        f'COUNT(DISTINCT resident) FROM millbrook WHERE age >= 65" {_TOWN} --out elders/',
        f'hubbub sql "SELECT WITH CROWD_BLENDING OPTIONS (crowd = 20, {_UNIT}) '
        f'department, COUNT(DISTINCT resident) FROM millbrook GROUP BY department" {_TOWN} --out crowds/',
    ),
)(click.argument("query")(options(yes_option(json_option(_sql)), (_DATA, *_OPENING, *ANY))))
