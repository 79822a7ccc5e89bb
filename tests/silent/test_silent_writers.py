"""Writers of files and folders: one at a time, and nothing of others is ever lost."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from maxmargin import Checkpoint, MulticlassSVM, TagCorpus
from maxmargin.files import atomic, locks, model_file
from maxmargin.files.atomic import replace_file
from maxmargin.files.locks import require_room

TEXT = "a DT\nb NN\n\nc NN\nd VB\n\n"
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 3


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "text"
    path.write_text(TEXT)
    return path


class Other:
    """Another process that says "ready" and then waits for a word or its end."""

    def __init__(self, code):
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        assert line == "ready\n", self.process.stderr.read()

    def go_on(self):
        out, error = self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0, error
        return out

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=60)


PAUSE = """
def pause():
    print("ready", flush=True)
    input()
"""

BUILD = (
    PAUSE
    + """
from maxmargin import TagCorpus
from maxmargin.tags.corpus.build import Builder
fill = Builder.fill
def slow(*arguments):
    pause()
    fill(*arguments)
Builder.fill = slow
TagCorpus.build({folder!r}, {data!r}, "words", overwrite=True)
"""
)

OVERWRITE = (
    PAUSE
    + """
import os
from maxmargin import TagCorpus
rename = os.rename
def slow(source, target):
    rename(source, target)
    if target.endswith(".old"):
        pause()
os.rename = slow
TagCorpus.build({folder!r}, {data!r}, "words", overwrite=True)
"""
)

FIT = (
    PAUSE
    + """
import sys
import numpy as np
from maxmargin import Checkpoint, MulticlassSVM
X = np.random.default_rng(0).normal(size=(40, 3))
def wait(row):
    if row["iteration"] == 1:
        pause()
model = MulticlassSVM(tol=1e-9, max_iter=3, checkpoint=Checkpoint({folder!r}, every=0))
model.set_params(callbacks=[wait]).fit(X, np.arange(40) % 3)
"""
)

SAVE = (
    PAUSE
    + """
import os
from maxmargin.files.atomic import replace_file
def pieces():
    yield b"other"
    pause()
    yield b" process"
