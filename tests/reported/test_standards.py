"""Data Package properties, look-alike spellings, and files whose content contradicts their name."""

import gzip
import io
import json
import unicodedata
import zipfile

import pandas as pd
import pytest
import yaml

from boundpaper.errors import DataError
from boundpaper.store.reader import read
from boundpaper.store.schema import check

TABLE = "artifacts/sources/bean_heights.csv"
PLACES = """
name: test
resources:
- {name: places, path: sources/places.csv, fields: [{source*: Key of the place}]}
"""
COLUMNS = [
    {"name": "lamp", "type": "string", "description": "Lamp"},
    {"name": "height", "type": "number", "unit": "cm", "description": "Height"},
    {"name": "source", "type": "string", "description": "Place"},
]


class Beans:
    """A project of two tables, `places` and `bean_heights`."""

    def __init__(self, root):
        self.root = root
        (root / "artifacts/sources").mkdir(parents=True)
        (root / "artifacts/sources/places.csv").write_text("source\nbeans T1\n")

    def describe(self, schema=None, **properties):
        """Write the description of the table of heights, with a changed schema and more properties of the resource."""
        resource = {"name": "bean_heights", "path": "sources/bean_heights.csv", "origin": [], **properties}
        resource["schema"] = {"primaryKey": ["lamp"], "fields": COLUMNS, **(schema or {})}
        text = yaml.safe_dump([resource], sort_keys=False, allow_unicode=True)
        (self.root / "artifacts/datapackage.yaml").write_text(PLACES + text, encoding="utf-8")

    def field(self, **properties):
        """Write the description of the table with additional properties of the column of heights."""
        lamp, height, source = COLUMNS
        self.describe({"fields": [lamp, {**height, **properties}, source]})

    def write(self, text):
        """Write the table of heights, as text or as bytes."""
        content = text if isinstance(text, bytes) else text.encode()
        (self.root / TABLE).write_bytes(content)

    def faults(self):
        """Return the faults that `check` reports for the table of heights."""
        return [str(fault) for fault in check(self.root, "bean_heights")]

    def heights(self):
        """Return the heights as read, with None for missing values."""
        return [None if pd.isna(value) else value for value in read(self.root, "bean_heights")["height"]]


@pytest.fixture
def beans(tmp_path):
    project = Beans(tmp_path)
    project.describe()
    project.write("lamp,height,source\nsun,18.4,beans T1\nneon,2.5,beans T1\n")
    return project


@pytest.mark.reported("tableschema-py#84", "bioRad#608", outcome="right")
def test_missing_values_of_the_schema_are_read_as_missing(beans):
    """List -99 under `missingValues` of a schema; -99 would otherwise be averaged as a height."""
    beans.describe({"missingValues": ["", "-99", "NA"]})
    beans.write("lamp,height,source\nsun,-99,beans T1\nneon,2.5,beans T1\n")
    assert beans.faults() == []
    assert beans.heights() == [None, 2.5]


MISSING = [
    ({"missingValues": ["-99"]}, {}, "-99", [None, 2.5]),
    ({"missingValues": [{"value": "-99", "label": "lamp broken"}, {"value": ""}]}, {}, "-99", [None, 2.5]),
    ({"missingValues": ["-99"]}, {}, "-99.0", [-99.0, 2.5]),  # another text than the declared one
    ({}, {"missingValues": ["NA", "."]}, ".", [None, 2.5]),
    ({"missingValues": ["-99"]}, {"missingValues": ["NA"]}, "-99", [-99.0, 2.5]),  # only the field's list counts
    ({"missingValues": ["NaN", ""]}, {}, "NaN", [None, 2.5]),
]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(("schema", "field", "cell", "heights"), MISSING)
def test_missing_values_lists_follow_the_standard(beans, schema, field, cell, heights):
    """Set `missingValues` for the schema, for a field, for both, and with labels as in version 2."""
    lamp, height, source = COLUMNS
    beans.describe({**schema, "fields": [lamp, {**height, **field}, source]})
    beans.write(f"lamp,height,source\nsun,{cell},beans T1\nneon,2.5,beans T1\n")
    assert beans.faults() == []
    assert beans.heights() == heights


@pytest.mark.reported(outcome="refused")
def test_an_empty_cell_that_the_list_leaves_out_is_no_number(beans):
    """Omit the empty cell from the list of missing values, which makes an empty number cell a fault."""
    beans.describe({"missingValues": ["NA"]})
    beans.write("lamp,height,source\nsun,,beans T1\nneon,NA,beans T1\n")
    assert beans.faults() == [f"{TABLE}: row 2, height: '' is not a number"]
    with pytest.raises(DataError, match="row 2, height: empty, but missingValues does not list ''"):
        beans.heights()


