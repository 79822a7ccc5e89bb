"""Files gone wrong in many ways, for the tests of readers: bytes flipped, lines cut, ...

`check_reader` gives a reader such files; each must be read, or refused with a sentence that
names the file and, unless it is about the whole file, a line.
"""

import gzip
import random
import re

from maxmargin.files import RawText

NAME = "some file.txt"
ODD = [
    *(
        b"\0",
        b"\xff",
        b"\xe9",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r\n",
        b"\r",
        b"\v",
        b"\f",
    ),
    *("\u2028".encode(), "\u00a0".encode(), "\u0660\u00b2".encode(), b"\x85", b"\x1c"),
    *(b"1e999", b"-1", b"nan", b"9" * 30, b"9" * 5000, b"1_0", b"0x1", b"+", b"1e-999"),
    *(
        b"#",
        b"@",
        b"\\",
        b":",
        b"(",
        b")",
        b"(())",
        b">",
        b"//",
        b"|",
        b"\t",
        b" ",
        b"\n",
    ),
    *(
        b"# STOCKHOLM 1.0\n",
        b"-DOCSTART-",
        b"qid:",
        b"@weight:",
        b"#=GR",
        b"-NONE-",
        b"*",
    ),
]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One change, of one of many kinds."""
    kind = rng.randrange(11)
    at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    if kind == 0:  # other bytes
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + rng.choice(ODD) + data[at + rng.randrange(2) :]
    if kind == 2:  # cut off, cut out, twice
        return data[:at]
    if kind == 3:
        return data[:at] + data[min(to, at + 8) :]
    if kind == 4:
        return data[:to] + data[at:]
    between = rng.choice([b"\n", b"\n", b"\t", b" ", b":", b"-"])
    parts = data.split(between)
    k, m = (rng.randrange(len(parts)) for _ in range(2))
    if kind == 5:  # lines or fields
        del parts[k]
    elif kind == 6:
        parts.insert(k, parts[m])
    elif kind == 7:
        parts[k], parts[m] = parts[m], parts[k]
    elif kind == 8:
        parts[k] = rng.choice(ODD)
    elif kind == 9:
        return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b" ", b""]))
    else:
        return data.replace(between, rng.choice(ODD))
    return between.join(parts)


def disguise(data: bytes, rng: random.Random) -> bytes:
    """Now and then the whole file in another form."""
    kind = rng.randrange(12)
    if kind == 0:
        return b"\xef\xbb\xbf" + data
    if kind == 1:
        packed = gzip.compress(data, mtime=0)
        return packed if rng.randrange(2) else mutate(packed, rng)
    if kind == 2:
        return data.decode("utf-8", "replace").encode("utf-16")
    return data


def complaint(read, data: bytes) -> str | None:
    """What is wrong with how a reader takes a file; None if nothing is."""
    try:
        read(RawText(data, NAME))
    except ValueError as error:
        said = str(error)
        good = type(error) is ValueError and said.endswith(".") and "\n" not in said
        if good and re.match(rf"{NAME}(, line \d+:|:| (is|has|cannot) )", said):
            return None
        return f"says {said!r} ({type(error).__name__})"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return None


def check_reader(read, texts, n: int = 200, seed: int = 0) -> None:
    """Give a reader n files, each with one to four changes."""
    rng = random.Random(seed)
    for _ in range(n):
        data = rng.choice(texts).encode()
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = mutate(data, rng)
        data = disguise(data, rng)
        wrong = complaint(read, data)
        assert wrong is None, f"{data!r}: the reader {wrong}"
