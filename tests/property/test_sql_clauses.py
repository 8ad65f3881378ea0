"""Whatever is put into a private query, anywhere: it is refused, or the release counts exactly what SQL counts."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from hubbub import registry
from hubbub.dictionary.dictionary import NONE
from hubbub.engines.opening import open_source
from hubbub.errors import HubbubError
from hubbub.noise.source import SystemSource
from hubbub.private_sql.translation import SqlRequest, translate

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 50, rows_are_people = TRUE)"
"""Noise of such an epsilon is 0, but for a chance of less than 10^-20."""
N = 60
TABLE = pa.table(
    {
        "age": pa.array([None if i % 7 == 0 else i % 10 for i in range(N)], pa.int64()),
        "cost": pa.array([i % 13 for i in range(N)], pa.int64()),
        "ward": pa.array([None if i % 11 == 0 else "abc"[i % 3] for i in range(N)]),
    }
)
CORES = [
    "{} COUNT(*) AS n FROM visits",
    "{} COUNT(*) AS n FROM visits WHERE age > 3 AND ( cost = 5 OR NOT ward IN ( 'a' , 'b' ) )",
    "{} COUNT(*) AS n FROM visits AS v WHERE v.age BETWEEN 2 AND 7 OR ward IS NULL",
    "WITH old AS ( SELECT * FROM visits WHERE age >= 5 ) {} COUNT(*) AS n FROM old WHERE cost <> 4",
    "{} COUNT(*) AS n FROM ( SELECT age , ward FROM visits WHERE cost < 9 ) WHERE NOT ( age = 4 )",
]
PARTS = """
OVER ( )|OVER w|OVER ( PARTITION BY ward )|FILTER ( WHERE age > 3 )|WITHIN GROUP ( ORDER BY age )|DISTINCT|ALL
QUALIFY ROW_NUMBER() OVER () = 1|HAVING COUNT(*) > 3|HAVING n > 3|ORDER BY 1|ORDER BY n DESC|LIMIT 3|LIMIT 0|OFFSET 2
FETCH FIRST 3 ROWS ONLY|TOP 3|UNION ALL SELECT 1|UNION DISTINCT SELECT 1|EXCEPT DISTINCT SELECT 1|INTERSECT DISTINCT SELECT 1
GROUP BY ALL|GROUP BY ()|GROUP BY ROLLUP ( ward )|GROUP BY CUBE ( ward )|GROUP BY GROUPING SETS ( ( ward ) , ( ) )
WINDOW w AS ( )|TABLESAMPLE SYSTEM ( 10 PERCENT )|USING SAMPLE 10|FOR SYSTEM_TIME AS OF '2020-01-01'|AT ( TIMESTAMP => 1 )
CROSS JOIN visits|, visits|, visits v2|JOIN visits USING ( age )|LEFT JOIN visits b ON TRUE|NATURAL JOIN visits
LATERAL ( SELECT 1 )|, UNNEST ( [ 1 , 2 ] )|, LATERAL ( SELECT 1 )|PIVOT ( COUNT(*) FOR ward IN ( 'a' ) )|UNPIVOT ( x FOR y IN ( age ) )
AS STRUCT|AS VALUE|AS x ( a , b )|* EXCEPT ( age )|* REPLACE ( 1 AS age )|EXCEPT ( age )|REPLACE ( 1 AS age )
IGNORE NULLS|RESPECT NULLS|HAVING MAX age|NULLS FIRST|COLLATE 'und:ci'|ESCAPE 'x'|ANY|SOME|EXISTS|NOT|- |+ |~
AND age > 1|OR age > 1|XOR age > 1|AND TRUE|OR FALSE|AND NULL|AND age IS NULL|IS NOT TRUE|IS DISTINCT FROM 3|IS UNKNOWN
LIKE 'a%'|ILIKE 'a'|NOT LIKE 'a'|SIMILAR TO 'a'|RLIKE 'a'|GLOB 'a'|IN ( SELECT age FROM visits )|IN UNNEST ( [ 1 ] )
BETWEEN SYMMETRIC 7 AND 2|= ANY ( [ 1 ] )|> ALL ( SELECT 1 )|+ 1|- 1|* 2|/ 2|% 2|DIV 2|MOD 2|\\|\\| 'x'|& 1|<< 1|:: TEXT
CAST ( age AS STRING )|SAFE_CAST ( age AS INT64 )|IF ( age > 1 , 1 , 0 )|CASE WHEN age > 1 THEN 1 END|COALESCE ( age , 1 )
, 1|, COUNT(*)|, COUNT(*) OVER ( )|, SUM ( age )|, ward|, *|, v.*|, ( SELECT 1 )|( SELECT 1 )|@x|@@x|?|:x|$1|{x}|r'a'|b'a'
/* a remark */|-- a remark\n|# a remark\n|;|; SELECT 1|( )|)|(|[ 0 ]|[ OFFSET ( 0 ) ]|.*|.age|`age`|visits.|other.|a.b.c.
RECURSIVE|MATERIALIZED|NOT MATERIALIZED|CYCLE age SET x USING y|SEARCH DEPTH FIRST BY age SET x|INTO other|FOR UPDATE|CONNECT BY 1 = 1
START WITH age = 1|WHERE TRUE|WHERE age > 5|FROM visits|PREWHERE age > 3|FINAL|SETTINGS x = 1|FORMAT JSON|CLUSTER BY age|SORT BY age
DISTRIBUTE BY age|OPTION ( x )|WITH OFFSET|WITH TIES|WITH ORDINALITY|MATCH_RECOGNIZE ( )|ASOF JOIN visits USING ( age )|SEMI JOIN visits USING ( age )
ANTI JOIN visits USING ( age )|POSITIONAL JOIN visits|FULL JOIN visits USING ( age )|RIGHT JOIN visits USING ( age )|\\|> WHERE age > 3
""".strip()
INSERTED = [part.replace("\\|", "|") for line in PARTS.splitlines() for part in re.split(r"(?<!\\)\|", line)]


@cache
def released(text: str) -> list[tuple[Any, ...]] | None:
    """The rows that a release would publish, without its noise; None: refused."""
    try:
        asked: SqlRequest = translate(text, NONE)
        if asked.tables != ("visits",):
            return None  # such a table is not there, which is said where the query is carried out
        engine = open_source(TABLE)
        kind = registry.kind(asked.kind)
        assert asked.opening == {"person": None, "rows_are_people": True}
        spec = kind.from_options(**asked.options).with_schema(engine.columns())
        (answer,) = spec.present(spec.measure(engine, SystemSource())).facts()["answers"]
    except HubbubError:
        return None
    numbers = answer.get("numbers", {"n": answer})
    return [tuple(each["estimate"] for each in numbers.values())]


def counted_by_duckdb(text: str) -> list[tuple[Any, ...]] | str | None:
    """What SQL says of the same query, without the words of the promise; None: it does not compare such cells."""
    plain = text.replace(CLAUSE, "SELECT")
    with duckdb.connect(config={"enable_external_access": "false"}) as database:
        database.register("visits", TABLE)
        try:
            (sql,) = filter(None, sqlglot.transpile(plain, read="bigquery", write="duckdb"))
            return database.execute(sql).fetchall()
        except duckdb.ConversionException:
            return None  # of words held against numbers: a release compares them as they are written
        except (sqlglot.errors.SqlglotError, duckdb.Error) as error:
            return str(error)


def put(core: str, *inserted: tuple[int, str]) -> str:
    words = core.split(" ")
    for at, part in sorted(inserted, reverse=True):
        words.insert(at % (len(words) + 1), part)
    return " ".join(words).replace("{}", CLAUSE, 1)


def agree(text: str) -> bool:
    """Whether a query is understood; what is understood is counted as SQL counts it."""
    mine = released(text)
    if mine is None:
        return False
    assert counted_by_duckdb(text) in (mine, None), text
    return True


def test_every_part_at_every_place_is_refused_or_understood_exactly() -> None:
    understood = Counter[str]()
    for core in CORES:
        assert agree(put(core)), core
        for at in range(0, len(core.split(" ")) + 1, 1 if core in CORES[:2] else 3):
            for part in INSERTED:
                understood[part] += agree(put(core, (at, part)))
    assert understood["/* a remark */"] > len(CORES)
    assert understood["AND age > 1"] > len(CORES)
    refused = [part for part in INSERTED if not understood[part]]
    assert len(refused) >= len(INSERTED) // 2


@given(
    st.sampled_from(CORES), st.lists(st.tuples(st.integers(0, 60), st.sampled_from(INSERTED)), min_size=2, max_size=4)
)
def test_several_parts_are_refused_or_understood_exactly(core: str, inserted: list[tuple[int, str]]) -> None:
    agree(put(core, *inserted))
