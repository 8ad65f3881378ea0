"""Ninety queries: fifty have the spec of the words that a command takes, and forty are refused with one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import hubbub
from hubbub import registry
from hubbub.cli.main import commands
from hubbub.dictionary.datapackage import find
from hubbub.dictionary.dictionary import Dictionary
from hubbub.errors import HubbubError, WrongUse
from hubbub.private_sql.translation import translate
from hubbub.tables.schema import ColumnType, Schema

pytest.importorskip("sqlglot", reason="SQL needs the package sqlglot: pip install '.[sql]'")

SCHEMA = Schema(
    {
        "patient": ColumnType.INTEGER,
        "ward": ColumnType.TEXT,
        "sex": ColumnType.TEXT,
        "cost": ColumnType.INTEGER,
        "age": ColumnType.INTEGER,
        "year": ColumnType.INTEGER,
        "day": ColumnType.DATE,
        "smoker": ColumnType.BOOLEAN,
        "town name": ColumnType.TEXT,
    }
)
WARD = "ward=A,B,C"
PACKAGE = {
    "resources": [
        {
            "name": "visits",
            "path": "visits.csv",
            "hubbub": {"unlisted": "1"},  # some are of a ward that is not listed
            "schema": {
                "fields": [
                    {"name": "patient", "type": "integer"},
                    {"name": "ward", "constraints": {"enum": ["A", "B", "C"], "required": True}},
                    {
                        "name": "age",
                        "type": "integer",
                        "constraints": {"minimum": 0, "maximum": 120},
                        "hubbub": {"bins": "0..120:10"},
                    },
                ]
            },
        }
    ]
}
DP = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6, privacy_unit_column = patient{more})"


def dp(rest: str, more: str = "") -> str:
    return f"{DP.format(more=more)} {rest}"


ONE = {"epsilon": "1", "delta": "1e-6"}
CLINIC = dp(
    "ward, COUNT(*) AS visits, COUNT(DISTINCT patient) AS patients, AVG(cost, contribution_bounds_per_group => (0, 50000)) "
    "FROM visits WHERE year = 2026 GROUP BY ward",
    ", max_groups_contributed = 3",
)
PURE = {"epsilon": "1"}
MAPPED: list[tuple[str, str, dict[str, Any]]] = [
    (dp("COUNT(DISTINCT patient) FROM visits"), "count", ONE | {"one_row_per_person": True}),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE age >= 65"), "count", ONE | {"any_row": True, "where": "age >= 65"}),
    (dp("ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward"), "histogram", ONE | {"by": [WARD], "distinct": 1}),
    (dp("ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward", ", max_groups_contributed = 3"), "histogram", ONE | {"by": [WARD], "distinct": 3}),
    (dp("v.ward, COUNT(DISTINCT v.patient) FROM visits AS v GROUP BY 1"), "histogram", ONE | {"by": [WARD], "distinct": 1}),
    (dp("sex, COUNT(DISTINCT patient) FROM visits GROUP BY sex"), "histogram", ONE | {"by": ["sex"], "distinct": 1}),
    (dp("ward, COUNT(DISTINCT patient) FROM visits WHERE sex = 'F' GROUP BY ward", ", groups_per_person = 2"), "count", ONE | {"by": [WARD], "where": "sex = F", "any_row": True, "distinct": 2}),
    (dp("WIDTH_BUCKET(cost, 0, 1000, 10) AS band, COUNT(DISTINCT patient) FROM visits GROUP BY band"), "histogram", ONE | {"by": ["cost:0..1000:100"], "distinct": 1}),
    (dp("age, ward, COUNT(DISTINCT patient) FROM visits GROUP BY age, ward"), "histogram", ONE | {"by": ["age:0..120:10", WARD], "distinct": 1}),
    (dp("COUNT(*, contribution_bounds_per_group => (0, 5)) FROM visits"), "count", ONE | {"rows_per_person": 5}),
    (dp("COUNT(*) AS visits FROM visits", ", max_rows_contributed = 5"), "count", ONE | {"rows_per_person": 5, "rows_called": "visits"}),
    (dp("ward, COUNT(*, contribution_bounds_per_group => (0, 5)) AS visits FROM visits GROUP BY ward", ", max_groups_contributed = 3"), "count", ONE | {"by": [WARD], "distinct": 3, "rows_per_bin": 5, "rows_called": "visits"}),
    (dp("ward, COUNT(*) FROM visits GROUP BY ward", ", max_rows_contributed = 4"), "count", ONE | {"by": [WARD], "rows_per_person": 4}),
    (dp("ward, COUNT(1) AS hospital_stays FROM visits GROUP BY ward", ", rows_per_person = 4, groups_per_person = 2, rows_per_group = 3"), "count", ONE | {"by": [WARD], "rows_per_person": 4, "distinct": 2, "rows_per_bin": 3, "rows_called": "hospital stays"}),
    (dp("ward, COUNT(*) FROM visits GROUP BY ward", ", one_row_per_person = TRUE"), "histogram", ONE | {"by": [WARD], "one_row_per_person": True}),
    (dp("SUM(cost, contribution_bounds_per_group => (0, 50000)) FROM visits"), "summary", ONE | {"number": ["sum cost:0..50000:1"], "rows_per_person": 1000000}),
    (dp("ward, SUM(cost, contribution_bounds_per_group => (0, 50000), step => 10) FROM visits GROUP BY ward", ", max_groups_contributed = 2"), "summary", ONE | {"by": [WARD], "number": ["sum cost:0..50000:10"], "distinct": 2, "rows_per_person": 1000000}),
    (dp("SUM(cost, contribution_bounds_per_row => (-100, 500)) FROM visits", ", max_rows_contributed = 3"), "sum", ONE | {"of": "cost:-100..500:1", "cap": 1500, "rows_per_person": 3}),
    (dp("ward, COUNT(*) FROM visits GROUP BY ward", ", unique_person = TRUE"), "histogram", ONE | {"by": [WARD], "unique_person": True}),
    (dp("SUM(age) FROM visits", ", one_row_per_person = TRUE"), "sum", ONE | {"of": "age:0..120:1", "one_row_per_person": True}),
    (dp("SUM(cost, contribution_bounds_per_group => (-100, 50), step => 1) FROM visits", ", one_row_per_person = TRUE"), "sum", ONE | {"of": "cost:-100..50:1", "cap": 100, "one_row_per_person": True}),
    (dp("SUM(cost, contribution_bounds_per_group => (-100, 500)) FROM visits"), "summary", ONE | {"number": ["sum cost:-100..500:1"], "rows_per_person": 1000000}),
    (dp("AVG(cost, contribution_bounds_per_group => (0, 50000)) FROM visits"), "summary", ONE | {"number": ["mean cost:0..50000:1"], "rows_per_person": 1000000}),
    (dp("AVG(age) FROM visits", ", one_row_per_person = TRUE"), "mean", ONE | {"of": "age:0..120:1", "one_row_per_person": True}),
    (dp("ward, AVG(age) FROM visits GROUP BY ward", ", max_groups_contributed = 3"), "summary", ONE | {"number": ["mean age:0..120:1"], "by": [WARD], "distinct": 3}),
    (dp("COUNT(*) FROM visits"), "summary", ONE | {"number": ["rows"], "rows_per_person": 1000000}),
    (CLINIC, "summary", ONE | {"number": ["visits = rows", "patients = people", "mean cost:0..50000:1"], "by": [WARD], "distinct": 3, "where": "year = 2026"}),
    (dp("COUNT(*, contribution_bounds_per_group => (0, 5)) AS visits, COUNT(DISTINCT patient) AS patients, SUM(cost, contribution_bounds_per_group => (0, 900)) AS cost, AVG(cost, contribution_bounds_per_group => (0, 500)) AS typical FROM visits"), "summary", ONE | {"number": ["visits = rows 5", "patients = people", "cost = sum cost:0..900:1", "typical = mean cost:0..500:1"], "rows_per_person": 1000000}),
    (dp("ward, COUNT(DISTINCT patient), AVG(age) FROM visits GROUP BY ward"), "summary", ONE | {"number": ["people", "mean age:0..120:1"], "by": [WARD], "distinct": 1}),
    (dp("sex, COUNT(DISTINCT patient), AVG(age) FROM visits GROUP BY sex", ", max_groups_contributed = 2"), "summary", ONE | {"number": ["people", "mean age:0..120:1"], "by": ["sex"], "distinct": 2}),
    (dp("ward, COUNT(*) AS n, COUNT(DISTINCT patient) FROM visits GROUP BY ward", ", max_rows_contributed = 3"), "summary", ONE | {"number": ["n = rows 3", "people"], "by": [WARD], "rows_per_person": 3}),
    (dp("ward, COUNT(*), AVG(age) AS Mean_Age FROM visits GROUP BY ward", ", rows_per_person = 6, groups_per_person = 2, rows_per_group = 4, mechanism = 'gaussian', coverage = 0.9"), "summary", ONE | {"number": ["rows 4", "mean_age = mean age:0..120:1"], "by": [WARD], "rows_per_person": 6, "distinct": 2, "rows_per_bin": 4, "mechanism": "gaussian", "coverage": "0.9"}),
    (dp("ward, COUNT(*), COUNT(DISTINCT patient), SUM(age) FROM visits GROUP BY ward", ", one_row_per_person = TRUE"), "summary", ONE | {"number": ["people", "sum age:0..120:1"], "by": [WARD], "one_row_per_person": True}),
    (dp("ward, AVG(cost, contribution_bounds_per_group => (0, 1), step => 0.01) FROM visits GROUP BY ward", ", one_row_per_person = true"), "mean", ONE | {"of": "cost:0..1:0.01", "by": [WARD], "one_row_per_person": True}),
    (dp("AVG_ROWS(cost, contribution_bounds_per_row => (0, 500)) FROM visits", ", rows_per_person = 5"), "mean", ONE | {"of": "cost:0..500:1", "rows_per_person": 5}),
    (dp("ward, AVG_ROWS(age) FROM visits GROUP BY ward", ", groups_per_person = 2, rows_per_group = 2"), "mean", ONE | {"of": "age:0..120:1", "by": [WARD], "distinct": 2, "rows_per_bin": 2}),
    (dp("VAR_POP(age) FROM visits"), "variance", PURE | {"of": "age:0..120:1"}),
    (dp("ward, STDDEV_POP(cost, contribution_bounds_per_group => (0, 500)) FROM visits GROUP BY ward"), "std", PURE | {"of": "cost:0..500:1", "by": [WARD]}),
    (dp("PERCENTILE_CONT(cost, 0.5, contribution_bounds_per_row => (0, 500)) FROM visits"), "quantile", PURE | {"of": "cost:0..500:1", "q": "0.5"}),
    (dp("PERCENTILE_CONT(age, 0.9) FROM visits"), "quantile", PURE | {"of": "age:0..120:1", "q": "0.9"}),
    (dp("ward, APPROX_QUANTILES(age, 4)[OFFSET(3)] FROM visits GROUP BY ward"), "quantile", PURE | {"of": "age:0..120:1", "q": "0.75", "by": [WARD]}),
    (dp("COUNT(DISTINCT patient) FROM visits", ", mechanism = 'gaussian', coverage = 0.9"), "count", ONE | {"one_row_per_person": True, "mechanism": "gaussian", "coverage": "0.9"}),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE NOT (age < 65 OR ward IN ('A', 'B'))"), "count", ONE | {"any_row": True, "where": "not age < 65 and age is not missing and not ward in (A, B) and ward is not missing"}),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE ward <> 'A' AND day >= DATE '2026-01-01' AND smoker"), "count", ONE | {"any_row": True, "where": "not ward = A and ward is not missing and day >= 2026-01-01 and smoker = true"}),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE age BETWEEN 10 AND 20 AND 5 < cost AND sex IS NOT NULL"), "count", ONE | {"any_row": True, "where": "age >= 10 and age <= 20 and cost > 5 and sex is not missing"}),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE `town name` = \"O'Hare; DROP\" AND cost > -3"), "count", ONE | {"any_row": True, "where": "\"town name\" = 'O''Hare; DROP' and cost > -3"}),
    ("WITH recent AS (SELECT * FROM visits WHERE year = 2026) " + dp("COUNT(DISTINCT patient) FROM recent WHERE age > 3"), "count", ONE | {"any_row": True, "where": "age > 3 and year = 2026"}),
    (dp("COUNT(DISTINCT patient) FROM (SELECT patient, age FROM visits WHERE year = 2026)"), "count", ONE | {"any_row": True, "where": "year = 2026"}),
    ("SELECT WITH CROWD_BLENDING OPTIONS (crowd = 20, sample = 0.2, privacy_unit_column = patient) sex, COUNT(DISTINCT patient) FROM visits GROUP BY sex", "histogram", {"by": ["sex"], "crowd": 20, "sample": "0.2"}),
    ("SELECT WITH CROWD_BLENDING OPTIONS (crowd = 20, epsilon = 1, privacy_unit_column = patient) ward, AVG(age) FROM visits GROUP BY ward", "mean", {"by": [WARD], "of": "age:0..120:1", "crowd": 20, "epsilon": 1}),
    ("SELECT WITH ZERO_KNOWLEDGE OPTIONS (epsilon = 0.5, rows = 1000, people = 40000, privacy_unit_column = patient) COUNT(DISTINCT patient) FROM visits WHERE age >= 65", "count", {"zero_knowledge": "0.5", "rows": 1000, "people": 40000, "where": "age >= 65"}),
    ("SELECT WITH OUTLIER_PRIVACY OPTIONS (curve = '1:0.01,101:1', privacy_unit_column = patient) ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward", "histogram", {"by": [WARD], "outlier": "1:0.01,101:1"}),
    (
        dp("ward, COUNT(DISTINCT patient) AS patients, AVG(age) AS mean_age FROM visits GROUP BY ward", ", people = 4000"),
        "questions",
        {"spec": {"epsilon": "1", "rows": 4000, "people": 4000, "question": [{"name": "patients", "kind": "count", "by": [WARD]}, {"name": "mean-age", "kind": "mean", "of": "age:0..120:1", "by": [WARD]}]}},
    ),
    (
        "SELECT WITH ZERO_KNOWLEDGE OPTIONS (epsilon = 0.5, rows = 100, people = 4000, privacy_unit_column = patient) COUNT(DISTINCT patient), PERCENTILE_CONT(age, 0.5) FROM visits WHERE sex = 'F'",
        "questions",
        {"spec": {"zero_knowledge": "0.5", "rows": 100, "people": 4000, "question": [{"name": "number-1", "kind": "count", "where": "sex = F"}, {"name": "number-2", "kind": "quantile", "of": "age:0..120:1", "q": "0.5", "where": "sex = F"}]}},
    ),
]  # fmt: skip

REFUSED: list[tuple[str, str]] = [
    ("SELECT COUNT(*) FROM visits", "a query says what is promised to people"),
    (dp("COUNT(*) FROM visits@other_server"), "take out what stands after the name of the table"),
    ("SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) COUNT(*) FROM visits", "after SELECT WITH comes one of DIFFERENTIAL_PRIVACY"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, kappa = 3) COUNT(*) FROM visits", "not 'kappa'; leave it out"),
    (dp("COUNT(*) FROM visits", ", max_groups_contributed = 2, max_rows_contributed = 3"), "exclude each other"),
    (dp("COUNT(*, contribution_bounds_per_group => (2, 5)), AVG(age) FROM visits"), "from none to some rows"),
    (dp("COUNT(*), AVG(cost) FROM visits"), "as nothing about it may be found in the data"),
    (dp("SUM(cost), COUNT(*) FROM visits"), "SUM has contribution_bounds_per_group"),
    (dp("SUM(age, contribution_bounds_per_group => (0, 900)), SUM(age, contribution_bounds_per_group => (0, 800)) FROM visits"), "a name of its own, with AS"),
    (dp("COUNT(*), AVG(age) FROM visits", ", max_rows_contributed = 3"), "is cut by groups"),
    (dp("COUNT(*), VAR_POP(age) FROM visits"), "COUNT, SUM and AVG are one release together"),
    (dp("COUNT(*), PERCENTILE_CONT(age, 0.5) FROM visits"), "ask for spreads, quantiles and averages of rows apart"),
    (dp("COUNT(*), COUNT(DISTINCT ward) FROM visits"), "no kind of release is built"),
    (dp("COUNT(*), AVG(DISTINCT age) FROM visits"), "take DISTINCT out"),
    (dp("COUNT(*), AVG(age) FROM visits", ", one_row_per_person = TRUE, max_groups_contributed = 2"), "people with one row are in one group"),
    ("SELECT WITH CROWD_BLENDING OPTIONS (crowd = 20, privacy_unit_column = patient) COUNT(DISTINCT patient), AVG(age) FROM visits", "several aggregates are one release WITH"),
    (dp("* FROM visits"), "SELECT * would publish rows"),
    (dp("ward, COUNT(DISTINCT patient) FROM visits"), "is in no group"),
    (dp("MAX(cost) FROM visits"), "the largest or smallest value is one person's"),
    (dp("COUNT(DISTINCT ward) FROM visits"), "no kind of release is built"),
    (dp("ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward HAVING COUNT(*) > 5"), "HAVING shows a group by its number"),
    (dp("COUNT(DISTINCT patient) FROM visits LIMIT 3"), "LIMIT keeps rows"),
    (dp("COUNT(DISTINCT patient) FROM visits; DROP TABLE visits"), "a query is one SELECT"),
    (dp("COUNT(DISTINCT patient) FROM visits UNION ALL SELECT patient FROM visits"), "a query is one SELECT"),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE age > (SELECT MAX(age) FROM visits)"), "a value is a number, a text"),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE ward LIKE '%x%'"), "and nothing else; make another column"),
    (dp("AVG(cost) FROM visits"), "as nothing about it may be found in the data"),
    (dp("VAR_POP(age) FROM visits", ", max_groups_contributed = 3"), "ask for AVG_ROWS"),
    (dp("STDDEV(age) FROM visits"), "ask for VAR_POP or STDDEV_POP"),
    (dp("COUNT(*) AS n, COUNT(DISTINCT patient) FROM visits", ", people = 40, max_rows_contributed = 3"), "bounds are on their groups"),
    (dp("SUM(cost, contribution_bounds_per_group => (0, 9)) FROM visits"), "a step has to be said"),
    (dp("SUM(cost) / COUNT(*) FROM visits"), "each by itself"),
    (dp("COUNT(DISTINCT patient) FROM visits JOIN people USING (patient)"), "rows without a partner stay"),
    (dp("COUNT(DISTINCT patient) FROM 'visits"), "a quotation mark or a comment is open"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM visits", "say who a person is"),
    (dp("COUNT(*) FROM visits", ", epsilon = 2"), "each once; correct epsilon"),
    (")(" * 40, "a query says what is promised"),
    (dp("COUNT((((( FROM visits"), "is not closed"),
    *((dp(f"COUNT(DISTINCT patient) FROM {other}"), "by its name, and no function or value") for other in ("read_csv('other.csv')", "read_csv('other.csv') AS visits", "UNNEST([1, 2])", "TABLE(visits)", "@visits", "ML.PREDICT(MODEL visits, TABLE visits)", "visits LEFT JOIN read_csv('other.csv') USING (patient)")),
    (dp("COUNT(DISTINCT patient) FROM visits FOR SYSTEM_TIME AS OF '2020-01-01'"), "VERSION has no meaning"),
    (dp("COUNT(DISTINCT patient) FROM visits LEFT JOIN people TABLESAMPLE SYSTEM (10 PERCENT) USING (patient)"), "SAMPLE has no meaning"),
    (dp("COUNT(DISTINCT patient) FROM visits NATURAL LEFT JOIN people"), "METHOD has no meaning"),
    (dp("COUNT(DISTINCT patient) FROM visits LEFT JOIN people ON visits.patient = others.patient"), "joined by one column that both have"),
    *((f"WITH a AS ({what}) {dp('COUNT(DISTINCT patient) FROM visits')}", "WITH names a SELECT of one table") for what in ("DELETE FROM visits WHERE TRUE", "INSERT INTO visits VALUES (1)", "DROP TABLE visits", "SELECT 1 UNION ALL SELECT 2", "UPDATE visits SET age = 1 WHERE TRUE")),
    (f"WITH a AS (SELECT * FROM visits WHERE age > 3) {dp('COUNT(DISTINCT patient) FROM visits')}", "that the query does not read"),
    (f"WITH a AS (SELECT * FROM visits), a AS (SELECT * FROM others) {dp('COUNT(DISTINCT patient) FROM a')}", "each by another name"),
    (f"WITH a (age, patient) AS (SELECT patient, age FROM visits) {dp('COUNT(DISTINCT patient) FROM a')}", "with its own columns"),
    (f"WITH visits AS (SELECT * FROM visits WHERE age > 3) {dp('COUNT(DISTINCT patient) FROM visits LEFT JOIN people USING (patient)')}", "take the SELECT out of the join"),
    (dp("COUNT(DISTINCT patient) FROM visits AS v (age, patient)"), "the names that they have in the table"),
    (dp("COUNT(DISTINCT patient) FROM (SELECT * REPLACE (age AS patient) FROM visits)"), "names columns or *"),
    (dp("COUNT(DISTINCT patient) FROM (SELECT * FROM visits) TABLESAMPLE SYSTEM (10 PERCENT)"), "SAMPLE has no meaning"),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE others.age > 3"), "a column of 'others', which it does not read"),
    (dp("COUNT(DISTINCT others.patient) FROM visits"), "a column of 'others', which it does not read"),
    (dp("others.ward, COUNT(DISTINCT patient) FROM visits GROUP BY others.ward"), "a column of 'others', which it does not read"),
    (dp("COUNT(DISTINCT patient) FROM (SELECT * FROM visits WHERE others.age > 3)"), "a column of 'others', which it does not read"),
    (dp("VAR_POP(age, cost) FROM visits"), "one column between its parentheses"),
    (dp("AVG(age, cost) FROM visits"), "one column between its parentheses"),
    *((dp(f"{what} FROM visits", ", max_rows_contributed = 5"), "OVER gives every row a number") for what in ("COUNT(*) OVER ()", "COUNT(*) AS n, COUNT(*) OVER () AS m", "COUNT(*) OVER (PARTITION BY ward)", "SUM(age) OVER (ORDER BY age)", "PERCENTILE_CONT(age, 0.5) OVER ()", "PERCENTILE_CONT(age, 0.5) OVER w", "ROW_NUMBER() OVER ()", "COUNT(*) FILTER (WHERE age > 3) OVER ()", "1 + COUNT(*) OVER ()")),
    (dp("COUNT(*) OVER w FROM visits WINDOW w AS ()", ", max_rows_contributed = 5"), "a window looks at several rows"),
    (dp("COUNT(*) FILTER (WHERE age > 3) FROM visits", ", max_rows_contributed = 5"), "FILTER keeps some rows for one number"),
    *((dp(f"{what} FROM visits"), "WITHIN GROUP is no part") for what in ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age)", "PERCENTILE_CONT(age, 0.5) WITHIN GROUP (ORDER BY age)")),
    *((dp(f"{what} FROM visits"), "ORDER BY in an aggregate") for what in ("COUNT(DISTINCT patient ORDER BY patient)", "COUNT(* ORDER BY age)", "AVG(age ORDER BY age)")),
    *((dp(f"{what} FROM visits"), "LIMIT in an aggregate") for what in ("COUNT(DISTINCT patient LIMIT 3)", "AVG(age LIMIT 3)", "AVG(age ORDER BY age LIMIT 3)")),
    (dp("AVG(age HAVING MAX cost) FROM visits"), "keep the rows of one value"),
    (dp("AVG(age IGNORE NULLS) FROM visits"), "write WHERE column IS NOT NULL"),
    (dp("AVG(age RESPECT NULLS) FROM visits"), "RESPECT NULLS is no part"),
    *((dp(f"COUNT(* {what}) FROM visits"), "take out what stands after the star") for what in ("EXCEPT (age)", "REPLACE (1 AS age)")),
    *((dp(f"{what} FROM visits"), "counted from 0") for what in ("APPROX_QUANTILES(age, 4)[ORDINAL(2)]", "APPROX_QUANTILES(age, 4)[2]", "COUNT(*)[OFFSET(0)]", "AVG(age)[OFFSET(2)]", "AVG(age)[1]")),
    *((dp(f"ward, COUNT(DISTINCT patient) FROM visits GROUP BY {what}"), "ask with hubbub release cube") for what in ("ROLLUP(ward)", "CUBE(ward)", "GROUPING SETS ((ward), ())", "()", "ALL", "DISTINCT ward", "ward WITH ROLLUP")),
    (dp("ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward QUALIFY ROW_NUMBER() OVER () = 1"), "QUALIFY looks at several rows"),
    *((dp(f"{what}, COUNT(DISTINCT patient) FROM visits GROUP BY 1"), "take the time zone out") for what in ("TIMESTAMP_TRUNC(day, MONTH, 'America/New_York')", "DATE_TRUNC(day, MONTH, 'UTC')")),
    (dp("WIDTH_BUCKET(cost, 0, 1000, 10, 11), COUNT(DISTINCT patient) FROM visits GROUP BY 1"), "THRESHOLD has no meaning"),
    *((dp(f"COUNT(DISTINCT patient) FROM visits |> {what}"), "|> goes on with what it made") for what in ("WHERE age > 3", "LIMIT 3")),
    *((dp(f"COUNT(DISTINCT patient) FROM visits {what}"), "TABLESAMPLE has no meaning") for what in ("TABLESAMPLE SYSTEM (10 PERCENT)", "TABLESAMPLE RESERVOIR (10 ROWS)")),
    (dp("COUNT(DISTINCT patient) FROM visits LATERAL VIEW explode(x) t AS y"), "LATERAL makes rows of a row"),
    *((dp(f"COUNT(DISTINCT patient) FROM visits{what}"), "by its name, and no function or value") for what in (", LATERAL (SELECT 1)", " LEFT JOIN LATERAL (SELECT 1) x ON TRUE", ", UNNEST([1, 2])")),
    *((dp(f"COUNT(DISTINCT patient) FROM visits {what} DISTINCT SELECT 1"), "a query is one SELECT") for what in ("UNION", "EXCEPT", "INTERSECT")),
    *((dp(f"COUNT(DISTINCT patient) FROM visits WHERE {what}"), "WHERE compares columns with values") for what in ("EXISTS (SELECT 1 FROM visits)", "age IN (SELECT age FROM visits)", "age IN UNNEST([1, 2])", "(SELECT TRUE)", "RAND() < 0.5", "COUNT(*) > 3", "age = NULL", "age NOT IN (3, NULL)")),
    (dp("COUNT(DISTINCT patient) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)"), "a SELECT of one table without aggregates"),
    (dp("COUNT(DISTINCT patient) FROM (SELECT patient FROM visits GROUP BY patient)"), "GROUP has no meaning"),
    (f"WITH a AS ({dp('* FROM visits')}) SELECT COUNT(*) FROM a", "in its outermost SELECT"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = patient) AS STRUCT COUNT(DISTINCT patient) FROM visits", "has no meaning for a release"),
    *((dp(f"COUNT(DISTINCT patient) FROM visits {what}"), "a name in the query is no word") for what in ("$1", "AS $1")),
    (dp("COUNT(DISTINCT patient) FROM visits WHERE age BETWEEN SYMMETRIC 7 AND 2"), "SYMMETRIC has no meaning"),
    ("", "a query says what is promised"),
]  # fmt: skip


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Dictionary:
    folder = tmp_path_factory.mktemp("sql")
    (folder / "datapackage.json").write_text(json.dumps(PACKAGE))
    return find(folder / "visits.csv")


def test_there_are_sixty_of_which_twenty_are_refused() -> None:
    assert len(MAPPED) >= 40
    assert len(REFUSED) >= 20


@pytest.mark.parametrize(("query", "kind", "words"), MAPPED, ids=[query[-70:] for query, _, _ in MAPPED])
def test_a_query_has_the_spec_of_the_words_that_a_command_takes(
    declared: Dictionary, query: str, kind: str, words: dict[str, Any]
) -> None:
    asked = translate(query, declared)
    assert asked.kind == kind
    spelled = declared.fill_options(registry.kind(kind).options, asked.options, SCHEMA)
    found = registry.kind(kind).ask(person="patient", **spelled)
    assert found.to_json() == registry.kind(kind).ask(person="patient", **words).to_json()
    assert (asked.tables, asked.opening["person"]) == (("visits",), "patient")


@pytest.mark.parametrize(("query", "sentence"), REFUSED, ids=[query[-50:] for query, _ in REFUSED])
def test_what_does_not_map_is_refused_with_one_sentence(declared: Dictionary, query: str, sentence: str) -> None:
    with pytest.raises(WrongUse) as told:
        translate(query, declared)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


NONSENSE = ["SELECT", "SELECT WITH", "((((", "'", "/*", "\0", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (", "💥" * 9]
SIGNS = [
    "",
    "(",
    ")",
    ",",
    "'",
    '"',
    "`",
    ";",
    "--",
    "/*",
    "=>",
    "*",
    "[",
    "]",
    "\\",
    "DISTINCT",
    "OVER (",
    "1e999",
    "NULL",
]


def test_nonsense_gets_one_sentence_and_never_a_traceback(declared: Dictionary) -> None:
    one = dp("ward, COUNT(*, contribution_bounds_per_group => (0, 5)) AS n FROM visits WHERE age > 3 GROUP BY ward")
    broken = []
    for words in (one.split(" "), CLINIC.split(" ")):
        broken += [
            " ".join([*words[:i], sign, *words[i + j % 2 :]])
            for i in range(0, len(words), 3)
            for j, sign in enumerate(SIGNS)
        ]
    understood = 0
    for query in [*NONSENSE, "(" * 3000, *broken]:
        told = ""
        try:
            asked = translate(query, declared)
            kind = registry.kind(asked.kind)
            kind.ask(person="patient", **declared.fill_options(kind.options, asked.options, SCHEMA))
        except HubbubError as error:
            told = str(error)
        understood += not told
        assert "\n" not in told, query
    assert 0 < understood < len(broken) / 3  # some signs change nothing


def visits() -> pa.Table:
    rows = range(900)
    return pa.table(
        {
            "patient": [n % 300 for n in rows],
            "ward": [["A", "B"][n % 2] if n % 50 else "it's; --" for n in rows],
            "cost": [n % 500 for n in rows],
        }
    )


def test_a_query_is_one_release_that_is_entered_once(tmp_path: Path) -> None:
    query = dp('COUNT(*) AS visits FROM visits WHERE ward = "it\'s; --"', ", max_rows_contributed = 3")
    found = hubbub.sql(query, {"visits": visits()}, dataset="clinic", ledger=tmp_path / "ledger.db")
    spelled = ONE | {"rows_per_person": 3, "rows_called": "visits", "where": "ward = 'it''s; --'"}
    assert found.spec.to_json() == registry.kind("count").ask(person="patient", **spelled).to_json()
    assert len(hubbub.ledger.Ledger(tmp_path / "ledger.db").accounts()["clinic"].spent_releases) == 1


def test_rows_people_and_averages_of_a_query_are_one_table_that_is_entered_once(tmp_path: Path) -> None:
    rows = {"visits": visits().append_column("year", pa.array([2026] * 900))}
    query = CLINIC.replace("50000", "500")
    (tmp_path / "datapackage.json").write_text(json.dumps(PACKAGE))
    found = hubbub.sql(
        query, rows, dataset="clinic", ledger=tmp_path / "ledger.db", dictionary=tmp_path / "datapackage.json"
    )
    assert len(hubbub.ledger.Ledger(tmp_path / "ledger.db").accounts()["clinic"].spent_releases) == 1
    table = found.to_arrow()
    numbers = ["visits", "patients", "mean_cost"]
    assert table.column("ward").to_pylist() == ["A", "B", "C"]
    # A ward is listed from 28 on: one of 6 people with a chance below 1e-5, and one of 150 but for less than 1e-25.
    more = query.replace("epsilon = 1,", "epsilon = 5,")
    undeclared = hubbub.sql(more, rows, dataset="clinic", ledger=tmp_path / "ledger.db", accept_weak=True).to_arrow()
    assert undeclared.column("ward").to_pylist() == ["A", "B"]
    assert set(table.column_names) >= {*numbers, *(f"{each}_{end}" for each in numbers for end in ("low", "high"))}


def test_two_tables_are_joined_by_the_privacy_unit(tmp_path: Path) -> None:
    people = pa.table({"patient": list(range(300)), "sex": ["F", "M"] * 150})
    query = dp("COUNT(DISTINCT patient) FROM visits LEFT JOIN people USING (patient) WHERE sex = 'F'")
    tables = {"visits": visits(), "people": people}
    found = hubbub.sql(query, tables, dataset="clinic", ledger=tmp_path / "ledger.db")
    assert found.reading["join"] == "patient"
    with pytest.raises(WrongUse, match="data has visits"):
        hubbub.sql(query, {"visits": visits(), "others": people}, dataset="clinic", ledger=tmp_path / "ledger.db")


def test_the_command_publishes_what_the_query_asks_for(tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(visits(), tmp_path / "visits.csv")
    (tmp_path / "datapackage.json").write_text(json.dumps(PACKAGE))
    query = dp("ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward", ", max_groups_contributed = 2")
    words = ["sql", query, "--data", str(tmp_path / "visits.csv"), "--ledger", str(tmp_path / "ledger.db")]
    done = CliRunner().invoke(commands, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    asked = json.loads((tmp_path / "out" / "certificate.json").read_text())["release"]
    typed = registry.kind("histogram").ask(person="patient", by=[WARD], distinct=2, epsilon=1, delta="1e-6")
    assert asked == typed.to_json()
    dry = CliRunner().invoke(commands, [*words, "--dry-run", "--json", "--out", str(tmp_path / "never")])
    assert dry.exit_code == 0, dry.output
    wrong = CliRunner().invoke(commands, ["sql", "SELECT 1", *words[2:], "--out", str(tmp_path / "never")])
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("read", "more", "known"),
    [
        ("visits", [], True),
        ("`visits.csv`", [], True),
        ("clinic", ["--dataset", "clinic"], True),
        ("visits", ["--dataset", "clinic"], True),
        ("others", [], False),
        ("Visits", [], False),
        ("others.visits", [], False),
        ("`/data/others.csv`", [], False),
        ("clinic", [], False),
    ],
)
def test_a_query_reads_the_table_that_it_names(tmp_path: Path, read: str, more: list[str], known: bool) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(visits(), tmp_path / "visits.csv")
    words = ["sql", dp(f"COUNT(DISTINCT patient) FROM {read}"), "--data", str(tmp_path / "visits.csv"), *more]
    done = CliRunner().invoke(commands, [*words, "--dry-run", "--out", str(tmp_path / "out")])
    assert (done.exit_code == 0) is known, done.output
    assert known or "and data has visits" in done.stderr


def test_a_table_by_its_name_in_the_query_is_read_by_no_other(tmp_path: Path) -> None:
    query, ledger = dp("COUNT(DISTINCT patient) FROM visits"), tmp_path / "ledger.db"
    for data in ({"others": visits()}, visits()):
        with pytest.raises(WrongUse, match=r"reads 'visits', and data has (others|clinic)"):
            hubbub.sql(query, data, dataset="clinic", ledger=ledger)
    twice = ["sql", query, "--data", "visits=a.csv", "--data", "visits=b.csv", "--out", str(tmp_path / "out")]
    assert "the same name" in CliRunner().invoke(commands, twice).stderr
    assert not ledger.exists()
    hubbub.sql(query.replace("FROM visits", "FROM clinic"), visits(), dataset="clinic", ledger=ledger)
