"""A second tour of wrong uses, of every command: each gets one clear sentence, shows no cell, and spends nothing.

In each line stand the words, the exit code, and how the sentence begins.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli import test_newcomers_tour as first

TOUR = """\
release mean people.csv --of age --epsilon 1 --out o => 2 the range of age must be
release mean people.csv --of age:0.. --epsilon 1 --out o => 2 the bins of age are written age:0..100:10,
release mean people.csv --of age:100..0:1 --epsilon 1 --out o => 2 the range of age ends at 0, not above its beginning 100
release mean people.csv --of age:0..100:1 --by town --epsilon 1 --out o => 2 the bins of town must be declared, like
release mean people.csv --epsilon 1 --out o => 2 say what the mean is of, with its range and
release mean people.csv --of salary:0..100:1 --epsilon 1 --out o => 2 there is no column 'salary'; the first line
release mean people.csv --of town:0..100:1 --epsilon 1 --out o => 3 too many people have a value of town that cannot be read
release mean people.csv --of age:0..100:1 --out o => 2 say how people are protected, in one way:
release mean people.csv --of age:0..100:1 --epsilon 1 --zero-knowledge 1 --out o => 2 zero-knowledge says everything; say how
release mean people.csv --of age:0..100:1 --zero-knowledge 1 --out o => 2 zero-knowledge is with respect to --rows K
release mean people.csv --of age:0..100:1 --zero-knowledge 1 --rows 50 --people 40 --out o => 2 --rows is how many of all people may be
release mean people.csv --of age:0..100:1 --zero-knowledge 1 --rows 5 --people 41 --out o => 3 the table is not of as many people as were
release mean people.csv --of age:0..100:1 --epsilon 1 --where town --out o => 2 a condition is written like "age >= 65 and
release mean people.csv --of age:0..100:1 --epsilon 1 --where height>3 --out o => 2 there is no column 'height'; the first line
release mean people.csv --of age:0..100:1 --epsilon 1 --where (age>3 --out o => 2 a condition is written like "age >= 65 and
release count people.csv --where age>oops --epsilon 1 --out o => 2 age is compared by <, <=, > and >= with a
release count people.csv --where age --epsilon 1 --out o => 2 a condition is written like "age >= 65 and
release count people.csv --where --epsilon 1 --out o => 2 got unexpected extra argument (1); see
release count people.csv --epsilon 1e-9 --out o => 2 noise wider than a million steps is not
release count people.csv --epsilon inf --out o => 2 epsilon must be a number like 0.1, 1/3 or
release count people.csv --epsilon nan --out o => 2 epsilon must be a number like 0.1, 1/3 or
release count people.csv --epsilon 1 --coverage 0 --out o => 2 coverage must lie between 0 and 1, not 0;
release count people.csv --epsilon 1 --coverage 1 --out o => 2 coverage must lie between 0 and 1, not 1;
release count people.csv --epsilon 1 --delta 1 --out o => 2 delta must lie between 0 and 1, not 1;
release count people.csv --out o => 2 say how people are protected, in one way:
release count people.csv --epsilon 100 --out o => 2 epsilon must lie between 0.000001 and 50
release fraction people.csv --epsilon 1 --out o => 2 a fraction is of those who meet a
release fraction people.csv --where age>30 --out o => 2 say how people are protected, in one way:
release quantile people.csv --of age:0..100:1 --q 2 --epsilon 1 --out o => 2 a quantile lies between 0 and 1, like 0.5
release quantile people.csv --of age:0..100:1 --q half --epsilon 1 --out o => 2 q must be a number like 0.1, 1/3 or 1e-6,
release quantile people.csv --of age:0..100:1 --q -0.5 --epsilon 1 --out o => 2 a quantile lies between 0 and 1, like 0.5
release sum people.csv --of age:0..100:1 --out o => 2 say how people are protected, in one way:
release sum people.csv --of age:0..100:1 --epsilon 0 --out o => 2 epsilon must be above 0, not 0
release sum people.csv --of age --epsilon 1 --out o => 2 the range of age must be
release sum people.csv --of age:0..100:1 --cap -5 --epsilon 1 --out o => 2 cap must be above 0, not -5
release sum people.csv --of age:0..100:1 --cap many --epsilon 1 --out o => 2 a cap is a number, auto or layers, not 'many'
release cube people.csv --by town --epsilon 1 --out o => 2 a cube has at least two columns; add --by
release cube people.csv --by town=Wexcombe --margins all,none --epsilon 1 --out o => 2 a cube has at least two columns; add --by
release cube people.csv --epsilon 1 --out o => 2 a cube has at least two columns; add --by
release cube people.csv --by town=a --by town=b --epsilon 1 --out o => 2 each column can be used once; combine its
release records people.csv --crowd 5 --out o => 2 say which columns the records have; add
release records people.csv --columns town,age --out o => 2 records are published if a crowd shares
release records people.csv --columns town,height --crowd 5 --out o => 2 there is no column 'height'; the first line
release records people.csv --columns town,town --crowd 5 --out o => 2 each column of a record is named once, with
release records people.csv --columns town/x --crowd 5 --out o => 2 how many first signs of town are kept is a
release records people.csv --columns age:0 --crowd 5 --out o => 2 the width of a range must be a whole number
release records people.csv --columns town --crowd 0 --out o => 2 --crowd must be a whole number of at least
release points people.csv --columns age,id --epsilon 1 --out o => 2 say from where to where points are
release points people.csv --columns age --grid 1,1 --epsilon 1 --out o => 2 say from where to where points are
release points people.csv --columns age,town --box 0..1,0..1 --grid 1,1 --epsilon 1 --out o => 2 say how many people a cell must have: add
release points people.csv --columns age,id --box 0..1 --grid 1,1 --epsilon 1 --out o => 2 say how many people a cell must have: add
release points people.csv --columns age,id --box 1..0,0..1 --grid 1,1 --epsilon 1 --out o => 2 say how many people a cell must have: add
release points people.csv --columns age,id --box 0..1,0..1 --grid 0,1 --epsilon 1 --out o => 2 say how many people a cell must have: add
release queries people.csv --columns town --class marginals:1 --epsilon 1 --out o => 2 the domain must be declared, and town has
release queries people.csv --columns town=a --class marginals:9 --epsilon 1 --out o => 2 marginals:9 needs between 1 and 1 columns,
release queries people.csv --columns town=a --class nonsense --epsilon 1 --out o => 2 a class of queries is one of marginals:W,
release queries people.csv --columns town=a --epsilon 1 --out o => 2 say which queries are to be answered: add
release queries people.csv --class intervals --epsilon 1 --out o => 2 say the columns and their bins, as a list
release queries people.csv --columns town=a --class intervals --method magic --epsilon 1 --out o => 2 there is no method 'magic'; there are
release queries people.csv --columns town=a --class intervals --out o => 2 say how people are protected: --epsilon E
release questions people.csv --out o => 2 say which questions are asked: add --spec
release questions people.csv --spec nowhere.toml --out o => 2 the questions must be a TOML file that can
release questions people.csv --spec people.csv --out o => 2 the questions must be a TOML file that can
release questions people.csv --spec empty.csv --epsilon 1 --out o => 2 a file of questions has a table
release histogram people.csv --by town=a --epsilon 1 --delta 2 --out o => 2 delta must lie between 0 and 1, not 2;
release histogram people.csv --by town --epsilon 1 --delta 0 --out o => 2 delta must be above 0, not 0
describe people.csv --unlisted 2 --out o.json => 2 unlisted must lie between 0 and 1
describe people.csv --unlisted some --out o.json => 2 unlisted must be a number like 0.1, 1/3 or
release histogram people.csv --by town=a --epsilon 1 --parts 0 --out o => 2 --parts is a number of files, from 1 to
describe people.csv --collected-between 0.5 0.1 --out o.json => 2 --collected-between needs the lower rate
describe people.csv --collected 1.5 --out o.json => 2 collected must lie between 0 and 1, not
describe people.csv --exempt -1 --out o.json => 2 exempt must be a whole number of at least
describe people.csv --exempt two --out o.json => 2 exempt must be a number like 0.1, 1/3 or
release histogram people.csv --by town=a --epsilon 1 --out o --ledger people.csv => 2 the file
release histogram people.csv --by town=a --epsilon 1 --out o --ledger . => 3 the ledger
release histogram people.csv --by town=a --mechanism group:k=3 --out o => 2 the channel group needs epsilon, like --mechanism group:k=100,epsilon=1
release histogram people.csv --by town=a --mechanism threshold:k=0 --out o => 2 there is no channel 'threshold'; choose one
release histogram people.csv --by town=a --mechanism threshold:k=5 --epsilon 1 --out o => 2 there is no channel 'threshold'; choose one
release histogram people.csv --by town=a --outlier flat --out o => 2 a curve, like 1:0.01,101:1 or slope:0.02 or
release histogram people.csv --by town=a --outlier 5:1,1:0 --out o => 2 a curve must say what holds from a crowd of
release histogram sqlite:///nowhere.sqlite --table t --by town=a --epsilon 1 --out o => 2 there is no file 'nowhere.sqlite'; check
release histogram mysql://h/d --table t --by town=a --epsilon 1 --out o => 2 an address begins with postgresql://,
release histogram people.csv --table SELECT --by town=a --epsilon 1 --out o => 2 a .csv file holds one table; drop --table
release histogram people.xlsx --by town=a --epsilon 1 --out o => 2 there is no file 'people.xlsx': it does not
release histogram *.csv --by town=a --epsilon 1 --out o => 2 the first line of a CSV names its columns,
release histogram people.csv --by twon=a --epsilon 1 --out o => 2 there is no column 'twon'; did you mean 'town'?
release histogram people.csv --by age:0..100:1e-9 --epsilon 1 --out o => 2 the range of age has more than 10,000,000 steps
release histogram people.csv --by age:[0,inf,5) --epsilon 1 --out o => 2 the edges of age must grow, like
release histogram people.csv --by hired:year:2013..2013..2014 --epsilon 1 --out o => 2 a date of hired is written 2024, 2024-01 or
graph release nowhere.txt --out o => 2 'nowhere.txt' is no file; name one that is
graph release degrees nowhere.txt --epsilon 1 --out o => 2 got unexpected extra argument
graph release edges people.csv --out o => 2 got unexpected extra argument (people.csv);
graph release edges people.csv --epsilon 1 --out o --columns id => 2 got unexpected extra argument (people.csv);
graph release edges people.csv --epsilon 1 --out o --columns id,nobody => 2 got unexpected extra argument (people.csv);
ask nowhere.json town=a => 2 there is no certificate 'nowhere.json' that
ask people.csv town=a => 4 the certificate does not hold, so it is not
ask people.csv => 2 missing argument 'WORDS...'; see hubbub ask
explain nowhere.json => 2 there is no certificate 'nowhere.json' that
verify => 2 missing argument 'CERTIFICATE'; see hubbub
verify published => 2 there is no certificate 'published' that
verify nowhere.json --certificate-only => 2 there is no certificate 'nowhere.json' that
verify people.csv --release nowhere.csv => 4 the certificate does not hold: canonical
trust add Ann => 2 missing argument 'KEY'; see hubbub trust
trust add Ann key => 2 a public key is 64 hexadecimal signs, or a
trust remove Nobody => 2 there is no publisher 'Nobody'; there is
ledger show --ledger people.csv => 2 the file
ledger new people.csv => 2 got unexpected extra argument (people.csv);
ledger finish published => 2 nothing in 'published' was cut short; there
ledger policy nobody --max-epsilon -1 => 2 no such option '--max-epsilon'. Did you
ledger check nowhere.json => 2 there is no certificate 'nowhere.json' that
plan --want differential-privacy --epsilon 1 --people none => 2 --want must be one of zero-knowledge ('no
plan histogram => 2 no such command 'histogram'; see hubbub
plan records => 2 missing option '--crowd'; see hubbub plan
channel law => 2 missing option '--channel'; see hubbub
channel law geometric => 2 missing option '--channel'; see hubbub
channel law geometric --alpha 2 --count 3 => 2 missing option '--channel'; see hubbub
channel law threshold --k -1 --count 1 => 2 missing option '--channel'; see hubbub
account compose => 2 compose takes at least two promises, like
account epsilon 1 => 2 no such command 'epsilon'; see hubbub
account sample --rate 2 --epsilon 1 => 2 no such command 'sample'; see hubbub
account crowd-blending --k 1 => 2 no such command 'crowd-blending'; see
audit channel nothing => 2 there is no channel 'nothing'; choose one
audit function nowhere.py => 2 missing option '--neighbours'; see hubbub
audit certificate nowhere.json => 2 nowhere.json cannot be read (No such file
audit certificate people.csv => 4 the certificate is not JSON as Hubbub
vote tally => 2 name the file with the ballots, or
vote tally empty.csv => 2 the ballot file is empty; it must hold
vote tally people.csv --rule nonsense => 2 invalid value for '--rule': 'nonsense' is
vote tally people.csv --seats 0 => 2 line 1: a CSV file of ballots needs columns
vote plan --voters none => 2 no such command 'plan'; see hubbub vote
vote gain => 2 missing option '--truth'; see hubbub vote
vote map nowhere.blt => 2 got unexpected extra argument
demo --out people.csv => 2 --out must be a folder that can be made,
studio nowhere => 2 there is no folder 'nowhere'; make it, or
studio --port none => 2 invalid value for '--port': 'none' is not a
studio . --port 99999999 => 2 invalid value for '--port': 99999999 is not
check people.csv --where age => 2 a condition is written like "age >= 65 and
check people.csv --of age => 2 the range of age must be
check people.csv --person line --rows-are-people => 2 --person and --rows-are-people exclude each
check twice.csv --person Town => 2 2 columns are called 'Town'; say which:
"""
NEWEST = """\
release sum people.csv --of age --epsilon 1 --out o => 2 the range of age must be declared, because
release sum people.csv --of age:0..100:1 --by town --epsilon 1 --out o => 2 the bins of town must be declared, like town=a,b,other or
release sum people.csv --of age:0..100:1 --cap lots --epsilon 1 --out o => 2 a cap is a number, auto or layers, not 'lots'; choose one of
release sum people.csv --of age:0..100:1 --cap 300 --epsilon 1 --out o => 2 the cap must lie above 0 and in the range, up to 100, not
release sum people.csv --of age:0..100:1 --cap auto --cap-share 2 --epsilon 1 --out o => 2 cap-share is the part of epsilon that is spent on it, between
release sum people.csv --of age:0..100:1 --lost 0.1 --epsilon 1 --out o => 2 --lost tells what a cap cut off; say the cap, --cap A, or
release sum people.csv --of age:-10..100:1 --epsilon 1 --out o => 2 values below 0 need a cap on what one person counts with, and
release sum people.csv --of age:0..100:1 --person line --rows-per-person 0 --epsilon 1 --out o => 2 --rows-per-person must be a whole number of at least 1, not 0
release sum people.csv --of age:0..100:1 --person line --rows-per-person many --epsilon 1 --out o => 2 --rows-per-person must be a number like 0.1, 1/3 or 1e-6, not
release sum people.csv --of age:0..100:1 --rows-per-person 3 --epsilon 1 --out o => 2 choosing among a person's rows needs the person column; add
release ratio people.csv --of age:0..100:1 --epsilon 1 --out o => 2 say of which two columns, with range and step: --of
release ratio people.csv --of age:0..100:1 --per id --epsilon 1 --out o => 2 the range of id must be declared, because
release ratio people.csv --of age:0..100:1 --per age:0..100:1 --epsilon 1 --out o => 2 a ratio is of two columns; choose another for --of or --per
release ratio people.parquet --of age:0..100:1 --per lines:0..100:1 --epsilon 1 --out o => 2 there is no column 'lines'; did you mean 'line'? There are 'line',
release ratio people.csv --of age:0..100:1 --per id:-5..100:2 --epsilon 1 --out o => 2 the range of id from -5 to 100 is no whole number of steps of 2
release ratio people.csv --of age:0..100:1 --per id:0..100:1 --crowd 20 --out o => 2 no such option '--crowd'; see hubbub release ratio --help
release ratio people.csv --of age:0..100:1 --per id:0..100:1 --by town --epsilon 1 --out o => 2 the bins of a ratio are declared; list them, like
release variance people.csv --of age --epsilon 1 --out o => 2 the range of age must be declared, because
release variance people.csv --of town:0..10:1 --epsilon 1 --out o => 3 too many people have a value of town that cannot be read
release variance people.csv --of age:0..100:1 --weight id:0..9:1 --epsilon 1 --out o => 2 no such option '--weight'; see hubbub release variance --help
release variance people.csv --of age:0..100:1 --out o => 2 say how people are protected, in one way: --zero-knowledge
release std people.parquet --of smoker:0..1:1 --epsilon 1 --out o => 2 the column smoker holds booleans and no numbers; choose
release std people.parquet --of age:0..100:1 --person LINE --epsilon 1 --out o => 2 there is no column 'LINE'; did you mean 'line'? There are 'line',
release synthetic people.csv --epsilon 1 --out o => 2 invented rows have at least two columns; name more, or
release synthetic people.csv --columns town,age --epsilon 1 --out o => 2 the domain must be declared, and town has no bins; write
release synthetic people.csv --columns town=a,b --columns town=a,b --epsilon 1 --out o => 2 each column can be used once; combine its bins into one
release synthetic people.csv --columns town=a,b --columns age:0..100:10 --crowd 10 --out o => 2 no such option '--crowd'; see hubbub release synthetic --help
release count people.csv --weight age --epsilon 1 --out o => 2 the range of age must be declared, because
release count people.csv --weight town:0..5:1 --epsilon 1 --out o => 3 too many people have a value of town that cannot be read
release count people.csv --weight age:0..5:1 --crowd 20 --out o => 2 weights are covered by plain noise only; use --epsilon E
RH people.csv --by town=a,b --weight age:0..60:1 --epsilon 1 --out o => 2 a histogram counts people as they are, and how many they
describe people.csv --join nowhere.csv --on line --person line --out o.json => 2 there is no file 'nowhere.csv': it does not exist; check the
describe people.csv --join twice.csv --person line --out o.json => 2 --join and --on belong together: the second table, and the
describe people.csv --join headless.csv --on line --person line --out o.json => 2 in the second table there is no column 'line'; the first line
describe people.csv --join twice.csv --on lines --person lines --out o.json => 2 o.json speaks of the column 'lines' and lists no such
RH people.parquet --by town=a --epsilon 1 --format excel --out o => 2 format must be csv, parquet or xlsx, not 'excel'
RH people.parquet --by town=a --epsilon 1 --words french.toml --out o => 2 a report can be in en or de, not 'fr'
RH people.parquet --by town=a --epsilon 1 --title Here --out o => 2 no such option '--title'. Did you mean '--words'?
RH people.parquet --by town=a --epsilon 1 --series calls --out o => 2 no such option '--series' here: hubbub series publish publishes a period of a series
RH people.parquet --by town=a --epsilon 1 --table Sheet1 --out o => 2 a .parquet file holds one table; drop --table
RH people.parquet --by age=young,old --epsilon 1 --out o => 2 the column age holds whole numbers, and 'young' is none that
RH people.parquet --by age=1.0,2.0 --epsilon 1 --out o => 2 the column age holds whole numbers, and '1.0' is none that it
RH people.parquet --by smoker=yes,no --epsilon 1 --out o => 2 the column smoker holds booleans, whose values are false and
RH people.parquet --by town=a --epsilon 1,5 --out o => 2 --epsilon must be a number like 0.1, 1/3 or 1e-6, not '1,5'
RH people.parquet --by twon=a --epsilon 1 --out o => 2 there is no column 'twon'; did you mean 'town'? There are
release quantile people.csv --of age:0..100:1 --at 0.5 --epsilon 1 --out o => 2 no such option '--at'. Did you mean '--q'? see hubbub release
release quantile people.csv --of age:0..100:1 --eps 1 --out o => 2 no such option '--eps'. Did you mean '--epsilon'? see hubbub
release records people.parquet --columns town,age --crowd 5 --keep smoker,agee --out o => 2 there is no column 'agee'; did you mean 'age'? There are
release records people.parquet --columns town,age --crowd 5 --keep town --out o => 2 a column is either a key or kept untouched, and named once;
release records people.parquet --columns town,age --crowd 5 --keep smoker --out o => 2 this promises little: columns are published untouched, and no
series start calls people.csv --kind median --rows-are-people --periods 12 --first 2026-01 --epsilon 1 => 2 invalid value for '--kind': 'median' is not one of
series start calls people.csv --kind count --rows-are-people --periods 12 --first January --epsilon 1 => 2 a month is written like 2026-01, not 'January'; write it so
series start calls people.csv --kind count --rows-are-people --periods 12 --every fortnight --first 2026-01 --epsilon 1 => 2 invalid value for '--every': 'fortnight' is not one of 'day',
series start calls people.csv --kind histogram --rows-are-people --by town --periods 12 --first 2026-01 --epsilon 1 => 2 the bins of a series are declared, the same in every period,
series start calls people.csv --kind count --periods 12 --first 2026-01 --epsilon 1 => 2 say who a person is: --person COLUMN, the column that says
series start calls people.csv --kind count --person x --recur 13 --periods 12 --first 2026-01 --epsilon 1 => 2 nobody is in more than the 12 periods there are; lower
series plan --periods 12 => 2 missing option '--epsilon'; see hubbub series plan --help
series show calls => 2 the ledger has no series 'calls'; start it with hubbub series
series publish calls 2026-01 people.csv --out o => 2 the ledger has no series 'calls'; start it with hubbub series
ledger backup => 2 missing argument 'FOLDER'; see hubbub ledger backup --help
ledger restore nowhere => 2 there is no backup in 'nowhere'; name a folder that hubbub
ledger restore . => 2 there is no backup in '.'; name a folder that hubbub ledger
ledger policy town --differential-epsilon 1 --per week => 2 invalid value for '--per': 'week' is not one of 'month',
vote tally people.parquet => 2 a .parquet file is a table of another kind; save it as CSV
vote tally millbrook --rule score => 2 score adds up scores, and these ballots hold ranks; choose a
vote tally millbrook --seats 2 => 2 --seats is about stv, and repeated-plurality elects one;
vote tally millbrook --winners 2 => 2 no such option '--winners'. Did you mean '--seats'? see
vote tally millbrook --rule stv --seats 99 => 2 99 seats and 5 candidates: all are elected without a count;
vote worst --voters ten => 2 missing option '--coarseness'; see hubbub vote worst --help
vote audit millbrook => 2 missing option '--dice'; see hubbub vote audit --help
vote publish millbrook --out o => 2 ballots are published beside the official record; add
plan noise --epsilon 1 => 2 missing option '--delta'; see hubbub plan noise --help
explain people.csv => 4 the certificate does not hold, so it is not explained:
verify people.csv --key nobody => 2 a public key is 64 hexadecimal signs, or a file that holds
"""
LINES = [*TOUR.splitlines(), *NEWEST.splitlines()]


@pytest.fixture
def here(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp() / "second-tour"
    if not folder.exists():
        folder.mkdir()
        first.make_files(folder)
    monkeypatch.chdir(folder)
    return folder


def test_none_was_in_the_first() -> None:
    old = {line.partition(" => ")[0] for line in first.LINES}
    assert len({line.partition(" => ")[0] for line in LINES} - old) >= 100


@pytest.mark.parametrize("line", LINES)
def test_one_sentence_no_cell_nothing_spent(line: str, here: Path) -> None:
    first.check_line(line, here)
