"""Tables of values, Markdown and HTML: cells and what they mean, spans, headers, captions."""

import random
from pathlib import Path

import pytest
from reading_files import read_one

from kgp_neo4j.corpus.load.contents import Blocks, column_names, markdown, section_rows
from kgp_neo4j.corpus.load.rows import total_rows
from kgp_neo4j.corpus.load.sheets import Layout, add_sheet
from kgp_neo4j.text.values import Value, column_type, notations, typed
from kgp_neo4j.types.tables import SourceTable, Span


def _table(path: Path, data: str | bytes) -> SourceTable:
    [table] = read_one(path, data).tables
    return table


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found_out(tmp_path: Path, ending: str, separator: str) -> None:
    names = ["Town", "Share, %", "Note; more"]
    lines = [names, ["Ålesund", "1,5", "a|b"], ["", "2,5", "tab\there"]]
    data = "\r\n".join(separator.join(f'"{cell}"' for cell in line) for line in lines)
    document = read_one(tmp_path / f"my_towns{ending}", data)
    assert document.title == "my towns"
    assert not document.left_out
    [table] = document.tables
    assert [list(row) for row in table.rows] == lines
    assert table.header_rows == 1
    assert document.text[table.start : table.end] == document.text == markdown(table)


def test_a_bare_file_with_decimal_commas(tmp_path: Path) -> None:
    table = _table(tmp_path / "a.csv", "a;b;c\n1,5;2,5;3,5\n4,5;5,5;6,5\n")
    assert table.rows == (("a", "b", "c"), ("1,5", "2,5", "3,5"), ("4,5", "5,5", "6,5"))
    table = _table(tmp_path / "b.csv", "sep=|\na,b|c\n1|2\n")
    assert table.rows == (("a,b", "c"), ("1", "2"))
    table = _table(tmp_path / "c.csv", "name\nAnn\nBob\n")
    assert table.rows == (("name",), ("Ann",), ("Bob",))


def test_quotes_within_quotes(tmp_path: Path) -> None:
    doubled = _table(tmp_path / "a.csv", 'a,b\n"say ""hi"", x","C:\\dir\\"\n"two\r\nlines",2\n')
    assert doubled.rows[1:] == (('say "hi", x', "C:\\dir\\"), ("two\nlines", "2"))
    escaped = _table(tmp_path / "b.csv", '"a","b"\n"say \\"hi\\", x","5\\" \\\\ \\n"\n"y",""\n')
    assert escaped.rows[1:] == (('say "hi", x', '5" \\ \\n'), ("y", ""))
    inches = _table(tmp_path / "c.csv", 'pipe,n\n5" wide,1\n')
    assert inches.rows[1] == ('5" wide', "1")
    lone = _table(tmp_path / "d.tsv", '"a"\tb\n"1\n2"\t3\n"\tquote\nx\ty\n')
    assert lone.rows == (("a", "b"), ("1\n2", "3"), ('"', "quote"), ("x", "y"))


def test_ragged_rows_are_filled_and_told(tmp_path: Path) -> None:
    document = read_one(tmp_path / "a.csv", 'a,b,c,\n1,2,3,\n4,5\n\n,,\n"6\n",7,8,9,10\n11,12,13\n')
    [table] = document.tables
    assert table.rows == (
        ("a", "b", "c", ""),
        ("1", "2", "3", ""),
        ("4", "5", "", ""),
        ("6", "7", "8", "9,10"),
        ("11", "12", "13", ""),
    )
    assert document.notes == (
        "line 3 is kept with 2 of 4 fields",
        "line 6 is kept, fields 4 to 5 as one",
        "line 8 is kept with 3 of 4 fields",
    )
    assert not document.left_out
    many = read_one(tmp_path / "b.csv", "a,b,c\n" + "1,2,3\n" * 40 + "1,2\n" * 30)
    assert len(many.notes) == 11
    assert many.notes[-1] == "20 more lines with another number of fields are kept"
    short = read_one(tmp_path / "c.csv", "a,b\n1,2,x\n3,4,y\n")
    assert short.tables[0].rows[0] == ("a", "b", "")
    assert short.notes == ("line 1 is kept with 2 of 3 fields",)
    trailing = read_one(tmp_path / "d.csv", "a,b,,\n1,2,,\n3,4,,\n")
    assert trailing.tables[0].rows == (("a", "b"), ("1", "2"), ("3", "4"))
    assert not trailing.notes


