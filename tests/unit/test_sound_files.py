"""Recordings: what can be read is read, what cannot is named in one line, files appear whole."""

import errno
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voiceagent.sound import files
from voiceagent.sound.files import SoundFileError, read_channels, read_sound, write_wav

RATES = [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000]


def tone(rate_hz: int, *, seconds: float = 0.1, channels: int = 1) -> np.ndarray:
    """A quiet tone of shape (samples, channels)."""
    one = 0.25 * np.sin(2 * np.pi * 440 * np.arange(int(rate_hz * seconds)) / rate_hz)
    return np.repeat(one[:, None], channels, axis=1).astype(np.float32)


@pytest.mark.parametrize("rate_hz", RATES)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kind", ["wav", "flac", "ogg"])
def test_reads_common_formats(tmp_path: Path, kind: str, channels: int, rate_hz: int) -> None:
    """wav, flac and ogg of any rate, mono and stereo, come back as one float32 channel."""
    path = tmp_path / f"tone.{kind}"
    soundfile.write(path, tone(rate_hz, channels=channels), rate_hz)
    sound = read_sound(path)
    assert sound.rate_hz == rate_hz
    assert sound.pcm.dtype == np.float32
    assert sound.pcm.ndim == 1
    assert sound.duration_s == pytest.approx(0.1, abs=0.001)
    assert np.abs(sound.pcm).max() == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "ULAW"])
def test_reads_every_common_wav_encoding(tmp_path: Path, subtype: str) -> None:
    """A wav may hold 8 to 32 bits, floats or mu-law."""
    path = tmp_path / "tone.wav"
    soundfile.write(path, tone(8_000), 8_000, subtype=subtype)
    assert np.abs(read_sound(path).pcm).max() == pytest.approx(0.25, abs=0.02)


def test_channels_are_averaged_or_kept_apart(tmp_path: Path) -> None:
    """Mixing down takes the mean of the channels; they can also be had apart."""
    path = tmp_path / "stereo.wav"
    both = np.stack([np.full(100, 0.5), np.full(100, -0.25)], axis=1).astype(np.float32)
    soundfile.write(path, both, 16_000)
    assert read_sound(path).pcm == pytest.approx(np.full(100, 0.125), abs=1e-4)
    assert read_channels(path).pcm == pytest.approx(both, abs=1e-4)


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path that does not exist is an error that names it."""
    with pytest.raises(SoundFileError, match=r"nowhere\.wav: No such file"):
        read_sound(tmp_path / "nowhere.wav")


def test_a_folder_is_no_sound_file(tmp_path: Path) -> None:
    """A folder is called a folder."""
    with pytest.raises(SoundFileError, match="is a folder"):
        read_sound(tmp_path)


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    """A file of 0 bytes is called empty."""
    with pytest.raises(SoundFileError, match="is empty"):
        read_sound(written(tmp_path / "empty.wav", b""))


def test_a_wav_without_samples_is_called_soundless(tmp_path: Path) -> None:
    """A proper header with nothing behind it is an error of its own."""
    path = tmp_path / "nothing.wav"
    soundfile.write(path, np.zeros(0, dtype=np.float32), 16_000)
    with pytest.raises(SoundFileError, match="holds no sound"):
        read_sound(path)


@pytest.mark.parametrize(
    "data", [b"this is not a wav\n" * 50, b"RIFF", b"RIFF\x00\x00\x00\x00WAVE"]
)
def test_text_and_stumps_are_no_sound_files(tmp_path: Path, data: bytes) -> None:
    """Text under the name of a wav, and a header that breaks off, give one clear line."""
    with pytest.raises(SoundFileError, match="is not a sound file") as caught:
        read_sound(written(tmp_path / "fake.wav", data))
    assert "\n" not in str(caught.value)


def test_samples_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    """NaN in a float wav is damage, not sound."""
    path = tmp_path / "nan.wav"
    samples = tone(16_000)
    samples[7] = np.nan
    soundfile.write(path, samples, 16_000, subtype="FLOAT")
    with pytest.raises(SoundFileError, match="not numbers"):
        read_sound(path)


def test_absurd_lengths_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording beyond the limit is refused, and the limit is named."""
    monkeypatch.setattr(files, "MAX_DURATION_S", 2)
    path = tmp_path / "long.wav"
    soundfile.write(path, np.zeros(8_000 * 2 + 1, dtype=np.float32), 8_000)
    with pytest.raises(SoundFileError, match="longer than 2 s"):
        read_sound(path)


