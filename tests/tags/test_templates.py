"""Reading templates, what every view gives, and the ready-made sets."""

import pytest

from maxmargin.tags.features import (
    READY_NAMES,
    parse_template,
    ready_template,
    ready_text,
)
from maxmargin.tags.features.templates import Part
from maxmargin.tags.features.views import View, regexp, values

CRFPP = """# Unigram
U00:%x[-2,0]
U01:%x[-1,0]/%x[0,0]   # with a comment

U02:%X[ +1, 1 ]
U:%x[0,0]
# Bigram
B
B01
"""


def refuse(text, *parts):
    with pytest.raises(ValueError, match=r"\w") as caught:
        parse_template(text)
    message = str(caught.value)
    for part in parts:
        assert part in message
    assert message.endswith(".")
    assert "\n" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def only_view(macro):
    (feature,) = parse_template(f"U1:{macro}").features
    (part,) = feature.parts
    return part.view


def test_a_crfpp_template():
    template = parse_template(CRFPP)
    assert [f.name for f in template.features] == ["U00", "U01", "U02", "U"]
    assert [f.line for f in template.features] == [2, 3, 5, 6]
    word = View("x")
    assert template.features[1].parts == (Part(-1, 0, word), Part(0, 0, word))
    assert template.features[1].literals == ("U01:", "/", "")
    assert template.features[2].parts == (Part(1, 1, View("x", "", True)),)
    assert template.n_columns == 2
    assert template.text == CRFPP
    assert template.notes == ()
    with pytest.raises(AttributeError):
        template.text = ""


def test_a_wapiti_template():
    template = parse_template(
        '*:Pre-2 X=%m[ 0,0,"^.?.?"]\nu:A=%t[-1,0,"\\"\\d]"]%T[0,0,"#"] # no\n*\n*100'
    )
    first, second, third, _ = template.features
    assert first.literals == ("*:Pre-2 X=", "")
    assert first.name == "*"
    assert first.parts == (Part(0, 0, View("m", "^.?.?")),)
    assert [p.view.argument for p in second.parts] == ['\\"\\d]', "#"]
    assert second.literals == ("u:A=", "", "")
    assert third.parts == ()
    assert len(template.notes) == 3
    assert "line 1" in template.notes[0]


def test_template_files(tmp_path):
    path = tmp_path / "chunk.template"
    path.write_bytes(b"\xef\xbb\xbfU00:%x[0,0]\r\nU01:\xc3\xa9%x[0,1]\r\n")
    for source in (path, str(path)):
        template = parse_template(source)
        assert template.path == str(path)
        assert template.features[1].literals == ("U01:é", "")
    path.write_bytes(b"U00:%x[0,0]\nU01:\xff%x[0,1]\n")
    refuse(path, "chunk.template, line 2", "UTF-8")
    path.write_text("U00:%x[0,0]\nU01:%y[0,1]\n")
    refuse(path, "chunk.template, line 2: unknown macro '%y'")
    path.write_text("B\n")
    refuse(path, "chunk.template has no line that begins with U")
    refuse(tmp_path, "cannot be read")
    refuse("no-such-file", "no-such-file", "cannot be read")
    refuse("no\0file", "cannot be read")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("U01:%y[0,0]", "unknown macro '%y'"),
        ("U01:%", "unknown macro '%'"),
        ("U01:100%", "unknown macro '%'"),
        ("U01:%shape3[0,0]", "unknown macro '%shape3'"),
        ("U01:%Low[0,0]", "unknown macro '%Low'"),
        ("U01:%x", "must be followed by [row,column]"),
        ("U01:%x(0,0)", "must be followed by [row,column]"),
        ("U01:%x[0]", "bad brackets after '%x'"),
        ("U01:%x[0,?]", "bad brackets after '%x'"),
        ("U01:%x[0,-1]", "bad brackets after '%x'"),
        ("U01:%x[0,0", "expected ]"),
        ("U01:%x[0,0,1]", "expected ]"),
        ("U01:%x[@1,0]", "relative row"),
        ("U01:%x[101,0]", "limit of 100"),
        ("U01:%x[0,99999]", "too large"),
        ("U01:%x[0,99999999999999999999]", "too large"),
        ("U01:%p[0,0]", "needs a length"),
        ("U01:%p0[0,0]", "needs a length"),
        ("U01:%s999999999999[0,0]", "needs a length"),
        ("U01:%t[0,0]", "regular expression in double quotes"),
        ('U01:%t[0,0,"a]', "regular expression in double quotes"),
        ('U01:%t[0,0,"[A-Z]"]', "write \\["),
        ('U01:%t[0,0,"\\d+"]', "write \\+"),
        ('U01:%m[0,0,"*a"]', "nothing to repeat"),
        ('U01:%m[0,0,"a**"]', "nothing to repeat"),
        ("U01:%g[0,0]", "needs a name"),
        ("B01:%x[0,0]", "write it with U in place of B"),
        ("%x[0,0]", "must begin with U, B, * or #"),
        ("W01:%x[0,0]", "must begin with U, B, * or #"),
    ],
)
def test_lines_that_are_refused(line, part):
    refuse(f"# first\n{line}\nU02:%x[0,0]\n", "template, line 2: ", part)


