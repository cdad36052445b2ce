"""Small files as they are found in real life, and what must be understood of each."""

from pathlib import Path

import numpy as np
import pytest

from protolearn.tables import TableFileError, read_table

WILD = Path(__file__).parent / "wild"

UNDERSTOOD = {
    "adult.data": (
        {
            "x0": [39.0, 50.0, 38.0],
            "x1": ["State-gov", "Self-emp", None],
            "x2": [77516.0, 83311.0, 215646.0],
            "x3": ["<=50K", "<=50K", ">50K"],
        },
        [],
        ["no header; the columns are called x0 to x3"],
    ),
    "comments.csv": (
        {"day": ["2021-01-01", "2021-01-02", "2021-01-03"], "rain": [3.2, None, 0.0]},
        ["2 lines before the table skipped"],
        [],
    ),
    "day_first.csv": (
        {"when": ["2021-01-13", "2021-03-02T14:30:00.000000", None], "x": [1.0, 2.0, 3.0]},
        ["column 'when' has dates with the day first, as in 13/01/2021"],
        [],
    ),
    "duplicate_names.csv": (
        {"a": [1.0, 5.0], "b": [2.0, 6.0], "a (2)": [3.0, 7.0], "a (3)": [4.0, 8.0]},
        [],
        [
            "column 3 has the name 'a' again and is called 'a (2)'",
            "column 4 has the name 'a' again and is called 'a (3)'",
        ],
    ),
    "excel_errors.csv": (
        {"x": [None, 2.5, 3.5], "y": [1.0, None, None]},
        ["column 'x' has decimal commas, as in 2,5"],
        [],
    ),
    "few_typos.csv": (
        {"x": [39.0, None], "y": [78.0, 80.0]},
        [],
        ["column 'x' holds numbers; 1 cell such as '4O' in row 41 (line 42) counts as missing"],
    ),
    "footer_note.csv": (
        {"region": ["north", "south", "west"], "units": [1, 2, 3], "revenue": [2.5, 5.0, 7.5]},
        [],
        ["the end of the file, from 'Total' on, is taken for totals or notes"],
    ),
    "french.csv": (
        {
            "ville": ["Paris", "Lyon", "Lens"],
            "population": [2102650.0, 522250.0, 32641.0],
            "surface": [105.4, 47.87, 11.7],
        },
        [
            "column 'population' has blanks between thousands, as in 522 250",
            "column 'surface' has decimal commas, as in 105,4",
        ],
        [],
    ),
    "german_prices.csv": (
        {
            "Artikel": ["Birne", "Apfel", "Öl"],
            "Preis": [29178.83, 1240.5, 0.99],
            "Menge": [1200.0, 850.0, 12.0],
            "Datum": ["2021-12-31", "2022-02-01", "2022-02-15"],
        },
        [
            "columns 'Preis' and 'Menge' have points between thousands and decimal "
            "commas, as in 29.178,83",
            "column 'Datum' has dates with the day first, as in 31.12.2021",
        ],
        [
            "not in UTF-8, read as cp1252 (Western European)",
            "column 'Menge' has '1.200', whose point is taken to part thousands, "
            "since other columns have decimal commas",
        ],
    ),
    "german_report.csv": (
        {
            "Kunde": ["Müller", "Meier", "Schulz"],
            "Umsatz": [1250.5, -99.9, 12345.0],
            "Menge": [3.0, 1.0, 7.0],
            "Datum": ["2023-01-31", "2023-02-28", "2023-03-15"],
        },
        [
            "column 'Umsatz' has points between thousands and decimal commas, as in 1.250,50",
            "column 'Datum' has dates with the day first, as in 31.01.2023",
        ],
        [
            "the line below the header, with 'EUR', is taken for units",
            "2 lines before the table skipped, such as 'Umsatzbericht 2023'",
            "not in UTF-8, read as cp1252 (Western European)",
            "the end of the file, from 'Summe' on, is taken for totals or notes",
        ],
    ),
    "iso_zones.csv": (
        {
            "at": [
                "2021-03-28T00:30:00.000000",
                "2021-03-28T01:30:00.000000",
                "2021-03-28T12:00:00.000000",
            ],
            "x": [1.0, 2.0, 3.0],
        },
        [],
        [],
    ),
    "many_typos.csv": (
        {"x": ["18", "19"], "y": [36.0, 38.0]},
        [],
        ["column 'x' is read as words: it has numbers, but also 'n/k' in row 1 (line 2)"],
    ),
    "markdown.md": (
        {"index": [None, None], "id": [1.0, 2.0], "name": ["Ann", "Bob"], "score": [2.5, 3.0]},
        [
            "each row ends with a delimiter; the empty column after it is left out",
            "column 1 has no name and is called 'index'",
        ],
        [],
    ),
    "psql.txt": (
        {
            "id": [1.0, 2.0, 3.0, 4.0],
            "name": ["Ann", "Bob", "Cleo", "Dan"],
            "score": [2.5, 3.0, None, 1.5],
        },
        [],
        ["the end of the file, from '(4 rows)' on, is taken for totals or notes"],
    ),
    "merged_header.csv": (
        {
            "Patient id": [1.0, 2.0, 3.0],
            "Patient age": [40.0, 51.0, 62.0],
            "Blood pressure systolic": [120.0, 135.0, 128.0],
            "Blood pressure diastolic": [80.0, 91.0, 84.0],
            "outcome": ["ok", "bad", "ok"],
        },
        [],
        ["the first two lines are taken for a header"],
    ),
    "minus.csv": ({"x": [-3.5, 2.0, -4.0], "y": [1.0, 2.0, 3.0]}, [], []),
    "missing_words.csv": (
        {"a": [None, 1, 4, 7], "b": [None, 2, None, 8], "c": [None, 3, 6, 9]},
        [],
        [],
    ),
    "mixed_units.csv": (
        {"dog": ["Rex", "Tom", "Ada"], "weight": ["12 kg", "8500 g", "9 kg"]},
        [],
        ["column 'weight' is read as words: it has numbers, but also '8500 g' in row 2 (line 3)"],
    ),
    "multiline.csv": (
        {
            "id": [1.0, 2.0, 3.0],
            "comment": ["good,\nreally", 'he said "no"', '5" pipe'],
            "score": [3.0, 4.0, 5.0],
        },
        [],
        [],
    ),
    "no_header.data": (
        {
            "x0": [5.1, 4.9, 7.0, 6.3],
            "x1": [3.5, 3.0, 3.2, 3.3],
            "x2": [1.4, 1.4, 4.7, 6.0],
            "x3": [0.2, 0.2, 1.4, 2.5],
            "x4": ["Iris-setosa", "Iris-setosa", "Iris-versicolor", "Iris-virginica"],
        },
        [],
        ["no header; the columns are called x0 to x4"],
    ),
    "old_mac.csv": ({"name": ["ann", "bob"], "score": [1.5, 2.5]}, [], []),
    "packed.csv.gz": (
        {"a": [1.5, 2.5], "b": ["x", "y"]},
        ["column 'a' has decimal commas, as in 1,5"],
        [],
    ),
    "packed.csv.zst": (
        {"a": [1.5, 2.5], "b": ["x", "y"]},
        ["column 'a' has decimal commas, as in 1,5"],
        [],
    ),
    "quoted_numbers.csv": (
        {"a": [-1.0, 3.0, 4.0], "b": [2.5, -0.5, 1.0], "class": ["yes", "no, thanks", "yes"]},
        [],
        [],
    ),
    "r_table.txt": (
        {"index": [1.0, 2.0, 3.0], "len": [4.2, 11.5, 7.3], "supp": ["VC", "OJ", "VC"]},
        ["column 1 has no name and is called 'index'"],
        [],
    ),
    "report.xlsx": (
        {
            "Region Nr": [1.0, 2.0, 3.0],
            "Region Name": ["Nord", "Süd", "West"],
            "Umsatz brutto": [1000.5, 2001.0, 500.0],
            "Umsatz netto": [900.1, 1800.2, 450.5],
            "Datum": ["2023-01-31", "2023-02-28", "2023-03-31"],
        },
        [],
        [
            "2 rows such as 'Quartalsbericht' skipped",
            "the end of the sheet, from 'Summe' on, is taken for totals or notes",
            "the first two lines are taken for a header",
        ],
    ),
    "rows.jsonl": (
        {"x": [1.0, 2.5, None], "ok": [True, None, False], "word": ["a", None, "b"]},
        [],
        [],
    ),
    "sep_hint.csv": (
        {"name": ["ann", "bob"], "score": [1.5, 2.5]},
        ["1 line before the table skipped", "column 'score' has decimal commas, as in 1,5"],
        [],
    ),
    "stray_quotes.csv": (
        {"size": ['5" pipe', '6" pipe', '7" pipe'], "price": [3.0, 4.0, 5.0]},
        [],
        [],
    ),
    "survey.csv": (
        {
            "id": [1.0, 2.0, 3.0, 4.0],
            "smoker": [True, False, True, None],
            "age": [44.0, 999.0, 51.0, 38.0],
            "answer": ["agree", "unknown", "-", "agree"],
        },
        [],
        [],
    ),
    "swiss.csv": (
        {
            "ort": ["Bern", "Genf", "Chur"],
            "einwohner": [134591.0, 203856.0, 38633.0],
            "betrag": [1234.5, 88.0, 2000000.0],
        },
        [
            "column 'einwohner' has apostrophes between thousands, as in 134'591",
            "column 'betrag' has apostrophes between thousands and the unit CHF, which is "
            "left out, as in CHF 1'234.50",
        ],
        [],
    ),
    "times.csv": (
        {
            "start": [8.25, 20.75, 0.0],
            "ran": [1.0416666666666667, 0.9708333333333333, 1.1666666666666667],
        },
        ["columns 'start' and 'ran' have times of a day, which become hours, as in 08:15"],
        [],
    ),
    "title.csv": (
        {"day": ["2021-01-01", "2021-01-02"], "rain": [3.2, None]},
        [],
        ["1 line before the table skipped, such as 'Export of 2021'"],
    ),
    "trailing.csv": (
        {"a": [1.0, 2.0], "b": ["x", "y"]},
        ["each row ends with a delimiter; the empty column after it is left out"],
        [],
    ),
    "unclear_dates.csv": (
        {"when": ["2021-02-01", "2021-04-03"], "x": [1.0, 2.0]},
        [],
        ["column 'when' has dates such as 01/02/2021, taken as day before month"],
    ),
    "units.csv": (
        {
            "dog": ["Rex", "Tom", "Ada"],
            "weight": [12.0, 8.5, None],
            "height": [45.0, 38.0, 51.0],
            "speed": [30.0, 25.0, None],
        },
        [
            "column 'weight' has the unit kg, which is left out, as in 8.5 kg",
            "column 'height' has the unit cm, which is left out, as in 45cm",
            "column 'speed' has the unit km/h, which is left out, as in 30 km/h",
        ],
        [],
    ),
    "units_row.csv": (
        {"length": [1, 2, 3, 4], "temperature": [20.5, 21.5, 19, 18.5], "label": list("abab")},
        [],
        ["the line below the header, with '(cm)', is taken for units"],
    ),
    "us_accounting.csv": (
        {
            "Account": ["A-1", "A-2", "A-3"],
            "Amount": [-13714.61, 1240.5, 0.99],
            "Balance": [-1.5, 2.25, -3.0],
            "Date": ["2023-01-05", "2023-02-14", "2023-12-31"],
        },
        [
            "column 'Amount' has commas between thousands and the unit $, which is left out, as "
            "in ($13,714.61)",
            "column 'Balance' has negative numbers in parentheses or before a minus, as in 1.50-",
        ],
        [],
    ),
    "us_prices.csv": (
        {
            "item": ["pear", "apple", "oil"],
            "price": [29178.83, 1240.5, 0.99],
            "change": [62.0, -3.0, 0.5],
            "sold": ["2021-12-31", "2022-02-01", "2022-02-15"],
        },
        [
            "column 'price' has commas between thousands and the unit $, which is left "
            "out, as in $29,178.83",
            "column 'change' has the unit %, which is left out, as in 0.5%",
            "column 'sold' has dates with the month first, as in 12/31/2021",
        ],
        [],
    ),
    "utf16_tabs.txt": (
        {"Name": ["Änne", "Ole"], "Größe": [1.62, 1.9]},
        ["column 'Größe' has decimal commas, as in 1,62"],
        [],
    ),
    "web_log.csv": (
        {
            "time": [
                "2024-03-01T12:33:00.000000",
                "2024-03-01T23:05:59.000000",
                "2024-12-31T23:59:59.000000",
            ],
            "status": [200.0, 404.0, 200.0],
            "took": [12.0, 7.0, 105.0],
        },
        ["column 'took' has the unit ms, which is left out, as in 12ms"],
        [],
    ),
    "weka.arff": ({"my x": [1.0, None, 3.0], "c": ["a", "b c", "a"]}, [], []),
    "workbook.xlsx": (
        {
            "day": ["2021-01-31", "2021-02-01", None],
            "item": ["pear", "apple", None],
            "price": [3.5, 4.0, None],
            "paid": [True, False, True],
            "note": [12.0, 9.0, None],
        },
        ["column 'note' has the unit kg, which is left out, as in 12 kg"],
        ["the sheet 'Daten', the first of 2, is read", "1 row such as 'Sales of 2021' skipped"],
    ),
    "zip_codes.csv": (
        {"plz": [1067.0, 10115.0, 80331.0], "ort": ["Dresden", "Berlin", "München"]},
        ["column 'plz' has numbers such as 01067; if they are codes, read it as categories"],
        [],
    ),
}
"""Of each file the columns (of long ones the last two rows), the notes and the assumptions."""