def test_absurd_rates_are_refused(tmp_path: Path) -> None:
    """A header that claims a rate that no recorder has is refused."""
    path = tmp_path / "slow.wav"
    soundfile.write(path, np.zeros(100, dtype=np.float32), 10)
    with pytest.raises(SoundFileError, match="10 samples per second"):
        read_sound(path)


def test_a_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    """A wav that breaks off is read as far as it goes."""
    path = tmp_path / "cut.wav"
    write_wav(path, tone(8_000)[:, 0], 8_000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 400])
    assert len(read_sound(path).pcm) == 800 - 200


def test_writes_what_it_reads(tmp_path: Path) -> None:
    """int16 samples survive a round trip exactly, from the loudest to the quietest."""
    samples = np.array([-32768, -1, 0, 1, 32767], dtype=np.int16)
    write_wav(tmp_path / "exact.wav", samples, 22_050)
    with wave.open(str(tmp_path / "exact.wav")) as file:
        assert file.getframerate() == 22_050
        assert file.getsampwidth() == 2
        assert struct.unpack("<5h", file.readframes(5)) == tuple(samples)
    assert (read_sound(tmp_path / "exact.wav").pcm * 32768 == samples).all()


def test_floats_are_clipped(tmp_path: Path) -> None:
    """What is louder than full scale is clipped, not wrapped around."""
    write_wav(tmp_path / "loud.wav", np.array([2.0, -2.0, 0.5], dtype=np.float32), 8_000)
    assert read_sound(tmp_path / "loud.wav").pcm == pytest.approx([1.0, -1.0, 0.5], abs=1e-4)


@pytest.mark.parametrize(
    "pcm",
    [
        np.zeros((2, 2, 2), dtype=np.float32),
        np.zeros(3, dtype=np.int32),
        np.array([np.nan], dtype=np.float32),
    ],
)
def test_refuses_samples_it_cannot_write(tmp_path: Path, pcm: np.ndarray) -> None:
    """Other shapes, other types and NaN are a mistake of the caller."""
    with pytest.raises(ValueError, match="expected"):
        write_wav(tmp_path / "no.wav", pcm, 8_000)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of writing leaves the old file as it was and no other."""
    path = tmp_path / "reply.wav"
    write_wav(path, np.ones(10, dtype=np.int16), 8_000)
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wave.Wave_write, "writeframes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_wav(path, np.zeros(10, dtype=np.int16), 8_000)
    assert [path] == list(tmp_path.iterdir())
    assert path.read_bytes() == before


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is one clear line, and no half-written file stays."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(wave.Wave_write, "writeframes", full)
    with pytest.raises(SoundFileError, match=r"cannot write .*reply\.wav: No space left"):
        write_wav(tmp_path / "reply.wav", np.zeros(10, dtype=np.int16), 8_000)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """Writing into a folder that is not there names the file that cannot be written."""
    with pytest.raises(SoundFileError, match=r"cannot write .*gone/reply\.wav"):
        write_wav(tmp_path / "gone" / "reply.wav", np.zeros(10, dtype=np.int16), 8_000)


@pytest.mark.parametrize("right", [-1.0, -0.98, 0.0])
def test_channels_that_cancel_out_are_not_lost(tmp_path: Path, right: float) -> None:
    """A wave and its mirror are heard as the one, a voice beside a silent channel as half."""
    wave = (0.5 * np.sin(np.arange(8000) * 0.2)).astype(np.float32)
    path = tmp_path / "mirror.wav"
    write_wav(path, np.stack([wave, np.float32(right) * wave], axis=1), 8000)
    expected = wave / 2 if right == 0 else wave
    assert np.allclose(read_sound(path).pcm, expected, atol=1e-3)