@pytest.mark.reported(outcome="refused")
def test_missing_value_in_a_required_column_or_key_is_a_fault(beans):
    """Put a missing value into a required column."""
    beans.describe({"missingValues": ["NA", ""]})
    beans.field(missingValues=["NA"], constraints={"required": True})
    beans.write("lamp,height,source\nsun,NA,beans T1\n")
    assert beans.faults() == [f"{TABLE}: row 2, height: 'NA' means a missing value, but a value is required"]


UNSUPPORTED_FIELD_PROPERTIES = [
    {"decimalChar": ","},
    {"groupChar": " "},
    {"bareNumber": False},
    {"trueValues": ["yes"]},
    {"falseValues": ["no"]},
    {"format": "percent"},
    {"type": "date", "format": "%d/%m/%Y"},
    {"type": "datetime"},
    {"type": "year"},
    {"type": "duration"},
    {"type": "geopoint"},
    {"type": "list", "delimiter": ";"},
    {"type": "any"},
    {"categories": ["low", "high"]},
    {"categoriesOrdered": True},
    {"constraints": {"jsonSchema": {}}},
]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("properties", UNSUPPORTED_FIELD_PROPERTIES)
def test_unsupported_field_property_that_changes_cells_is_refused(beans, properties):
    """Use Table Schema properties that change how a cell is read: decimal commas, dates, categories and others."""
    beans.field(**properties)
    with pytest.raises(DataError) as error:
        beans.faults()
    message = str(error.value)
    assert message.startswith("artifacts/datapackage.yaml: bean_heights, height: ")
    assert "not supported" in message
    assert any(name in message for name in (*properties, "jsonSchema"))
    assert "; " in message, "the message must say how to mend it"
    assert "\n" not in message


UNSUPPORTED_RESOURCE_PROPERTIES = [
    {"dialect": {"delimiter": ";"}},
    {"dialect": {"quoteChar": "'"}},
    {"dialect": {"doubleQuote": False}},
    {"dialect": {"escapeChar": "\\"}},
    {"dialect": {"lineTerminator": "\r"}},
    {"dialect": {"header": False}},
    {"dialect": {"headerRows": [1, 2]}},
    {"dialect": {"caseSensitiveHeader": False}},
    {"dialect": {"commentChar": "#"}},
    {"dialect": {"commentRows": [1]}},
    {"dialect": {"nullSequence": "NA"}},
    {"dialect": {"skipInitialSpace": True}},
    {"dialect": {"sheetName": "Beans"}},
    {"dialect": {"property": "rows"}},
    {"dialect": "dialect.json"},
    {"encoding": "latin-1"},
    {"compression": "gz"},
    {"data": [["lamp"], ["sun"]]},
    {"path": ["sources/a.csv", "sources/b.csv"]},
    {"profile": "fiscal-data-package"},
    {"$schema": "https://example.org/mine.json"},
    {"format": "xlsx"},
    {"type": "json"},
]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("properties", UNSUPPORTED_RESOURCE_PROPERTIES)
def test_unsupported_resource_property_that_changes_rows_is_refused(beans, properties):
    """Use Data Resource and Table Dialect properties: separators, comments, encodings, several files, inline rows."""
    beans.describe(**properties)
    with pytest.raises(DataError) as error:
        beans.faults()
    message = str(error.value)
    [(name, value)] = properties.items()
    assert message.startswith("artifacts/datapackage.yaml: bean_heights: ")
    assert name in message
    assert not isinstance(value, dict) or next(iter(value)) in message
    assert "\n" not in message


@pytest.mark.reported(outcome="right")
def test_properties_with_default_or_descriptive_meaning_are_accepted(beans):
    """Use a description written by other programs: default dialect, licences, sources, titles, links."""
    beans.describe(
        {"$schema": "https://datapackage.org/profiles/2.0/tableschema.json", "fieldsMatch": "exact"},
        **{
            "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
            "type": "table",
            "profile": "tabular-data-resource",
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "UTF-8",
            "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "header": True, "headerRows": [1]},
            "licenses": [{"name": "CC0-1.0"}],
            "sources": [{"title": "Beans", "path": "https://example.org"}],
            "homepage": "https://example.org",
            "dc:subject": "beans",
        },
    )
    assert beans.faults() == []


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(
    ("level", "word", "suggestion"),
    [
        ("resource", "licences", "did you mean 'licenses'?"),
        ("schema", "missingvalues", "did you mean 'missingValues'?"),
        ("field", "desciption", "did you mean 'description'?"),
        ("field", "constraint", "did you mean 'constraints'?"),
        ("constraints", "minimun", "did you mean 'minimum'?"),
    ],
)
def test_misspelt_property_suggests_the_nearest(beans, level, word, suggestion):
    """Misspell a property of the standard and of this project."""
    if level == "resource":
        beans.describe(**{word: []})
    elif level == "schema":
        beans.describe({word: []})
    elif level == "field":
        beans.field(**{word: "x"})
    else:
        beans.field(constraints={word: 1})
    with pytest.raises(DataError) as error:
        beans.faults()
    assert f"unknown key {word!r}; {suggestion}" in str(error.value)


