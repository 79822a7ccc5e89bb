"""What the words of a mention say: form, head, gender, number, person.

Cues are short lists of English words (pronouns, titles, kinship) and endings; a word that
is in none has the value "unknown". No dictionary is needed, so a raw file is enough.
"""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.clusterings.documents import MentionDocument

# lemma: (person, gender, number), forms
PRONOUNS = {
    "i": ("1", "?", "sg", "i me my mine myself"),
    "we": ("1", "?", "pl", "we us our ours ourselves"),
    "you": ("2", "?", "?", "you your yours yourself yourselves ye yeh yer"),
    "thou": ("2", "?", "sg", "thou thee thy thine thyself"),
    "he": ("3", "m", "sg", "he him his himself"),
    "she": ("3", "f", "sg", "she her hers herself"),
    "it": ("3", "n", "sg", "it its itself"),
    "they": ("3", "?", "pl", "they them their theirs themselves 'em"),
    "one": ("3", "?", "sg", "one oneself"),
    "who": ("3", "?", "?", "who whom whose which that"),
    "this": ("3", "n", "sg", "this"),
    "these": ("3", "?", "pl", "these those"),
    "here": ("3", "n", "sg", "here there where"),
    "some": ("3", "?", "pl", "some all both many others several few two three"),
    "someone": ("3", "?", "sg", "someone somebody anyone anybody everyone everybody "
                "nobody none each another other"),
}  # fmt: skip
LEMMA = {form: lemma for lemma, p in PRONOUNS.items() for form in p[3].split()}
LEMMAS = ("", *PRONOUNS)
PERSONS = ("", "1", "2", "3")
GENDERS = ("?", "m", "f", "n")
NUMBERS = ("?", "sg", "pl")
FORMS = ("PROP", "NOM", "PRON")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MALE = _words(
    "mr mr. sir lord king prince man boy gentleman father dad papa son brother uncle "
    "husband grandfather nephew monsieur baron count duke earl fellow captain lad "
    "master priest emperor bishop abbé colonel general squire chap landlord"
)
FEMALE = _words(
    "mrs mrs. miss ms ms. madam madame lady queen princess woman girl mother mamma mama "
    "daughter sister aunt wife grandmother niece duchess countess widow maid maiden "
    "mademoiselle nurse governess empress mistress landlady lass"
)
_DETERMINER = {
    word: kind
    for kind, words in {
        "the": "the",
        "a": "a an another",
        "this": "this that these those",
        "possessive": "my our your thy his her its their mine thine",
        "quantity": "some any no every each all both many several few two three",
    }.items()
    for word in words.split()
}
DETERMINERS = ("", "the", "a", "this", "possessive", "quantity")
PLURAL = _words("people men women children folk police gentlemen ladies")
SINGULAR_S = ("ss", "us", "is", "'s")
# the head stands before these
AFTER_HEAD = _words(
    "of in on at by with from for to who whom whose which that where , ( -- - ; : as and "
    "under over upon near into behind beyond between among about against"
)
# quotation marks, single ones by their code points: the eye mistakes them for others
OPEN_QUOTES, CLOSE_QUOTES = {"“", "``", "\u2018"}, {"”", "''", "\u2019"}
QUOTES = {'"'}


class Cues(NamedTuple):
    """Of one mention; codes are indices into the tuples above."""

    form: str
    type: str
    gender: str
    number: str
    person: str
    lemma: str  # of a pronoun
    determiner: str
    quoted: bool  # inside quotation marks
    head: str
    text: str  # lower case, without determiner
    content: frozenset[str]  # its words but for determiners and short ones
    token: int  # place of the first word in the document
    end: int
    sentence: int


def mention_cues(document: MentionDocument) -> list[Cues]:
    quoted = _quoted(document.sentences)
    offset, total = [], 0
    for words in document.sentences:
        offset.append(total)
        total += len(words)
    found = []
    for m in document.mentions:
        words = document.sentences[m.sentence][m.first : m.last + 1]
        token = offset[m.sentence] + m.first
        end = offset[m.sentence] + m.last
        found.append(_cues(words, m, token, end, quoted[token]))
    return found


def _cues(words, m, token, end, quoted) -> Cues:
    lower = [word.lower() for word in words]
    lemma = LEMMA.get(lower[0], "") if len(words) == 1 else ""
    form = m.form or _form(words, lemma)
    if form != "PRON":
        lemma = ""
    determiner = _DETERMINER.get(lower[0], "") if len(words) > 1 else ""
    bare = lower[1:] if determiner else lower
    head = _head(bare)
    person, gender, number = "", "?", "?"
    if form == "PRON":
        person, gender, number, _ = PRONOUNS.get(lemma, ("3", "?", "?", ""))
    else:
        if not MALE.isdisjoint(bare) and FEMALE.isdisjoint(bare):
            gender = "m"
        elif not FEMALE.isdisjoint(bare) and MALE.isdisjoint(bare):
            gender = "f"
        elif m.type and m.type not in ("PER", "PERSON"):
            gender = "n"
        number = _number(lower, head, determiner, form)
    content = frozenset(w for w in bare if len(w) > 2 and w not in AFTER_HEAD)
    return Cues(
        form, m.type, gender, number, person, lemma, determiner, quoted, head,
        " ".join(bare), content, token, end, m.sentence,
    )  # fmt: skip


def _form(words, lemma: str) -> str:
    if lemma:
        return "PRON"
    lower = words[0].lower()
    rest = words[1:] if lower in _DETERMINER and len(words) > 1 else words
    head = _head(rest)
    return "PROP" if head[:1].isupper() else "NOM"


def _head(words) -> str:
    """The last word before a preposition, a clause or a comma."""
    for k, word in enumerate(words):
        if k and word.lower() in AFTER_HEAD:
            return words[k - 1]
    return words[-2] if len(words) > 1 and words[-1] in ("'s", "\u2019s") else words[-1]


def _number(lower, head: str, determiner: str, form: str) -> str:
    if "and" in lower or head in PLURAL or determiner == "quantity":
        return "pl"
    if lower[0] in ("these", "those"):
        return "pl"
    if determiner == "a" or form == "PROP":
        return "sg"
    plural = head.endswith("s") and not head.endswith(SINGULAR_S)
    return "pl" if plural else "sg"


def _quoted(sentences) -> list[bool]:
    """Whether each word stands inside quotation marks; a long speech has an end."""
    inside, found = False, []
    for words in sentences:
        for word in words:
            if word in OPEN_QUOTES:
                inside = True
            elif word in CLOSE_QUOTES:
                inside = False
            elif word in QUOTES:
                inside = not inside
            found.append(inside)
    return found