def plain(values):
    """Give values as they are written above: None where one is missing, dates as texts."""
    if values.dtype.kind == "M":
        texts = [None if np.isnat(v) else str(v) for v in values]
        return [text and text.removesuffix("T00:00:00.000000") for text in texts]
    return [None if value != value else value for value in values.tolist()]


def test_each_file_is_described():
    assert sorted(path.name for path in WILD.iterdir()) == sorted(UNDERSTOOD)


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_what_is_understood(name):
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    columns, notes, assumptions = UNDERSTOOD[name]
    table = read_table(WILD / name)
    found = {one: plain(table.frame[one]) for one in table.frame.dtype.names}
    assert {
        one: values[-2:] if len(values) > 10 else values for one, values in found.items()
    } == columns
    assert list(table.notes) == [*notes, *assumptions]
    assert list(table.assumptions) == assumptions


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_strict_is_an_error_where_something_is_assumed(name):
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    assumptions = UNDERSTOOD[name][2]
    if not assumptions:
        read_table(WILD / name, strict=True)
        return
    with pytest.raises(TableFileError, match="something would have to be assumed") as caught:
        read_table(WILD / name, strict=True)
    assert all(one in str(caught.value) for one in assumptions)


def test_options_take_the_place_of_assumptions():
    frame = read_table(WILD / "survey.csv", missing=["999"], id="id", drop=["answer"]).frame
    assert frame.dtype.names == ("id", "smoker", "age")
    assert frame["id"].tolist() == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(frame["age"], [44, np.nan, 51, 38])
    for missing in (["age=999"], {"age": ["999"]}, {"age": 999}):
        found = read_table(WILD / "survey.csv", missing=missing).frame["age"]
        np.testing.assert_array_equal(found, frame["age"])
    assert read_table(WILD / "survey.csv", missing="id=999").frame["age"][1] == 999
    names = ["a", "b", "c", "d", "kind"]
    for target in ("last", 5, "5", "kind"):
        table = read_table(WILD / "no_header.data", names=names, target=target, strict=True)
        assert table.target == "kind"
        assert table.frame.dtype.names == tuple(names)
    with pytest.raises(TableFileError, match="has 5 columns, and names has 2; expected a name"):
        read_table(WILD / "no_header.data", names=["a", "b"])
    with pytest.raises(TableFileError, match="has no column '6'"):
        read_table(WILD / "no_header.data", target=6)
    with pytest.raises(TableFileError, match="missing names the column 'agee', which is not there"):
        read_table(WILD / "survey.csv", missing={"agee": 999})
    codes = read_table(WILD / "zip_codes.csv", kinds={"plz": "category"})
    assert codes.frame["plz"].tolist() == ["01067", "10115", "80331"]
    months = read_table(WILD / "unclear_dates.csv", kinds={"when": "category"}, strict=True)
    assert months.frame["when"].tolist() == ["01/02/2021", "03/04/2021"]