@pytest.mark.reported(outcome="refused")
def test_size_hash_and_unique_keys_are_checked_against_the_file(beans):
    """Set `bytes`, `hash` and `uniqueKeys`, each of which is checked against the file."""
    beans.describe(bytes=54, hash="md5:0123456789abcdef0123456789abcdef")
    assert "bytes, but `bytes` in artifacts/datapackage.yaml is 54" in beans.faults()[0]
    beans.describe(hash="0123456789abcdef0123456789abcdef")
    assert "the md5 differs from `hash`" in beans.faults()[0]
    beans.describe({"uniqueKeys": [["source"], ["lamp", "source"]]})
    assert beans.faults() == [f"{TABLE}: row 3: the key appears twice (beans T1)"]


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize("reference", [{"fields": "lamp"}, {"resource": "", "fields": ["lamp"]}])
def test_foreign_key_may_reference_its_own_table(beans, reference):
    """Refer to the same table: an empty `resource` in version 1, no `resource` in version 2."""
    beans.describe({"foreignKeys": [{"fields": "source", "reference": reference}]})
    beans.write("lamp,height,source\nsun,1,sun\nneon,2,moon\n")
    assert beans.faults() == [
        f"{TABLE}: row 3, source: 'moon' is not in the table 'bean_heights'; add it there or correct the name"
    ]


@pytest.mark.reported("frictionless-py#1172", "frictionless-py#1748", outcome="refused")
def test_trailing_blank_in_a_key_is_a_fault(beans):
    """Use `sun ` and `sun` as keys, which look the same in print."""
    beans.write("lamp,height,source\nsun ,6.1,beans T1\nsun,6.2,beans T1\n")
    assert beans.faults() == [f"{TABLE}: row 2, lamp: 'sun ' begins or ends with a blank; write 'sun'"]


LOOK_ALIKES = [
    ("sun", " sun", "begins or ends with a blank; write 'sun'"),
    ("full sun", "full\u00a0sun", "contains a no-break blank, or several blanks in a row; write 'full sun'"),
    ("full sun", "full  sun", "several blanks in a row; write 'full sun'"),
    ("sun", "sun\u200b", "contains an invisible character; write 'sun'"),
    ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"), "has a letter and its accent as two characters"),
    ("\ufb01lament", "filament", "looks like '\ufb01lament' of row 2"),
    ("5 \u00b5m", "5 \u03bcm", "looks like '5 \u00b5m' of row 2"),
]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(("first", "second", "message"), LOOK_ALIKES)
def test_look_alike_spellings_in_a_key_are_a_fault(beans, first, second, message):
    """Use no-break spaces, double spaces, zero-width characters, decomposed accents, ligatures and look-alikes."""
    beans.write(f"lamp,height,source\n{first},6.1,beans T1\n{second},6.2,beans T1\n")
    [fault] = beans.faults()
    assert fault.startswith(f"{TABLE}: row 3, lamp: ")
    assert message in fault


@pytest.mark.reported(outcome="refused")
def test_look_alike_spellings_in_other_columns_are_a_fault(beans):
    """Use look-alike spellings in a category column, where they would split groups."""
    beans.describe({"primaryKey": ["height"]})
    beans.write("lamp,height,source\nsun,1,beans T1\nneon,2,beans T1\nsun ,3,beans T1\nsun ,4,beans T1\n")
    assert beans.faults() == [
        f"{TABLE}: row 4, lamp: 'sun ' looks like 'sun' of row 2, but is spelled differently; use one spelling"
    ]


@pytest.mark.reported(outcome="refused")
def test_foreign_key_that_only_looks_equal_is_reported_with_its_spelling(beans):
    """Use a foreign key that the other table spells with a no-break space."""
    (beans.root / "artifacts/sources/places.csv").write_text("source\nbeans\u00a0T1\n", encoding="utf-8")
    beans.describe({"foreignKeys": [{"fields": ["source"], "reference": {"resource": "places", "fields": ["source"]}}]})
    assert "'beans T1' is not in the table 'places', which has 'beans\\xa0T1'" in beans.faults()[0]


@pytest.mark.reported(outcome="right")
def test_visibly_different_words_are_accepted_as_different(beans):
    """Use superscripts, capitals and accents, which make words visibly different."""
    beans.write(
        "lamp,height,source\nx2,1,beans T1\nx\u00b2,2,beans T1\nX2,3,beans T1\nrose,4,beans T1\nros\u00e9,5,beans T1\n"
    )
    assert beans.faults() == []