def test_no_features_or_no_text():
    refuse("B\n", "no line that begins with U")
    refuse("\n", "no line that begins with U")
    refuse(3, "not int")


def test_columns_that_the_data_lack():
    template = parse_template("U01:%x[0,0]\nU02:%x[0,2]")
    template.check_columns(3)
    for n, have in ((2, "2 columns, 0 to 1"), (0, "none")):
        with pytest.raises(ValueError, match="have " + have):
            template.check_columns(n)
    with pytest.raises(
        ValueError, match=r"line 2: U02 reads column 2, .* only column 0"
    ):
        template.check_columns(1)


@pytest.mark.parametrize(
    ("macro", "expected"),
    [
        ("%x[0,0]", ["McDonald-2000", "of", "É", "--", "123"]),
        ("%X[0,0]", ["mcdonald-2000", "of", "é", "--", "123"]),
        ("%low[0,0]", ["mcdonald-2000", "of", "é", "--", "123"]),
        ("%p2[0,0]", ["Mc", "of", None, "--", "12"]),
        ("%P2[0,0]", ["mc", "of", None, "--", "12"]),
        ("%s3[0,0]", ["000", None, None, None, "123"]),
        ("%shape[0,0]", ["XxXxxxxx-dddd", "xx", "X", "--", "ddd"]),
        ("%short[0,0]", ["XxXx-d", "x", "X", "-", "d"]),
        ("%cap[0,0]", ["cap", None, "cap", None, None]),
        ("%upper[0,0]", [None, None, "upper", None, None]),
        ("%digit[0,0]", ["digit", None, None, None, "digit"]),
        ("%hyphen[0,0]", ["hyphen", None, None, "hyphen", None]),
        ("%punct[0,0]", [None, None, None, "punct", None]),
        ("%g[0,0,names]", ["names", None, "names", None, None]),
        ('%t[0,0,"^\\u"]', ["true", "false", "true", "false", "false"]),
        ('%m[0,0,"\\u\\l?"]', ["Mc", "", "É", "", ""]),
        ('%M[0,0,"\\u\\l?"]', ["mc", "", "é", "", ""]),
    ],
)
def test_views(macro, expected):
    words = ["McDonald-2000", "of", "É", "--", "123"]
    names = {"names": frozenset({"McDonald-2000", "É"})}
    assert values(only_view(macro), words, names) == expected


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("a.c", "xabc", "abc"),
        ("^b", "ab", None),
        ("b$", "ba", None),
        ("a^$b", "a^$b", "a^$b"),  # anchors are anchors at their places only
        ("a*", "aaa", ""),  # as little as possible
        ("a*$", "baa", "aa"),
        ("ba?", "baa", "ba"),
        ("\\d\\D", "12x", "2x"),
        ("\\a\\A", "x1", "x1"),
        ("\\w\\W", "x1-", "1-"),
        ("\\l\\L", "xY", "xY"),
        ("\\u\\U", "ÉÈx", "Èx"),
        ("\\p\\P", "a_b", "_b"),
        ("\\s\\S", "a b", " b"),
        ("\\[\\.\\*", "[.*", "[.*"),
        ("", "abc", ""),
    ],
)
def test_regular_expressions_of_wapiti(text, word, found):
    match = regexp(text).search(word)
    assert (match and match[0]) == found


def test_ready_sets():
    for name in READY_NAMES:
        template = ready_template(name, 2)
        assert template.text == ready_text(name)
        names = [f.name for f in template.features]
        assert len(set(names)) == len(names)
        narrow = ready_template(name, 1)
        assert narrow.n_columns == 1
        kept = {f.name: f.parts for f in narrow.features}
        for feature in template.features:
            reads_tags = any(part.column for part in feature.parts)
            assert kept.get(feature.name) == (None if reads_tags else feature.parts)
    assert len(ready_template("chunking", 2).features) == 19
    with pytest.raises(ValueError, match="'chunking', 'ner', 'pos', 'words'"):
        ready_template("parsing", 2)
    for wrong in (0, True, "2"):
        with pytest.raises(ValueError, match=r"column|whole"):
            ready_template("ner", wrong)