def test_totals_only_below_the_table(tmp_path):
    """A word that other rows have too, or a last row that is cut off, is no total and no note."""
    path = tmp_path / "table.csv"
    path.write_text("kind,x\nTotal,1\npart,2\nTotal,3\n")
    table = read_table(path)
    assert table.frame["kind"].tolist() == ["Total", "part", "Total"]
    assert not table.assumptions
    path.write_text("kind,x,y\na,1,2\nb,2,3\nc,\n")
    with pytest.raises(TableFileError, match="has 2 cells in row 3"):
        read_table(path)
    path.write_text('kind,note,y\na,"one\ntwo: three\n",2\nb,"x",3\n,"one\ntwo: three"\n')
    with pytest.raises(TableFileError, match="has 2 cells in row 3"):
        read_table(path)
    path.write_text("x,y\n" + "1,2\n" * 400_000 + "Total,800000\n")
    table = read_table(path)
    assert len(table.frame) == 400_000
    assert "from 'Total' on" in table.assumptions[0]


def test_first_rows_that_are_no_units(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y,word\nlost,lost,a\n1,2,b\nlost,3,c\n4,5,d\n")
    assert len(read_table(path).frame) == 4
    path.write_text("x,word\nlow,a\n1,b\n3,c\n4,d\n")
    assert len(read_table(path).frame) == 4
