"""``voiceagent doctor`` says what is missing and how to get it, whatever is broken."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from voiceagent.cli import main
from voiceagent.commands import _checks, _probe, doctor
from voiceagent.commands._checks import Check, State
from voiceagent.commands._probe import Outcome, probe
from voiceagent.weights.errors import ManifestError
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

TORCH = Outcome(
    facts={"cuda_build": None, "devices": [], "threads": 2, "cpu_capability": "AVX2"},
)
MICROPHONE = {"name": "mic", "inputs": 1, "outputs": 0}
SPEAKER = {"name": "speaker", "inputs": 0, "outputs": 2}
SOUND = Outcome(facts={"devices": [MICROPHONE, SPEAKER], "portaudio": "PortAudio V19, revision 1"})


class Machine:
    """A machine whose imports go as the test says."""

    def __init__(self) -> None:
        self.outcomes = {"torch": TORCH, "sounddevice": SOUND}

    def probe(self, module: str) -> Outcome:
        """The outcome of one import."""
        return self.outcomes.get(module, Outcome())


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """A sound machine without models."""
    machine = Machine()
    monkeypatch.setattr(doctor, "probe", machine.probe)
    monkeypatch.setenv("VOICEAGENT_CACHE", str(tmp_path / "cache"))
    return machine


def report_of(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, dict]:
    """The exit status and the JSON object."""
    status = main(["doctor", "--json", *flags])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


def check(report: dict, name: str) -> Check:
    """One line of the report."""
    (found,) = [each for each in report["checks"] if each["name"] == name]
    return Check(**found)


def pretend_models(monkeypatch: pytest.MonkeyPatch, size: int | None = None) -> Path:
    """Fills the cache with files of the right size (or of ``size`` bytes, for the voice)."""
    store = Store(doctor.cache_directory())
    for file in Manifest.load().preset("tiny").all:
        place = store.place(file)
        place.parent.mkdir(parents=True)
        with place.open("wb") as stream:
            stream.truncate(file.bytes if size is None or file.role != "voice" else size)
    return store.directory


def test_a_machine_with_everything_is_ready(machine: Machine, monkeypatch, capsys):
    """Exit status 0: a conversation from a file can run."""
    pretend_models(monkeypatch)
    status, report = report_of(capsys, "--preset", "tiny")
    assert status == 0
    assert report["ready"]
    assert report["missing"] == []


def test_without_models_it_says_how_to_fetch_them(machine: Machine, capsys):
    """Exit status 1, and the command."""
    status, report = report_of(capsys, "--preset", "tiny")
    assert status == 1
    assert report["missing"] == ["models"]
    assert "0 of 9 files of preset tiny" in check(report, "models").detail
    assert check(report, "models").remedy == "voiceagent models fetch --preset tiny"


def test_an_empty_model_is_named(machine: Machine, monkeypatch, capsys):
    """A 0-byte voice is not a voice."""
    pretend_models(monkeypatch, size=0)
    status, report = report_of(capsys, "--preset", "tiny")
    assert status == 1
    assert "voice en_US-joe-medium.onnx is damaged" in check(report, "models").detail


@pytest.mark.parametrize(
    "reason",
    [
        "OSError: PortAudio library not found",
        "OSError: cannot load library 'libportaudio.so.2': libportaudio.so.2: file too short",
    ],
)
def test_without_portaudio_it_names_the_package(machine: Machine, monkeypatch, capsys, reason: str):
    """The microphone is gone, a conversation from a file is not."""
    pretend_models(monkeypatch)
    machine.outcomes["sounddevice"] = Outcome(reason=reason)
    status, report = report_of(capsys, "--preset", "tiny")
    assert status == 0
    assert check(report, "sound").remedy == "apt-get install --reinstall libportaudio2"


@pytest.mark.parametrize(
    ("devices", "detail"),
    [
        ([], "no input and no output device (PortAudio V19)"),
        ([SPEAKER], "no input device (PortAudio V19)"),
        ([MICROPHONE], "no output device (PortAudio V19)"),
    ],
)
def test_without_a_sound_card_it_says_what_is_lacking(devices: list, detail: str):
    """And what works all the same."""
    found = _checks.check_sound(Outcome(facts={**SOUND.facts, "devices": devices}))
    assert (found.state, found.detail) == (State.NOTE, detail)
    assert "--in A.wav" in found.remedy


def test_a_sound_card_is_listed():
    """Which microphone, which loudspeaker."""
    found = _checks.check_sound(SOUND)
    assert (found.state, found.detail) == (State.OK, "in: mic; out: speaker")


def test_a_library_that_cannot_be_imported_is_missing(machine: Machine, monkeypatch, capsys):
    """Its own reason, and the command that mends it."""
    pretend_models(monkeypatch)
    machine.outcomes["piper"] = Outcome(reason="ImportError: libespeak-ng.so: no such file")
    status, report = report_of(capsys, "--preset", "tiny")
    assert status == 1
    assert report["missing"] == ["piper-tts"]
    assert "libespeak-ng.so" in check(report, "piper-tts").detail
    assert "pip install --force-reinstall 'piper-tts'" in check(report, "piper-tts").remedy


def test_everything_broken_at_once_is_still_a_report(machine: Machine, monkeypatch, capsys):
    """The doctor never falls ill itself."""
    monkeypatch.setattr(machine, "probe", lambda _module: Outcome(reason="broken"))
    monkeypatch.setattr(doctor, "probe", machine.probe)
    monkeypatch.setattr(_checks, "version_of", lambda _package: None)
    monkeypatch.setattr(_checks.shutil, "which", lambda _name: None)

    def fail() -> None:
        raise ManifestError("cannot read manifest.toml")

    monkeypatch.setattr(Manifest, "load", fail)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "can't run here yet; missing: torch," in text
    assert "apt-get install g++" in text
    assert "cannot read manifest.toml" in text


def test_licences_are_told(machine: Machine, capsys):
    """Ours, Piper's with what follows from it, and each model's."""
    main(["doctor", "--preset", "tiny"])
    text = capsys.readouterr().out
    assert "voiceagent        Apache-2.0" in text
    assert "GPL-3.0-or-later: a distributor of the combination must follow the GPL" in text
    assert "CC0-1.0" in text
    assert "OpenAI's Whisper" in text


def test_a_gpu_changes_the_preset(machine: Machine, capsys):
    """It looks for the models that a conversation would use here."""
    device = {"name": "Fast", "bytes": 80 << 30}
    machine.outcomes["torch"] = dataclasses.replace(
        TORCH, facts=TORCH.facts | {"devices": [device], "cuda_build": "13.0"}
    )
    _, report = report_of(capsys)
    assert report["preset"] == "gpu"
    assert "Fast (80.0 GiB)" in check(report, "cuda").detail


def test_a_driver_without_a_cuda_build_of_torch_is_noticed(monkeypatch):
    """A GPU that lies idle for want of the right wheel is worth a line."""
    monkeypatch.setattr(_checks.shutil, "which", lambda _name: "/usr/bin/nvidia-smi")
    assert "install a CUDA build of torch" in _checks.check_cuda(TORCH).remedy
    monkeypatch.setattr(_checks.shutil, "which", lambda _name: None)
    assert _checks.check_cuda(TORCH).remedy == ""


def test_processor_features_are_read_whole_words_only(tmp_path: Path):
    """``avx512f`` is no ``avx2``; an unknown system is no crash."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name\t: x\nflags\t\t: fpu avx avx2 avx512_vnni fma\n")
    assert _checks.cpu_features(cpuinfo) == ("avx2", "fma", "avx512_vnni")
    assert _checks.cpu_features(tmp_path / "none") is None


