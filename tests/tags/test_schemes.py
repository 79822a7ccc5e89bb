"""Tagging schemes: reading spans, and the rules, against slow references."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.tags.schemes import (
    SCHEMES,
    check_scheme,
    convert,
    forbidden_transitions,
    guess_scheme,
    spans,
    violations,
)

LETTERS = {"BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU", "IO": "I"}
TYPES = ("X", "Y")
ANY_TAG = st.sampled_from(["O", *(f"{a}-{b}" for a in "BIESLU" for b in TYPES)])


def labels_of(scheme, types=TYPES):
    return ["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in types)]


# references --------------------------------------------------------------------------


def slow_spans(tags):
    """The two questions of conlleval, asked between every two tokens."""

    def parts(t):
        if not 0 <= t < len(tags) or tags[t] == "O":
            return "O", ""
        letter, kind = tags[t].split("-")
        return {"L": "E", "U": "S"}.get(letter, letter), kind

    def ends(t):  # whether a span ends between t - 1 and t
        (a, kind), (b, other) = parts(t - 1), parts(t)
        return a != "O" and (a in "ES" or b in "OBS" or kind != other)

    def starts(t):
        (a, kind), (b, other) = parts(t - 1), parts(t)
        return b != "O" and (b in "BS" or a in "OES" or kind != other)

    begins = [t for t in range(len(tags)) if starts(t)]
    stops = [t for t in range(1, len(tags) + 1) if ends(t)]
    return [(a, b, parts(a)[1]) for a, b in zip(begins, stops, strict=True)]


def all_spans(n, begin=0):
    """Every way to place spans of two types on n tokens."""
    if begin == n:
        yield []
        return
    for rest in all_spans(n, begin + 1):
        yield rest
    for end in range(begin + 1, n + 1):
        for kind, rest in product(TYPES, list(all_spans(n, end))):
            yield [(begin, end, kind), *rest]


def write(n, placed, scheme):
    """Spans as labels, by the definition of the scheme."""
    out = ["O"] * n
    for begin, end, kind in placed:
        for t in range(begin, end):
            first, last = t == begin, t == end - 1
            touches = any(b == begin and z == kind for _, b, z in placed)
            letter = "I"
            if scheme in ("BIOES", "BILOU") and last:
                letter = (
                    ("S" if first else "E") if scheme == "BIOES" else "UL"[not first]
                )
            elif first and (
                scheme in ("BIO", "BIOES", "BILOU") or (scheme == "IOB1" and touches)
            ):
                letter = "B"
            out[t] = f"{letter}-{kind}"
    return tuple(out)


# reading -----------------------------------------------------------------------------


@given(st.lists(ANY_TAG, max_size=12))
def test_spans_are_those_of_the_reference(tags):
    assert spans(tags) == slow_spans(tags)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("", []),
        ("O O", []),
        ("I-X", [(0, 1, "X")]),
        ("O I-X I-X", [(1, 3, "X")]),
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X I-X O I-X", [(0, 2, "X"), (3, 4, "X")]),
        ("S-X S-X B-X E-X", [(0, 1, "X"), (1, 2, "X"), (2, 4, "X")]),
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),
        ("E-X E-X", [(0, 1, "X"), (1, 2, "X")]),
        ("U-X B-Y L-Y", [(0, 1, "X"), (1, 3, "Y")]),
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("B-a-b I-a-b", [(0, 2, "a-b")]),
    ],
)
def test_spans_by_hand(tags, found):
    assert spans(tags.split()) == found
    assert spans(np.array(tags.split(), dtype=str)) == found


@pytest.mark.parametrize(
    "tag", ["NN", "b-X", "o", "B-", "-X", "", "BI-X", "B_X", 3, None]
)
def test_labels_of_no_scheme(tag):
    with pytest.raises(ValueError, match="does not fit"):
        spans(["O", tag])
    with pytest.raises(ValueError, match=r"does not fit the scheme BIO"):
        forbidden_transitions(["O", tag], "BIO")
    assert guess_scheme(["O", tag]) is None
    found = violations([["O"], ["O", tag]], "BIO")
    assert found[:2] == (1, 1)
    assert "the scheme BIO" in found.message


def test_letters_belong_to_schemes():
    for scheme in SCHEMES:
        for letter in "BIESLU":
            if letter in LETTERS[scheme]:
                assert spans([f"{letter}-X"], scheme) == [(0, 1, "X")]
            else:
                with pytest.raises(ValueError, match=f"'{letter}-X'.*{scheme}"):
                    spans([f"{letter}-X"], scheme)


@pytest.mark.parametrize("tags", ["B-X", 5, None])
def test_spans_need_a_sequence(tags):
    with pytest.raises(ValueError, match="not a sequence"):
        spans(tags)


def test_labels_that_are_lists():
    with pytest.raises(ValueError, match="does not fit"):
        spans([["B-X"]])
    with pytest.raises(ValueError, match="does not fit"):
        forbidden_transitions([["B-X"]], "BIO")
    assert violations([["O", ["B-X"]]], "BIO").position == 1


@pytest.mark.parametrize("scheme", ["BIOS", "bio", "", None, 3, ["BIO"]])
def test_unknown_schemes(scheme):
    for call in (
        lambda: spans(["O"], scheme),
        lambda: convert(["O"], scheme, "BIO"),
        lambda: convert(["O"], "BIO", scheme),
        lambda: violations([["O"]], scheme),
        lambda: forbidden_transitions(["O"], scheme),
    ):
        with pytest.raises(ValueError, match=r"scheme=.* is not known"):
            call()


def test_other_names():
    tags = ["B-X", "I-X", "S-X"]
    assert spans(tags, "IOBES") == spans(tags, "BIOES")
    assert forbidden_transitions(["B-X", "I-X"], "IOB2") == forbidden_transitions(
        ["B-X", "I-X"], "BIO"
    )


# rules -------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_allowed_are_exactly_the_sequences_that_write_spans(scheme):
    labels = labels_of(scheme)
    forbidden = set(forbidden_transitions(labels, scheme))
    for n in range(4):
        written = {write(n, placed, scheme) for placed in all_spans(n)}
        allowed = set()
        for y in product(labels, repeat=n):
            steps = zip((None, *y), (*y, None), strict=True) if n else ()
            if forbidden.isdisjoint(steps):
                allowed.add(y)
            assert (violations([y], scheme) is None) == (y in allowed)
        assert allowed == written


@given(st.data(), st.sampled_from(SCHEMES))
def test_paths_around_forbidden_transitions_have_no_violation(data, scheme):
    labels = labels_of(scheme, ("X", "Y", "Z"))
    forbidden = set(forbidden_transitions(labels, scheme))
    y, last = [], None
    for _ in range(data.draw(st.integers(0, 10))):
        last = data.draw(
            st.sampled_from([b for b in labels if (last, b) not in forbidden])
        )
        y.append(last)
    while y and (last, None) in forbidden:  # close what is open
        last = next(b for b in labels if b[0] in "EL" and (last, b) not in forbidden)
        y.append(last)
    assert violations([[], y], scheme) is None
    check_scheme([y], scheme)
    assert spans(y, scheme) == slow_spans(y)


@pytest.mark.parametrize(
    ("y", "scheme", "place", "message"),
    [
        (["O I-PER"], "BIO", (0, 1), "I-PER follows O"),
        (["", "O", "I-X O"], "BIO", (2, 0), "I-X stands first"),
        (["B-X I-Y"], "BIO", (0, 1), "I-Y follows B-X"),
        (["I-X B-Y"], "IOB1", (0, 1), "B-Y follows I-X"),
        (["B-X"], "IOB1", (0, 0), "B-X stands first"),
        (["S-X", "B-X O"], "BIOES", (1, 1), "O follows B-X"),
        (["S-X B-X"], "BIOES", (0, 1), "B-X stands last, but leaves a span open"),
        (["L-X"], "BILOU", (0, 0), "L-X stands first"),
    ],
)
def test_the_first_violation_is_named(y, scheme, place, message):
    y = [row.split() for row in y]
    assert violations(y, scheme) == (*place, message)
    with pytest.raises(
        ValueError, match=rf"y\[{place[0]}\], token {place[1]}: {message}"
    ):
        check_scheme(y, scheme)
    with pytest.raises(ValueError, match=f"^sentence {place[0]} of a.txt: .*{scheme}"):
        check_scheme(y, scheme, where=lambda i, t: f"sentence {i} of a.txt")


def test_no_violation_in_valid_data():
    assert violations([["I-X", "I-X", "B-X"], []], "IOB1") is None
    assert violations([["I-X", "I-Y", "O"]], "IO") is None
    assert violations([], "BIO") is None
    with pytest.raises(ValueError, match=r"y\[1\] is 'O'"):
        violations([["O"], "O"], "BIO")


def test_forbidden_transitions_are_plain_and_once():
    labels = np.array(["B-X", "I-X", "O", "O"])
    pairs = forbidden_transitions(labels)
    assert pairs == [(None, "I-X"), ("O", "I-X")]
    assert all(type(z) is str for pair in pairs for z in pair if z is not None)
    ends = {
        a for a, b in forbidden_transitions(labels_of("BIOES"), "BIOES") if b is None
    }
    assert ends == {"B-X", "B-Y", "I-X", "I-Y"}
    assert forbidden_transitions(labels_of("IO"), "IO") == []
    with pytest.raises(ValueError, match="not written in a tagging scheme"):
        forbidden_transitions(["NN", "VB"])


# other schemes -----------------------------------------------------------------------


@given(
    st.lists(ANY_TAG, max_size=10),
    st.sampled_from([scheme for scheme in SCHEMES if scheme != "IO"]),
)
def test_convert_keeps_spans_and_obeys_the_target(tags, target):
    made = convert(tags, "auto", target)
    assert tuple(made) == write(len(tags), slow_spans(tags), target)
    assert violations([made], target) is None
    assert spans(made, target) == slow_spans(tags)
    assert convert(made, target, target) == made


def test_convert_to_io_joins_neighbours():
    assert convert(["B-X", "B-X", "B-Y"], "BIO", "IO") == ["I-X", "I-X", "I-Y"]
    assert convert(["B", "I", "O"], "BIO", "BILOU") == ["B", "L", "O"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_guess_from_sequences(scheme):
    y = [write(4, placed, scheme) for placed in all_spans(4)]
    assert guess_scheme(y) == scheme
    flat = {label for row in y for label in row}
    assert guess_scheme(flat) == ("BIO" if scheme == "IOB1" else scheme)


def test_guess_of_few_or_other_labels():
    assert guess_scheme(["O"]) == "IO"
    assert guess_scheme([]) is None
    assert guess_scheme([[]]) is None
    assert guess_scheme(["E-X", "L-X"]) is None
    assert guess_scheme([1, 2]) is None
    assert guess_scheme([["NN"], ["B-X"]]) is None
    # neither: the usual one, so that the violation is told
    assert guess_scheme([["O", "I-X", "B-Y"]]) == "BIO"


def read_labels(name):
    import gzip

    from maxmargin.files import data_file

    with gzip.open(data_file(name), "rt", encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")
    return [[line.split()[-1] for line in block.splitlines()] for block in blocks]


def test_chunks_obey_their_scheme(data_home):
    y = read_labels("conll2000/test.txt.gz")
    assert guess_scheme(y) == "BIO"
    check_scheme(y, "BIO")
    assert sum(len(spans(row)) for row in y) == 23852  # as conlleval counts them


def test_a_name_that_was_cut_in_two_is_found(data_home):
    """One sentence of the Spanish names ends within a name, and the next goes on."""
    y = read_labels("conll2002_esp/esp.testa.txt.gz")
    assert guess_scheme(y) == "BIO"
    assert violations(y, "BIO") == (1097, 0, "I-LOC stands first")
    y[1097] = convert(y[1097], "BIO", "BIO")
    check_scheme(y)