def test_a_file_of_one_column_keeps_its_commas(tmp_path: Path) -> None:
    for text in (
        "Trade\nFarming, forestry\nMining,Quarrying\nFishing\nTransport\n",
        'Trade\nFarming; forestry\n"Mining,\nQuarrying"\nFishing\n',
        "Trade\nOil; Gas\nMining; Coal\nFishing\n",
        "Trade\nOil, Gas\nMining, Coal\nFishing, farming, forestry\n",
    ):
        document = read_one(tmp_path / "a.csv", text)
        assert {len(row) for row in document.tables[0].rows} == {1}
        assert not document.notes
        for value in text.replace('"', "").replace(",\n", ", ").splitlines():
            assert f"| {value} |" in document.text
    wide = read_one(tmp_path / "b.csv", "id,trade\n1,Farming\n2,Oil, Gas,Coal\n3,Fishing\n")
    assert wide.tables[0].rows[2] == ("2", "Oil, Gas,Coal")
    assert wide.notes == ("line 3 is kept, fields 2 to 4 as one",)


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        ("a,b\n1,2\n", 1),
        ("Round,1,2,3\nAnn,7,8,9\n", 1),
        (",2023,2022\nRevenue,41.5,39.0\nCosts,30.1,29.9\n", 1),
        ("Player,100s,2nd,140+\nAnn,3,4,5\n", 1),
        ("1.5,2.5\n3.5,4.5\n", 0),
        ("Ann,2020-01-02\nBob,2020-01-03\n", 0),
        ("Ann,F,x\nBob,M,x\nCy,F,y\n", 0),
        ("Name,Points\nAnn,3\nName,Points\nBob,4\n", 1),
        (",Dues,,Pilot\nPort,Spring,Autumn,needed\nLyme,12,17,yes\nPoole,14,21,no\n", 2),
        ("Player,Club,\nAnn,Rome,-\nBob,Oslo,3\nCid,Bonn,4\nDan,Kiel,5\n", 1),
        (",Spring,,Pilot\nLyme,n/a,n/a,yes\nPoole,14,21,no\nHesk,3,4,no\n", 1),
    ],
)
def test_which_first_rows_are_headers(tmp_path: Path, data: str, headers: int) -> None:
    assert _table(tmp_path / "a.csv", data).header_rows == headers


def test_groups_of_columns_and_of_rows_are_told_without_merged_cells(tmp_path: Path) -> None:
    rows = "South,,,\nLyme,12,17,yes\nHesk,,,\nNorth,,,\nWhitby,9,,yes\n"
    table = _table(tmp_path / "a.csv", f"Port,Dues,,Pilot\n,Spring,Autumn,\n{rows}Blyth,8,1,no\n")
    assert column_names(table) == ["Port", "Dues / Spring", "Dues / Autumn", "Pilot"]
    assert sorted(section_rows(table)) == [2, 5]


def test_lines_above_the_header_are_the_caption(tmp_path: Path) -> None:
    text = "Table 7. Rain by town,,\nin mm\n\nTown,May,June\nA,1,2\n"
    document = read_one(tmp_path / "a.csv", text)
    [table] = document.tables
    assert (table.caption, table.number) == ("Table 7. Rain by town. in mm", "7")
    assert table.rows == (("Town", "May", "June"), ("A", "1", "2"))
    assert document.text == f"{table.caption}\n\n{markdown(table)}"
    assert document.text[table.start : table.end] == markdown(table)


_MARKDOWN = (Path(__file__).parents[1] / "data" / "tables.md").read_text(encoding="utf-8")


def test_tables_of_markdown(tmp_path: Path) -> None:
    document = read_one(tmp_path / "a.md", _MARKDOWN.replace("`1|2`", "`1\\|2`"))
    assert document.text == _MARKDOWN.replace("`1|2`", "`1\\|2`")
    first, quoted, listed, bare = document.tables
    assert first.rows == (
        ("Town", "Amount | mm"),
        ("Bergen", "1|2"),
        ("Oslo & co x", "5 \\ 6"),
        ("only", ""),
    )
    assert (first.caption, first.number) == ("Table 2. Rain by town", "2")
    place = document.text[first.start : first.end]
    assert place.startswith("| Town |")
    assert place.endswith("| only |")
    assert quoted.rows == (("a", "b"), ("1", "2"))
    assert (quoted.caption, quoted.number) == ("Table A.3: in a quotation", "A.3")
    assert listed.rows == (("a", "b"), ("3", "4"))
    assert (bare.rows, bare.header_rows, bare.number) == ((("no", "header"),), 0, "")