def test_a_folder_that_nothing_can_be_fetched_into_is_noted(tmp_path: Path):
    """A file in its place, or no room (/proc holds none): it says so and names a way out."""
    assert _checks.check_disk(tmp_path / "new" / "folder").state is State.OK
    (tmp_path / "file").touch()
    for unusable in (tmp_path / "file", Path("/proc/nope")):
        check = _checks.check_disk(unusable)
        assert check.state is State.NOTE
        assert "VOICEAGENT_CACHE" in check.remedy


@pytest.mark.parametrize(("kibibytes", "state"), [(8 << 20, State.OK), (1 << 20, State.NOTE)])
def test_little_memory_is_noted(tmp_path: Path, kibibytes: int, state: State):
    """With the smaller preset as the remedy."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: {16 << 20} kB\nMemAvailable: {kibibytes} kB\nHugePages: 0\n")
    assert _checks.check_memory(meminfo).state is state
    assert _checks.check_memory(tmp_path / "none").state is State.NOTE


# Imports in a process of their own.


@pytest.fixture
def fake_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a module of that name and text before all others."""

    def make(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return name

    return make


def test_a_missing_shared_library_is_a_reason(fake_module):
    """Just what sounddevice raises without PortAudio, through the real import."""
    fake_module("sounddevice", "raise OSError('PortAudio library not found')")
    outcome = probe("sounddevice")
    assert outcome.reason == "OSError: PortAudio library not found"
    assert _checks.check_sound(outcome).remedy == "apt-get install --reinstall libportaudio2"


def test_a_library_for_another_processor_is_a_reason(fake_module):
    """An illegal instruction ends the probe, not the doctor."""
    name = fake_module("wrongcpu", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert probe(name).reason == "importing it ended with signal 4"


def test_a_library_that_hangs_is_a_reason(fake_module, monkeypatch):
    """Nobody waits for ever."""
    monkeypatch.setattr(_probe, "TIMEOUT_S", 0.5)
    name = fake_module("hanging", "import threading; threading.Event().wait()")
    assert "took more than 0.5 s" in probe(name).reason


def test_a_library_that_is_fine_has_no_reason():
    """The usual case."""
    assert probe("json") == Outcome()


def test_what_is_looked_for_is_what_the_product_imports() -> None:
    """A package that only tests need is not missing where it is missing."""
    files = (Path(__file__).parents[2] / "voiceagent").rglob("*.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for module in _checks.LIBRARIES:
        assert re.search(rf"^\s*(?:import|from) {re.escape(module)}\b", source, re.MULTILINE), (
            module
        )
