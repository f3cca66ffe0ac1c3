"""Files: what is saved comes back exactly; what is not ours is refused with a sentence."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from smgrnn import SMGrNN
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.graph import EditDraft
from smgrnn.storage import (
    FORMAT_VERSION,
    LOCK,
    digest,
    is_locked,
    locked,
    make_folder,
    read_arrays,
    write_arrays,
    write_file,
)
from support.commands import Command, python
from support.flat import paper_net


def network(**settings: Any) -> SMGrNN:
    """Return a small network whose ids have gaps."""
    net = paper_net(3, 2, n_hidden=3, seed=1, **settings)
    draft = EditDraft(net.graph)
    draft.remove_node(6)
    draft.add_edge(0, draft.add_node(), 0.5)
    net.restructure(draft.finish())
    return net


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "net.safetensors"


def save_with(path: Path, header: Any, arrays: dict[str, Any] | None = None) -> None:
    """Save arrays under a header of ours with its digest, or under a text in its place."""
    arrays = {"weight": np.ones(3)} if arrays is None else arrays
    if not isinstance(header, str):
        whole = digest(header["kind"], header.get("content"), arrays)
        header = json.dumps({"digest": whole} | header)
    save_file(arrays, path, metadata={"smgrnn": header})


def rewrite(path: Path, version: Any = FORMAT_VERSION, **changes: Any) -> None:
    """Save a network with some of its settings or arrays changed; None leaves an array out."""
    net = network()
    settings = net.config.to_dict()
    arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    for name, value in changes.items():
        (arrays if name in arrays else settings)[name] = value
    arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items() if a is not None}
    save_with(path, {"kind": "network", "version": version, "content": settings}, arrays)


# --- what is ours ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.bfloat16])
def test_a_network_comes_back_exactly(path: Path, dtype: torch.dtype) -> None:
    """NumPy has no bfloat16, which comes back in float32."""
    net = network(dtype=dtype, iterations=2, activation="sigmoid", weight_std=1 / 3)
    net.save(str(path))
    loaded = SMGrNN.load(path)
    assert loaded.config == net.config
    assert loaded.weight.dtype == (torch.float32 if dtype == torch.bfloat16 else dtype)
    assert torch.equal(loaded.weight, net.weight.to(loaded.weight.dtype))
    assert loaded.graph == net.graph
    assert loaded.graph.node_ids.tolist() == [0, 1, 2, 3, 4, 5, 7, 8]


def test_saving_over_a_file_replaces_it_by_the_same_bytes_and_leaves_nothing_else(
    path: Path,
) -> None:
    """Metadata of several keys stood in any order."""
    paper_net(1, 1).save(path)
    network().save(path)
    before = path.read_bytes()
    for _ in range(5):
        SMGrNN.load(path).save(path)
        assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_a_safetensors_file_and_not_a_pickle(path: Path) -> None:
    network().save(path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert header["__metadata__"].keys() == {"smgrnn"}
    ours = json.loads(header["__metadata__"]["smgrnn"])
    assert len(bytes.fromhex(ours.pop("digest"))) == 32
    assert (ours["kind"], ours["version"]) == ("network", FORMAT_VERSION)
    assert ours["content"] == network().config.to_dict()
    assert b"\x80\x02" not in data[8 : 8 + length]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    network().save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os if function == "fsync" else Path, function, fail)
        with pytest.raises(ConfigError, match="cannot be written: No space left"):
            paper_net(1, 1).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_file_and_its_folder_are_synced_before_the_write_is_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, a machine that lost its power could keep the name and lose the content."""
    synced, sync = [], os.fsync

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    write_file(path, b"content")
    partial, folder = synced
    assert re.fullmatch(rf"\.{path.name}\.[0-9a-f]+\.partial", partial)
    assert folder == path.parent.name
    assert path.read_bytes() == b"content"
    synced.clear()
    make_folder(path.parent / "a" / "b")
    assert synced == ["a", path.parent.name]


def test_two_writers_with_one_process_id_save_side_by_side(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two containers that share a folder; each removed the other's partial file."""
    monkeypatch.setattr(os, "getpid", lambda: 7)

    def work(number: int) -> None:
        for _ in range(40):
            write_arrays(path, "thing", {"x": number}, {"a": np.full(999, number)})
            assert set(read_arrays(path, "thing")[1]["a"].tolist()) <= {0, 1}

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, range(2)))


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), np.nan])
def test_a_number_out_of_range_is_refused_whatever_it_stands_for(path: Path, value: Any) -> None:
    """The next id of a node overflowed, and compiled code wrote out of bounds."""
    write_arrays(path, "thing", {}, {"next_node_id": np.array([3, value])})
    with pytest.raises(FileFormatError, match=r"holds a number out of range, in 'next_node_id'\.$"):
        read_arrays(path, "thing")


def test_arrays_and_settings_of_any_kind_round_trip(path: Path) -> None:
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "b": np.array([True, False]),
        "c": np.empty((0, 5), dtype=np.int64),
    }
    write_arrays(path, "thing", {"x": 1, "y": [None, "z"]}, arrays)
    settings, loaded = read_arrays(path, "thing")
    assert settings == {"x": 1, "y": [None, "z"]}
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)


# --- what is not ours -----------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(FileFormatError) as caught:
        SMGrNN.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert message.endswith(".")
    return message