replace_file({path!r}, pieces())
"""
)


# corpora -------------------------------------------------------------------------------


def test_a_folder_that_appears_meanwhile_is_kept(data, tmp_path, monkeypatch):
    from maxmargin.tags.corpus.build import Builder

    folder, fill = tmp_path / "c", Builder.fill

    def slow(self, *arguments):
        folder.mkdir(exist_ok=True)
        (folder / "thesis.txt").write_text("years of work")
        fill(self, *arguments)

    monkeypatch.setattr(Builder, "fill", slow)
    for there in (False, True):  # an empty folder may be there before
        if there:
            folder.mkdir()
        for overwrite in (False, True):
            with pytest.raises(FileExistsError, match=r"made or changed by somebody"):
                TagCorpus.build(folder, data, "words", overwrite=overwrite)
            assert (folder / "thesis.txt").read_text() == "years of work"
            assert sorted(os.listdir(tmp_path)) == ["c", "text"]
            (folder / "thesis.txt").unlink()
        folder.rmdir()


def test_what_is_put_into_a_corpus_is_not_lost_with_it(data, tmp_path, monkeypatch):
    from maxmargin.tags.corpus.build import Builder

    folder, fill = tmp_path / "c", Builder.fill
    TagCorpus.build(folder, data, "words")

    def slow(self, *arguments):
        (folder / "notes.txt").write_text("mine")
        fill(self, *arguments)

    monkeypatch.setattr(Builder, "fill", slow)
    with pytest.raises(FileExistsError, match=r"made or changed by somebody"):
        TagCorpus.build(folder, data, "words", overwrite=True)
    with pytest.raises(FileExistsError, match=r"holds 'notes.txt', which is no part"):
        TagCorpus.build(folder, data, "words", overwrite=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert TagCorpus.open(folder).n_tokens == 4


def test_another_build_of_the_same_folder_is_refused(data, tmp_path):
    folder = str(tmp_path / "c")
    other = Other(BUILD.format(folder=folder, data=str(data)))
    began = time.monotonic()
    with pytest.raises(FileExistsError, match=rf"by process {other.process.pid} on"):
        TagCorpus.build(folder, data, "chunking")
    assert time.monotonic() - began < 5
    TagCorpus.build(tmp_path / "d", data, "words")  # others are free
    other.go_on()
    assert TagCorpus.open(folder).n_tokens == 4
    assert sorted(os.listdir(tmp_path)) == ["c", "d", "text"]


def test_a_killed_overwriting_is_undone(data, tmp_path):
    folder = str(tmp_path / "c")
    before = TagCorpus.build(folder, data, "words").n_features
    other = Other(OVERWRITE.format(folder=folder, data=str(data)))
    assert not os.path.exists(folder)
    other.kill()
    with pytest.raises(FileExistsError, match=r"overwrite=True replaces it"):
        TagCorpus.build(folder, data, "words")
    assert TagCorpus.open(folder).n_features == before
    assert sorted(os.listdir(tmp_path)) == ["c", "text"]


def test_a_folder_that_comes_between_two_renames(data, tmp_path):
    folder = str(tmp_path / "c")
    TagCorpus.build(folder, data, "words")
    other = Other(OVERWRITE.format(folder=folder, data=str(data)))
    os.mkdir(folder)
    (tmp_path / "c" / "mine").write_text("mine")
    _, error = other.process.communicate("\n", timeout=60)
    assert "made or changed by somebody else" in error
    assert (tmp_path / "c" / "mine").read_text() == "mine"
    (kept,) = [n for n in os.listdir(tmp_path) if n.startswith("c.")]
    assert TagCorpus.open(tmp_path / kept).n_tokens == 4


def test_a_corpus_without_room_is_refused_before_any_work(data, tmp_path, monkeypatch):
    full_disk(monkeypatch, 10)
    with pytest.raises(ValueError, match=r"has 10 bytes left, but about 22 bytes are"):
        TagCorpus.build(tmp_path / "c", data, "words")
    assert os.listdir(tmp_path) == ["text"]


# checkpoints ---------------------------------------------------------------------------


def test_two_fits_with_one_folder(tmp_path):
    folder = str(tmp_path)
    other = Other(FIT.format(folder=folder))
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"is in use by a fit of process \d+ on"):
            MulticlassSVM(checkpoint=folder, resume=resume).fit(X, Y)
    with pytest.raises(ValueError, match=r"is in use by a fit of process"):
        MulticlassSVM(checkpoint=folder).path(X, Y, [0.1, 1.0])
    other.go_on()
    assert os.listdir(folder) == ["fit.checkpoint"]
    MulticlassSVM(checkpoint=folder, resume=True).fit(X, Y)


def test_two_fits_with_one_folder_in_threads(tmp_path):
    begun, go_on, done = threading.Event(), threading.Event(), []

    def wait(row):
        begun.set()
        go_on.wait(60)

    def fit():
        model = MulticlassSVM(checkpoint=tmp_path, callbacks=[wait])
        done.append(model.fit(X, Y).converged_)

    thread = threading.Thread(target=fit)
    thread.start()
    begun.wait(60)
    with pytest.raises(ValueError, match=r"is in use by a fit of this process"):
        MulticlassSVM(checkpoint=tmp_path).fit(X, Y)
    go_on.set()
    thread.join()
    assert done == [True]


def test_the_folder_of_a_killed_fit_is_free(tmp_path):
    other = Other(FIT.format(folder=str(tmp_path)))
    other.kill()
    model = MulticlassSVM(tol=1e-9, max_iter=3, checkpoint=Checkpoint(tmp_path, 0))
    with pytest.warns(Warning, match="max_iter"):
        model.fit(X, Y)
    assert os.listdir(tmp_path) == ["fit.checkpoint"]


def test_no_room_for_a_checkpoint(tmp_path, monkeypatch):
    full_disk(monkeypatch, 10)
    with pytest.raises(ValueError, match=r"has 10 bytes left"):
        MulticlassSVM(checkpoint=tmp_path).fit(X, Y)
    assert os.listdir(tmp_path) == []
    assert MulticlassSVM().fit(X, Y).converged_  # which writes nothing


# files ---------------------------------------------------------------------------------


def full_disk(monkeypatch, free):
    class Usage:
        pass

    Usage.free = free
    monkeypatch.setattr(atomic.shutil, "disk_usage", lambda folder: Usage)


def test_writers_of_one_file_take_turns(tmp_path):
    path = tmp_path / "m.model"
    other = Other(SAVE.format(path=str(path)))
    thread = threading.Thread(target=replace_file, args=(str(path), b"this one"))
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()  # it waits
    other.go_on()
    thread.join(60)
    assert path.read_bytes() == b"this one"
    assert os.listdir(tmp_path) == ["m.model"]


def test_a_writer_that_never_ends_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "WAIT", 0.1)
    path = tmp_path / "m.model"
    other = Other(SAVE.format(path=str(path)))
    model = MulticlassSVM().fit(X, Y)
    with pytest.raises(locks.Busy, match=rf"process {other.process.pid} on"):
        model_file.save(model, path)
    other.kill()
    assert len(os.listdir(tmp_path)) == 2  # half a file, and its lock
    model_file.save(model, path)
    assert os.listdir(tmp_path) == ["m.model"]
    assert np.array_equal(model_file.load(path).predict(X), model.predict(X))


@pytest.mark.parametrize("there", [False, True])
def test_a_file_that_somebody_else_writes_meanwhile_is_kept(tmp_path, there):
    path = tmp_path / "f"
    if there:
        path.write_bytes(b"before")

    def pieces():
        yield b"ours"
        path.write_bytes(b"of somebody else")

    with pytest.raises(FileExistsError, match="changed by somebody else"):
        replace_file(str(path), pieces())
    assert path.read_bytes() == b"of somebody else"
    assert os.listdir(tmp_path) == ["f"]


def test_many_writers_at_once(tmp_path):
    code = (
        "import sys\nfrom maxmargin.files.atomic import replace_file\n"
        "for k in range(30):\n"
        "    replace_file(sys.argv[1], sys.argv[2].encode() * 5000)\n"
    )
    path = str(tmp_path / "f")
    others = [subprocess.Popen([sys.executable, "-c", code, path, c]) for c in "abc"]
    assert [other.wait(60) for other in others] == [0, 0, 0]
    with open(path, "rb") as file:
        content = file.read()
    assert content in (b"a" * 5000, b"b" * 5000, b"c" * 5000)
    assert os.listdir(tmp_path) == ["f"]


def test_without_locks_the_file_is_the_lock(tmp_path, monkeypatch):
    """As on some network file systems."""

    def none(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    path = str(tmp_path / "f")
    with (
        locks.claim(path),
        pytest.raises(locks.Busy, match="by this process"),
        locks.claim(path),
    ):
        pass
    assert os.listdir(tmp_path) == []
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = locks.socket.gethostname()
    for owner, free in ((f"{dead.pid} {host}", True), (f"{dead.pid} other", False)):
        with open(locks.lock_name(path), "w") as file:
            file.write(owner)
        if free:
            replace_file(path, b"x")
        else:
            with pytest.raises(locks.Busy, match="on other"), locks.claim(path):
                pass


def test_room_is_asked_for_where_something_will_be_written(tmp_path, monkeypatch):
    full_disk(monkeypatch, 10)
    require_room(10**9)  # nowhere
    with locks.reserve(str(tmp_path / "f")):
        require_room(10)
        with pytest.raises(ValueError, match="about 1,000 MB are needed: make room"):
            require_room(10**9)


def test_a_lock_that_a_full_disk_has_no_room_for_leaves_nothing(tmp_path, monkeypatch):
    def full(handle, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locks.os, "write", full)
    with (
        pytest.raises(OSError, match="No space left"),
        locks.claim(str(tmp_path / "x")),
    ):
        pass
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    name = locks.lock_name(str(tmp_path / "x"))
    with open(name, "w") as file:  # of no process that there can be
        file.write(f"{10**30} {locks.socket.gethostname()}\n")
    with locks.claim(str(tmp_path / "x")):
        pass
    assert locks._dead([str(10**30), locks.socket.gethostname()])
    assert os.listdir(tmp_path) == []
