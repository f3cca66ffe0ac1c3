"""`smgrnn export` writes the files it names and refuses what it cannot do in one sentence."""

import json
import subprocess
from pathlib import Path

import pytest

from smgrnn.errors import SmgrnnError
from support import exports
from support.commands import call
from support.runs import trained

NAMES = {
    "onnx": ["cartpole_v1.onnx"],
    "c": ["cartpole_v1.h", "cartpole_v1.c"],
    "micropython": ["cartpole_v1.py"],
    "graphml": ["cartpole_v1.graphml"],
    "json": ["cartpole_v1.json"],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    trained(folder)
    return folder / "run"


@pytest.mark.parametrize("to", NAMES)
def test_json_reports_files_and_sizes(
    to: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("export", run, "--to", to)
    printed = capsys.readouterr().out
    for name in NAMES[to]:  # after the task, in the folder of the run
        assert f"{run / name}: {(run / name).stat().st_size} bytes\n" in printed
        (run / name).unlink()
    call("export", run, "--to", to, "--out", tmp_path / "x", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["task"], report["student"]) == (to, "CartPole-v1", "smgrnn")
    assert report["files"] == {str(file): file.stat().st_size for file in tmp_path.iterdir()}
    if to == "c":
        assert report["table_bytes"] >= 5 * report["n_parameters"]
        assert report["state_bytes"] == 4 * (2 + report["n_hidden"])


@pytest.mark.parametrize(
    ("to", "out", "files"),
    [
        ("c", "my-net", {"my-net.c", "my-net.h"}),
        ("c", "my-net.c", {"my-net.c", "my-net.h"}),
        ("c", "My net.h", {"My net.c", "My net.h"}),
        ("json", "net.v2", {"net.v2.json"}),
    ],
)
def test_out_may_have_the_suffix_of_any_of_its_files(
    to: str, out: str, files: set[str], run: Path, tmp_path: Path
) -> None:
    call("export", run, "--to", to, "--out", tmp_path / out, "--json")
    assert {file.name for file in tmp_path.iterdir()} == files
    for source in (name for name in files if name.endswith(".c")):
        assert "my_net_step" in (tmp_path / source).read_text()
        subprocess.run([exports.tool("cc"), "-c", source], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("source", "to", "out", "sentence"),
    [
        ("run", "c", "mine", r"mine\.c exists; choose another file with --out\.$"),
        ("run", "c", "nowhere/x", "cannot be written: its folder is missing"),
        ("empty", "c", None, "^There is no run in .*empty.$"),
        ("nowhere", "c", None, r"^There is no run folder .*nowhere\.$"),
    ],
)
def test_wrong_input_is_refused_and_writes_nothing(
    source: str, to: str, out: str | None, sentence: str, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.c").write_text("mine")
    where = run if source == "run" else tmp_path / source
    with pytest.raises(SmgrnnError, match=sentence):
        call("export", where, "--to", to, *[] if out is None else ["--out", tmp_path / out])
    assert {file.name for file in tmp_path.iterdir()} == {"empty", "mine.c"}
    assert (tmp_path / "mine.c").read_text() == "mine"