def test_captions_above_and_below(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    above = f"Table 1: one\n\n{table}\n\nTable 2: two\n\n{table}\n\nText.\n"
    assert [t.number for t in read_one(tmp_path / "a.md", above).tables] == ["1", "2"]
    below = f"Text.\n\n{table}\n\nTable 1: one\n\n{table}\n\nTable 2: two\n"
    assert [t.number for t in read_one(tmp_path / "b.md", below).tables] == ["1", "2"]
    second = f"{table}\n\nTable 2: two\n\n{table}\n\nText.\n"
    assert [t.number for t in read_one(tmp_path / "e.md", second).tables] == ["", "2"]
    none = f"The table below.\n\n{table}\n\nTable of contents\n\n{table}\n\nTable 4 shows it.\n"
    assert [t.caption for t in read_one(tmp_path / "c.md", none).tables] == ["", ""]
    windows = f"x\r\n\r\n{table}\r\n\r\ny".replace("\n|", "\r\n|")
    [found] = read_one(tmp_path / "d.md", windows).tables
    assert windows[found.start : found.end].replace("\r", "") == table


def test_headings_of_asciidoc_and_restructured_text(tmp_path: Path) -> None:
    text = "= Harbour\n\n== Dues\n\n----\n== not this\n----\n"
    document = read_one(tmp_path / "a.adoc", text)
    assert (document.title, document.text) == ("Harbour", text)
    assert [(s.title, s.level) for s in document.sections] == [("Harbour", 1), ("Dues", 2)]
    table = "==  ==\n1   2\n==  =="
    text = f"=====\nCoast\n=====\n\nDues\n====\n\nPilots\n------\n\n{table}\n\nEnd\n===\n"
    document = read_one(tmp_path / "a.rst", text)
    assert [(s.title, s.level, text[s.start :][:4]) for s in document.sections] == [
        ("Coast", 1, "===="), ("Dues", 2, "Dues"), ("Pilots", 3, "Pilo"), ("End", 2, "End\n"),
    ]  # fmt: skip


def test_tables_of_a_page(tmp_path: Path) -> None:
    page = """<p>Before</p>
<table><caption>Table 3. Scores</caption>
<tfoot><tr><td>all<td>9<td>9</tr></tfoot>
<thead><tr><th rowspan=2>Name</th><th colspan="2">Score</th></tr><tr><th>A</th><th>B</th></tr>
<tbody><tr><td rowspan=2>x | y<script>no</script></td><td>1</td><td><b>2</b> <ul><li>a<li>b</ul>
</tr><tr><td colspan=2>3</td></tr></table><p>After</p>"""
    document = read_one(tmp_path / "a.html", page)
    [table] = document.tables
    assert table.rows == (
        ("Name", "Score", "Score"),
        ("Name", "A", "B"),
        ("x | y", "1", "2 a b"),
        ("x | y", "3", "3"),
        ("all", "9", "9"),
    )
    spans = {Span(0, 0, 2, 1), Span(0, 1, 1, 2), Span(2, 0, 2, 1), Span(3, 1, 1, 2)}
    assert set(table.spans) == spans
    assert (table.header_rows, table.caption, table.number) == (2, "Table 3. Scores", "3")
    assert column_names(table) == ["Name", "Score / A", "Score / B"]
    shown = markdown(table)
    assert document.text == f"Before\n\nTable 3. Scores\n\n{shown}\n\nAfter"
    assert document.text[table.start : table.end] == shown


def test_tables_for_the_layout_stay_text(tmp_path: Path) -> None:
    inner = "<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>"
    page = f"<pre> x</pre><table><tr><td>{inner}</td></tr></table>"
    document = read_one(tmp_path / "a.html", page)
    [table] = document.tables
    assert (table.rows, table.header_rows) == ((("a", "1"), ("b", "2")), 1)
    assert document.text[table.start : table.end] == markdown(table)
    for page in (
        "<table><tr><td>1</td><td>2</td></tr></table>",
        "<table><tr><td>1</td></tr><tr><td>2</td></tr></table>",
        inner.replace("<table", "<table role=presentation"),
        inner.replace("<td>b", "<td><h1>b</h1>"),
        "<table><tr><td>1</td><td></td></tr><tr><td></td><td></td></tr></table>",
    ):
        document = read_one(tmp_path / "b.html", page)
        assert not document.tables
        assert "|" not in document.text


def test_titles_row_names_and_unclosed_cells(tmp_path: Path) -> None:
    title = "<table><tr><th colspan=2>Rain <i>in</i> May</th></tr><tr><td>Town<td>mm<tr><td>A<td>3"
    document = read_one(tmp_path / "a.html", title)
    [table] = document.tables
    assert (table.caption, table.header_rows) == ("Rain in May", 1)
    assert table.rows == (("Town", "mm"), ("A", "3"))
    assert document.text == f"Rain in May\n\n{markdown(table)}"
    facts = "<table><tr><th>Born<td>1980</tr><tr><th>Died<td>2000</tr></table>"
    [table] = read_one(tmp_path / "b.html", facts).tables
    assert (table.header_rows, table.rows) == (0, (("Born", "1980"), ("Died", "2000")))
    empty = "<table><tr><td>a<td><td>b</tr><tr></tr><tr><td>1<td><td>2</tr></table><p>Table 1: x"
    [table] = read_one(tmp_path / "c.html", empty).tables
    assert (table.rows, table.number) == ((("a", "b"), ("1", "2")), "1")


def test_a_table_that_unfolds_without_end_is_text(tmp_path: Path) -> None:
    cell = '<td colspan="1000" rowspan="65534">x</td>'
    page = f"<table><tr>{cell}</tr>{'<tr><td>y</td></tr>' * 5_000}</table>"
    document = read_one(tmp_path / "a.html", page)
    assert not document.tables
    assert document.left_out == ("table 1 has too many merged cells and is kept as text only",)
    assert document.text.count("y") == 5_000
    row = "<tr><td colspan=0 rowspan=0>a<td colspan=-1>b<td rowspan=x>c</tr>"
    [table] = read_one(tmp_path / "b.html", f"<table>{row}{row}</table>").tables
    assert table.rows == (("a", "b", "c", ""), ("a", "a", "b", "c"))


def test_markdown_of_a_table_reads_back(tmp_path: Path) -> None:
    drawn = random.Random(3)
    letters = 'ab|\\ é1,"'
    rows = tuple(
        tuple("".join(drawn.choice(letters) for _ in range(6)).strip() or "x" for _ in range(3))
        for _ in range(40)
    )
    table = SourceTable(rows=rows)
    [found] = read_one(tmp_path / "a.md", markdown(table)).tables
    assert found.rows == tuple(tuple(" ".join(t.split()) for t in row) for row in rows)


@pytest.mark.parametrize(
    ("text", "totals"),
    [
        ("Task|Cost\nA|4000\nB|1500\nC|22000\nTotal|27500", {4: "sum"}),
        ("Posten|Betrag\nMiete|1.200,50\nStrom|99,50\nSumme|1.300,00", {3: "sum"}),
        ("Port|Q1|Q2\nA|1|2\nB|3|4\nSubtotal|4|6\nC|5|5\nD|6|6\nSubtotal|11|11\nTotal|15|17",
         {3: "sum", 6: "sum", 7: "sum"}),
        ("Pupil|Maths|Result\nArno|50|pass\nBea|61|fail\nAverage|55.5|", {3: "average"}),
        ("Item|Sold\nTotal|100\nA|40\nB|60", {1: "sum"}),
        ("Name|Paid\na|1\nb|2\nc|3\n|6", {4: "sum"}),
        ("Company|Country|Sales\nShell|UK|300\nTotal Energies|France|200\nBP|UK|180", {}),
        ("Year|Sales\n2019|10\n2020|20\n2021|30\n2022|60", {}),
    ],
)  # fmt: skip
def test_rows_that_sum_up_others_are_told(text: str, totals: dict[int, str]) -> None:
    rows = tuple(tuple(line.split("|")) for line in text.splitlines())
    marks = notations([[row[at] for row in rows[1:]] for at in range(len(rows[0]))])
    assert total_rows(SourceTable(rows), marks) == totals


def test_a_title_begins_a_table_of_its_own_in_a_sheet() -> None:
    names, loans = ["Task", "", "Owner", "Budget"], ["Loan", "", "", "Sum"]
    rows = [["PLAN", "", "", ""], ["", "", "", ""], names, ["Dig", "", "Ana", "40"],
            ["Lay", "", "", "20"], ["", "", "", ""], ["LOANS", "", "", ""], loans,
            ["Bank", "", "", "900"], ["Aunt", "", "", "80"]]  # fmt: skip
    blocks = Blocks()
    add_sheet(blocks, "Q3", rows, Layout())
    seen = [(table.caption, table.rows[0], len(table.rows)) for table in blocks.tables]
    assert seen == [("Q3: PLAN", ("Task", "Owner", "Budget"), 3), ("Q3: LOANS", ("Loan", "Sum"), 3)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", Value("text")),
        ("Bergen", Value("text")),
        ("12,467", Value("number", 12467.0)),
        ("−3.5", Value("number", -3.5)),
        ("(12)", Value("number", -12.0)),
        (".5", Value("number", 0.5)),
        ("1998", Value("number", 1998.0, "1998")),
        ("48,278[1]", Value("number", 48278.0)),
        ("82.06 m", Value("number", 82.06, unit="m")),
        ("1.2e-07", Value("number", 1.2e-07)),
        ("₹12,34,567.50", Value("currency", 1234567.5, unit="INR")),
        ("1’234.50", Value("number", 1234.5)),
        ("1:56.42", Value("number", 116.42, unit="s")),
        ("1:39:00", Value("number", 5940.0, unit="s")),
        ("12.5%", Value("percentage", 12.5, unit="%")),
        ("$1.2 million", Value("currency", 1_200_000.0, unit="USD")),
        ("40 €", Value("currency", 40.0, unit="EUR")),
        ("1998-05-12", Value("date", 1998.0, "1998-05-12")),
        ("12 May 1998", Value("date", 1998.0, "1998-05-12")),
        ("Tuesday, May 12, 1998", Value("date", 1998.0, "1998-05-12")),
        ("May 1998", Value("date", 1998.0, "1998-05")),
        ("5/12/98", Value("date", 1998.0, "1998-05-12")),
        ("12.05.1998", Value("date", 1998.0, "1998-05-12")),
        ("September 4", Value("date", None, "--09-04")),
        ("1887-1905", Value("text", 1887.0, "1887", "-1905")),
        ("1982/83", Value("text", 1982.0, "1982", "/83")),
        ("2004–present", Value("text", 2004.0, "2004", "–present")),
        ("W 35-14", Value("text")),
    ],
)
def test_a_text_means(text: str, value: Value) -> None:
    assert typed(text) == value
    assert typed(f"  {text}\n") == value