def spreadsheet() -> bytes:
    """Return the bytes of a spreadsheet file: a ZIP archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    return buffer.getvalue()


ROWS = "lamp,height,source\nsun,18.4,beans T1\n"
OTHER_FORMATS = [
    (gzip.compress(ROWS.encode(), mtime=0), "is packed by gzip"),
    (spreadsheet(), "is a ZIP archive, as spreadsheets (XLSX, ODS) are"),
    (ROWS.encode("utf-16"), "is UTF-16; save it in UTF-8"),
    (ROWS.encode("utf-16-le"), "is UTF-16 without a byte order mark"),
    (b"PAR1\0\0PAR1", "is Parquet; give it the ending .parquet"),
    (b"<!DOCTYPE html><html><body>Log in</body></html>\n", "is an HTML page"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer to a file of Git LFS"),
    (b"%PDF-1.7\n", "is a PDF"),
    (ROWS.replace(",", ";").encode(), "the separator is ';'; save the table with commas"),
    (ROWS.replace(",", "\t").encode(), "the separator is a tab; save the table with commas"),
    (ROWS.replace("sun,", '"sun"s,').encode(), "line 2: a cell in quotation marks is not closed, or text follows"),
    (ROWS.replace("sun,", '"sun" ,').encode(), "line 2: a cell in quotation marks"),
    (ROWS.replace("sun,", '"sun,').encode(), "a cell in quotation marks is not closed"),
    (ROWS.replace("sun,", r'"the \"sun\"",').encode(), "line 2: a cell in quotation marks"),
    (ROWS.replace("lamp,", "lamp ,").encode(), "the column 'lamp ' begins or ends with a blank; write 'lamp'"),
]


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize(("content", "message"), OTHER_FORMATS)
def test_file_whose_content_contradicts_its_name_is_reported(beans, content, message):
    """Read a `.csv` that is gzip, XLSX, UTF-16, Parquet, a web page or a pointer, or separated by semicolons."""
    beans.write(content)
    [fault] = beans.faults()
    assert message in fault
    assert fault.startswith(TABLE)
    with pytest.raises(DataError, match="bean_heights"):
        beans.heights()


@pytest.mark.reported(outcome="right")
def test_byte_order_mark_is_skipped_in_every_file(beans, tmp_path):
    """Read tables, descriptions, JSON, JSON lines and the table of documents with a byte order mark."""
    from boundpaper.store.documents import documents
    from boundpaper.store.json_lines import line_values
    from boundpaper.store.table_file import table_hash
    from boundpaper.store.text_file import json_of

    byte_order_mark = b"\xef\xbb\xbf"
    before = table_hash(beans.root / TABLE)
    for file in (TABLE, "artifacts/datapackage.yaml", "artifacts/sources/places.csv"):
        (beans.root / file).write_bytes(byte_order_mark + (beans.root / file).read_bytes())
    assert beans.faults() == []
    assert beans.heights() == [18.4, 2.5]
    assert table_hash(beans.root / TABLE) == before
    (tmp_path / "a.json").write_bytes(byte_order_mark + json.dumps({"a": 1}).encode())
    assert json_of(tmp_path, "a.json") == {"a": 1}
    (tmp_path / "a.jsonl").write_bytes(byte_order_mark + b'{"a": 1}\n')
    assert [value for _, value in line_values(tmp_path / "a.jsonl")] == [{"a": 1}]
    (tmp_path / "artifacts/sources/documents.csv").write_bytes(
        byte_order_mark + b"document,group,title,citation,coverage\nthesis,thesis,Beans,,claims\n"
    )
    assert [document.title for document in documents(tmp_path)] == ["Beans"]


@pytest.mark.reported(outcome="refused")
def test_broken_yaml_is_reported_with_the_line_where_it_begins(beans):
    """Read YAML with an unclosed bracket, which the parser notices only at the end of a long file."""
    text = (beans.root / "artifacts/datapackage.yaml").read_text()
    broken = text.replace("fields: [{source*: Key of the place}]}", "fields: [{source*: Key of the place}}")
    (beans.root / "artifacts/datapackage.yaml").write_text(broken)
    with pytest.raises(DataError) as error:
        beans.faults()
    assert str(error.value).startswith("artifacts/datapackage.yaml:4: ")
    (beans.root / "artifacts/datapackage.yaml").write_text(f"{PLACES}- {{name: beans, fields: [lamp]\n{text[20:]}")
    with pytest.raises(DataError) as error:
        beans.faults()
    assert "in the part that begins at line 5: '- {name: beans, fields: [lamp]'" in str(error.value)
