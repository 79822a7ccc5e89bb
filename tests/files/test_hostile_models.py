"""Files with a right checksum and wrong contents are refused, or do no harm."""

import json
from pathlib import Path

import numpy as np
import pytest
import saved_structures

from maxmargin import MulticlassSVM, SequenceTagger, load, save
from maxmargin.files.model_variants import signed
from maxmargin.testing import check_model_file

FOLDER = Path(__file__).parent / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_random_variants(name):
    structure = EXPECTED[name].get("structure")
    if structure is not None:
        structure = getattr(saved_structures, structure)
    model = load(FOLDER / f"{name}.safetensors", structure=structure)
    inputs = EXPECTED[name]["X"]
    done = check_model_file(model, inputs, n=40, seed=len(name), structure=structure)
    assert done.total() == 40
    assert done["refused"] >= 10


def edited(name, path, edit):
    """A file of models/, changed by ``edit(header, arrays)`` and signed again."""
    from safetensors.numpy import load as from_bytes

    data = (FOLDER / f"{name}.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["maxmargin"])
    arrays = {key: array.copy() for key, array in from_bytes(data).items()}
    edit(header, arrays)
    path.write_bytes(signed(header, arrays))
    return path


def more_letters(header, arrays):
    for side in header["state"]["alphabets"]["residue"]:
        side += list("0123456789")


def negative_vectors(header, arrays):
    state = header["state"]
    state["dense"] = {"p": -1}
    state["names"].append("p/residue")
    arrays["coef"] = arrays["coef"][: -len(state["alphabets"]["residue"][0])]


def even_jumps(header, arrays):
    for name in arrays:
        if name.startswith("words.jumps"):
            arrays[name] = arrays[name][:, 1:]


def no_jumps(header, arrays):
    arrays["words.jumps0_forward"][:] = 0.0


def no_label_twice(header, arrays):
    header["state"]["labels"][1] = header["state"]["labels"][0]


def half_precision(header, arrays):
    arrays["w"] = np.zeros_like(arrays["w"], np.float16)


CASES = {
    "weights of half precision": ("parser", half_precision),
    "a word too many": ("tagger", lambda h, a: h["state"]["vocabulary"].append("z")),
    "a word too few": ("tagger", lambda h, a: h["state"]["vocabulary"].pop()),
    "a word twice": (
        "tagger",
        lambda h, a: h["state"]["vocabulary"].__setitem__(0, "dog"),
    ),
    "a label too many": ("tagger", lambda h, a: h["state"]["labels"].append("X")),
    "a label twice": ("tagger", no_label_twice),
    "weights cut": ("tagger", lambda h, a: a.update(w=a["w"][:-1])),
    "weights of bytes": ("tagger", lambda h, a: a.update(w=a["w"].astype(np.int8))),
    "columns without template": (
        "tagger",
        lambda h, a: h["params"].update(features="x"),
    ),
    "letters without weights": ("aligner", more_letters),
    "weights without letters": (
        "aligner",
        lambda h, a: a.update(coef=np.append(a["coef"], 1.0)),
    ),
    "vectors of negative size": ("aligner", negative_vectors),
    "jumps that look too far": ("words", even_jumps),
    "jumps that sum to nothing": ("words", no_jumps),
    "weights that overflow": ("parser", lambda h, a: a["w"].fill(3e38)),
    "weights that are infinite": ("parser", lambda h, a: a["w"].fill(np.inf)),
    "counts that overflow": (
        "pcfg",
        lambda h, a: a["grammar.counts_binary"].fill(1e308),
    ),
    "gap costs that are no numbers": (
        "homologs",
        lambda h, a: h["state"].update(gap_extend={"$float": "nan"}),
    ),
    "classes without weights": (
        "multiclass",
        lambda h, a: h["state"]["classes"]["$array"][1].append("d"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_kernels_rely_on_is_checked(case, tmp_path):
    name, edit = CASES[case]
    path = edited(name, tmp_path / "model", edit)
    with pytest.raises(ValueError, match=r"^Cannot load '.*its checksum is right but"):
        load(path)


TEMPERATURE = {"method": "temperature", "temperature": 2.0, "margins": [], "shares": []}
ISOTONIC = {"method": "isotonic", "temperature": None}
ISOTONIC |= {"margins": [0.0, 1.0], "shares": [0.5, 0.9]}
NUMBERS = {"n": 9, "error": 0.1, "error_before": None, "loss": 0.1, "loss_before": None}


@pytest.mark.parametrize(
    ("whole", "change"),
    [
        (TEMPERATURE, {"temperature": 0.0}),
        (TEMPERATURE, {"temperature": 5e-324}),
        (ISOTONIC, {"shares": [0.9, 0.5]}),
    ],
)
def test_calibrations_that_no_data_give_are_refused(whole, change, tmp_path):
    def load_with(found):
        def edit(header, arrays):
            header["state"]["calibration"] = NUMBERS | found

        return load(edited("multiclass", tmp_path / "model", edit))

    assert load_with(whole).calibration_.method == whole["method"]
    with pytest.raises(ValueError, match=r"'temperature' is|do not fit together"):
        load_with(whole | change)


def test_what_the_machine_may_spend_is_not_in_the_file(tmp_path):
    wanted = {"n_jobs": 10**6, "verbose": 2, "max_time": 1e9, "warm_start": True}
    wanted |= {"engine": "dask", "checkpoint": "/", "resume": True}
    path = edited("tagger", tmp_path / "model", lambda h, a: h["params"].update(wanted))
    params = load(path).get_params()
    default = SequenceTagger().get_params()
    assert {name: params[name] for name in wanted} == {
        name: default[name] for name in wanted
    }


def test_parameters_that_no_fit_accepts_are_not_written(tmp_path):
    X, y = np.eye(3), [0, 1, 2]
    model = MulticlassSVM().fit(X, y).set_params(C=-1)
    with pytest.raises(ValueError, match="C=-1 is not possible"):
        save(model, tmp_path / "model")


def test_patient_expressions_do_not_hang(tmp_path):
    """The time would be 2^30 steps per word."""

    def edit(header, arrays):
        text = header["state"]["columns"]["template"]
        at = text.index('"^')
        slow = '"' + "a?" * 30 + "a" * 30
        text = text[:at] + slow + text[text.index('"', at + 1) :]
        header["state"]["columns"]["template"] = text

    model = load(edited("tagger-columns", tmp_path / "model", edit))
    assert len(model.predict([[["a" * 29]]])[0]) == 1


def test_variants_are_also_tried_in_another_process():
    model = load(FOLDER / "multiclass.safetensors")
    X = EXPECTED["multiclass"]["X"]
    done = check_model_file(model, X, n=20, apart=True)
    assert done == check_model_file(model, X, n=20)


def test_models_that_check_nothing_are_found_out(monkeypatch):
    def believe(cls, params, arrays, state):
        model = cls(**params)
        model.coef_, model.intercept_ = arrays["coef"], arrays["intercept"]
        model.classes_ = state["classes"]
        model.n_features_in_ = model.coef_.shape[1]
        model.history_, model.n_iter_, model.converged_ = [], 0, True
        model.certificate_ = proof
        return model

    proof = load(FOLDER / "taxonomy.safetensors").certificate_
    model = load(FOLDER / "multiclass.safetensors")
    monkeypatch.setattr(MulticlassSVM, "_from_state", classmethod(believe))
    with pytest.raises(AssertionError, match=r"array|params|state"):
        check_model_file(model, EXPECTED["multiclass"]["X"], n=200)