def test_a_file_that_is_missing_cut_short_or_garbage_is_refused(path: Path) -> None:
    assert refused(path) == f"There is no file {path}."
    assert refused(path.parent) == f"There is no file {path.parent}."
    network().save(path)
    data = path.read_bytes()
    garbage = [b"hello, world", b"\x80\x04K\x01.", b"\x00" * 100, b"\xff" * 100, bytes(range(256))]
    lengths = [*range(0, len(data), 37), 1, 7, 8, 9, len(data) - 1]
    for wrong in (*garbage, *(data[:length] for length in lengths)):
        path.write_bytes(wrong)
        assert f"{path} is damaged or not a safetensors file" in refused(path)


def test_a_file_with_any_of_its_bits_turned_is_refused(path: Path) -> None:
    network().save(path)
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        spoiled = bytearray(data)
        spoiled[place] ^= 1 << place % 8
        path.write_bytes(spoiled)
        refused(path)


def test_a_file_in_a_type_that_numpy_lacks_is_refused(path: Path) -> None:
    """Most language models on the Hub are bfloat16; a tool that halves tensors keeps a header."""
    for dtype in (torch.bfloat16, torch.float8_e4m3fn):
        save_tensors({"weight": torch.ones(3).to(dtype)}, path)
        assert refused(path) == f"{path} does not hold a smgrnn network."
    net = network()
    header = {"kind": "network", "version": FORMAT_VERSION, "content": net.config.to_dict()}
    state = net.state_dict() | {"weight": net.weight.detach().bfloat16()}
    save_tensors(state, path, metadata={"smgrnn": json.dumps(header)})
    refused(path)


OURS = {"kind": "network", "version": FORMAT_VERSION}
DEEP = "[" * 10_000 + "]" * 10_000
ODD = (DEEP, "9" * 5000, '"\\ud800"')  # the last is half a character
HEADERS: dict[str, list[Any]] = {
    "does not hold a smgrnn network.": ["3", '{"version": 2}', json.dumps(OURS | {"kind": "a"})],
    "has an unreadable header.": [
        *("{", "nonsense", "", "[" * 100_000),
        *(json.dumps(OURS)[:-1] + f', "content": {{"x": {each}}}}}' for each in ODD),
    ],
    "has no content.": [OURS, OURS | {"content": None}, OURS | {"content": [3, 2]}],
    "is damaged: it is not what was written to it.": [
        {**OURS, "content": network().config.to_dict(), "digest": wrong}
        for wrong in (None, 3, "0" * 64, [0])
    ],
}


@pytest.mark.parametrize("sentence", HEADERS)
def test_a_file_with_another_header_is_refused(path: Path, sentence: str) -> None:
    for header in HEADERS[sentence]:
        save_with(path, header)
        assert refused(path) == f"{path} {sentence}"
    for metadata in (None, {"format": "pt"}, {"kind": "network"}):
        save_file({"weight": np.ones(3)}, path, metadata=metadata)
        assert refused(path) == f"{path} does not hold a smgrnn network."


@pytest.mark.parametrize("version", [1, 3, "x", "2", 2.5, 2.0, None, [2], -1, 0, True])
def test_a_file_of_another_version_is_refused(path: Path, version: Any) -> None:
    rewrite(path, version=version)
    assert f"{path} has format version {version}" in refused(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"n_inputs": 0}, "The 'n_inputs' parameter of NetworkConfig must be an int"),
        ({"colour": "red"}, "NetworkConfig has no setting 'colour'."),
        ({"n_inputs": 9}, "The graph has 3 inputs and 2 outputs; the network has 9 and 2."),
        ({"weight": np.ones(2, dtype=np.float32)}, "The graph has edge columns of unequal shape."),
        ({"weight": None}, "weight"),
        ({"weight": np.ones(11, dtype=np.int64)}, "must be floating-point numbers"),
        ({"numbers": np.array([3, 2, 0, 0])}, "The graph would give a node id twice."),
        ({"numbers": np.array([9])}, "zip"),
        ({"node_ids": np.array([0, 1, 2, 3, 4, 7, 5, 8])}, "The graph has node ids out of order."),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    path: Path, changes: dict[str, Any], why: str
) -> None:
    rewrite(path, **changes)
    message = refused(path)
    assert re.match(rf"{re.escape(str(path))} does not describe a network \(.+\)\.", message, re.S)
    assert why.rstrip(".") in message


@pytest.mark.parametrize("name", ["source", "target", "node_ids"])
def test_an_array_of_the_graph_that_was_tampered_with_is_refused(path: Path, name: str) -> None:
    array = network().state_dict()[name].numpy()
    for spoiled in (array[::-1], array + 1000, -array, array[:, None], array[:-1]):
        rewrite(path, **{name: spoiled})
        assert "does not describe a network" in refused(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, smgrnn: Command) -> None:
    """A folder of a stranger with a pipe named .lock or study.json stopped a command for ever."""
    os.mkfifo(tmp_path / LOCK)
    assert not is_locked(tmp_path)
    with pytest.raises(ConfigError, match="cannot be written"), locked(tmp_path):
        pass
    (tmp_path / "study").mkdir()
    os.mkfifo(tmp_path / "study" / "study.json")
    said = smgrnn("tune", "xor", "--over", "frugal", "--out", tmp_path / "study")
    assert "study exists and holds no study" in said.err


FORKED = """
import os, sys
from pathlib import Path
from smgrnn.storage import locked
folder = Path.cwd()
with locked(folder):
    if not os.fork():
        sys.exit(0)
    os.wait()
    print(os.listdir(folder))
print(os.listdir(folder))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_copy_that_ends_leaves_the_lock_to_its_owner(tmp_path: Path) -> None:
    """A copy that an environment forked removed it, and another process could own the folder."""
    done = python("-c", FORKED, folder=tmp_path)
    assert (done.stdout, done.stderr) == ("['.lock']\n[]\n", "")