def test_dates_sort_as_text() -> None:
    texts = ["1887-1905", "1998", "May 1998", "12 May 1998", "June 3, 1998", "2001"]
    assert sorted(texts[3:] + texts[:3], key=lambda text: typed(text).date or "") == texts


def test_a_column_has_the_type_of_four_fifths_of_its_cells() -> None:
    assert column_type(["1", "2", "3", "4", "n/a", ""]) == "number"
    assert column_type(["1", "2", "3", "n/a"]) == "text"
    assert column_type(["5%", "7.5 %"]) == "percentage"
    assert column_type([]) == column_type(["", " "]) == "text"


@pytest.mark.parametrize("text", ["9" * 400, "1," * 500, "\ud800", "1998-99-99", "32/13/1999", "٣"])
def test_odd_texts_do_not_fail(text: str) -> None:
    value = typed(text)
    assert value.number is None or abs(value.number) < 1e300


@pytest.mark.parametrize(
    ("columns", "marks"),
    [
        ([["12,40", "9,85"], ["2.350", "980"]], [",", ","]),  # what one column tells
        ([["2.350 t", "980 t", "1.120 t"]], [","]),  # like in size
        ([["2.350", "3", "1"]], ["."]),
        ([["2.350 t", "120 t"]], ["?"]),
        ([["2.350", "1.120"]], ["."]),
        ([["1,120", "980"], ["1.234.567", "x"]], [",", ","]),
        ([["2.350", "120"], ["Hesk, 12,5", "a"]], ["?", "."]),  # prose tells nothing
        ([["1\u202f234,5 €"], ["12’500.25"], ["192.168.100.200"]], [",", ".", "."]),
        ([["05/03/2024", "25/03/2024 14:30"], ["1/2/24"], ["03/25/2024"]], ["./", ".", "."]),
        ([["05/03/2024", "25/03/2024"], ["1/2/24"], ["1/2/24"]], ["./", "./", "./"]),
    ],
)
def test_the_notation_is_judged_by_the_column(columns: list[list[str]], marks: list[str]) -> None:
    assert notations(columns) == marks


def test_a_number_is_read_in_the_notation_of_its_column() -> None:
    assert typed("2.350 t", ",") == Value("number", 2350.0, unit="t")
    assert typed("€ 1.234,50", ",") == Value("currency", 1234.5, unit="EUR")
    assert typed("12.05.2024 9:30", ",").date == "2024-05-12"
    assert typed("05/03/2024", "./").date == "2024-03-05"
    assert [typed(f"1{mark}234,56", ",").number for mark in " \u00a0\u202f'’"] == [1234.56] * 5
    addresses = ("1.2.3.4", "10.0.0.1", "192.168.100.200", "2.0.1")
    assert {typed(text, ",").type for text in addresses} == {"text"}
    assert typed("980 t", "?") == Value("text")
