"""The devices of a sound card: microphone, speaker, and rings between their callbacks and the loop.

One stream for both directions dies on several systems and misreports its times (measured under
PulseAudio); two streams do neither. Callbacks copy and count, nothing else. ``sounddevice`` is
imported when a card is opened and not before: it fails to load where PortAudio is missing.
"""

import contextlib
import time
from typing import Any

import numpy as np

from voiceagent.audio.ring import Ring
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.playout import CHUNK_MS
from voiceagent.sound.echo import BLOCK, EchoGuard
from voiceagent.sound.pcm import Float32, Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ

RING_S = 2.0
"""An event loop that is late by more has other troubles."""
LOST_AFTER_S = 3.0
"""Callbacks come every 10 ms; a card that has not called for so long is gone, however busy the
machine is (a server that is killed sends no other sign)."""
STEP_S = 0.08
"""Sound of the speaker that may wait for its echo; more means that the two are out of step."""
CARD_HZ = 48_000
BLOCK_MS = 10
"""There and back in 30 ms; at 16 kHz in blocks of 20 ms it was 80 (PulseAudio, measured)."""
INSTALL = "install PortAudio (Debian: apt-get install --reinstall libportaudio2), or use --in"


class SoundCardError(VoiceAgentError):
    """There is no usable sound card; the message says what to do."""


def load_sounddevice() -> Any:
    """The ``sounddevice`` module.

    Raises:
        SoundCardError: it, or PortAudio behind it, is missing.
    """
    try:
        import sounddevice  # type: ignore[import-untyped]  # it ships no types
    except (ImportError, OSError) as error:  # OSError: PortAudio's library cannot be found
        raise SoundCardError(f"no sound: {error}; {INSTALL}") from error
    return sounddevice


class Microphone:
    """The input stream: 16 kHz, whatever the card's own rate is."""

    def __init__(self, sounddevice: Any, *, device: str | None) -> None:
        self._sounddevice, self._device = sounddevice, device
        self._rate_hz = _usable_rate(sounddevice.check_input_settings, RATE_HZ, device, "input")
        self._resampler = Resampler(self._rate_hz, RATE_HZ)
        self.ring = Ring(int(RING_S * self._rate_hz))
        self.called_s = time.monotonic()
        self.open()

    def open(self) -> None:
        """Takes the device, again if it was closed."""
        self._stream = self._sounddevice.InputStream(
            samplerate=self._rate_hz,
            blocksize=self._rate_hz * BLOCK_MS // 1000,
            device=self._device,
            channels=1,
            dtype="int16",
            latency="low",
            callback=self._on_block,
        )

    def start(self) -> None:
        """Begins to listen."""
        self.called_s = time.monotonic()
        self._stream.start()

    def close(self) -> None:
        """Stops within a block."""
        self._stream.close()

    def take(self) -> Int16:
        """What has come in since the last call (samples,) at 16 kHz, in whole chunks: few calls
        leave the core to those who need it."""
        chunk = self._rate_hz * CHUNK_MS // 1000
        pcm = self.ring.take(self.ring.held // chunk * chunk)
        return to_int16(self._resampler.push(to_float32(pcm)))

    def _on_block(self, block: Any, frames: int, times: Any, status: Any) -> None:
        self.ring.write(block[:, 0])
        self.called_s = time.monotonic()


class Speaker:
    """The output stream, and how much of what was written has sounded.

    Samples are written and counted at ``rate_hz``; the card plays them at its own rate.
    """

    def __init__(self, sounddevice: Any, *, device: str | None, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._sounddevice, self._device = sounddevice, device
        self._card_hz = _usable_rate(sounddevice.check_output_settings, rate_hz, device, "output")
        self._resampler = Resampler(rate_hz, self._card_hz)
        self.ring = Ring(int(RING_S * self._card_hz))
        self.called_s = time.monotonic()
        self.underruns = 0
        """Blocks in which sound broke off though more was on its way."""
        self.cuts = 0
        self._written = 0
        self._is_held = False
        self._drop_to = 0
        self._counted = 0
        """Samples that had sounded when the output was last cut; since then, by ``_cut_at``."""
        self._cut_at = 0
        self._latest = (0, time.monotonic(), 0.0)
        """First sample of the latest block with sound, when it was asked for, and how long until
        it sounds."""
        self.played = Ring(int(RING_S * self._card_hz))
        """What the card was given, silence included, for whoever listens for its echo."""
        self.open()

    def open(self) -> None:
        """Takes the device, again if it was closed; what was written and not played stays."""
        self._stream = self._sounddevice.OutputStream(
            samplerate=self._card_hz,
            blocksize=self._card_hz * BLOCK_MS // 1000,
            device=self._device,
            channels=1,
            dtype="int16",
            latency="low",
            callback=self._on_block,
        )

    def start(self) -> None:
        """Begins to play; silence while there is nothing."""
        self.called_s = time.monotonic()
        self._stream.start()

    def close(self) -> None:
        """Stops within a block."""
        self._stream.close()

    @property
    def card_hz(self) -> int:
        """The card's own rate."""
        return self._card_hz

    @property
    def waiting_s(self) -> float:
        """Sound that was written and not given to the card."""
        return self.ring.held / self._card_hz

    def write(self, pcm: Int16) -> None:
        """Plays ``pcm`` (samples,) after what was written before."""
        self._written += len(pcm)
        self.ring.write(to_int16(self._resampler.push(to_float32(pcm))))

    def played_samples(self) -> int:
        """How many of the samples written have sounded, by the card's own clock."""
        first, asked_s, delay_s = self._latest
        place = first + int((time.monotonic() - asked_s - delay_s) * self._card_hz)
        place = max(0, min(place, self.ring.read) - self._cut_at)
        if place + self._cut_at == self.ring.written:
            # The last few samples stay in the resampler until others push them out.
            return self._written
        return self._counted + place * self.rate_hz // self._card_hz

    def cut(self) -> None:
        """Silence from the next block on."""
        self._written = self._counted = self.played_samples()
        self._cut_at = self._drop_to = self.ring.written
        self._resampler.reset()
        self._is_held = False
        self.cuts += 1

    def hold(self) -> None:
        """Silence from the next block on; what was written stays."""
        self._is_held = True

    def let_go(self) -> None:
        """Plays on from the sample at which it was held."""
        self._is_held = False

    def _on_block(self, block: Any, frames: int, times: Any, status: Any) -> None:
        if self._drop_to > self.ring.read:
            self.ring.drop(self._drop_to - self.ring.read)
        first = self.ring.read
        pcm = self.ring.take(0 if self._is_held else frames)
        if len(pcm):
            delay_s = max(0.0, times.outputBufferDacTime - times.currentTime)
            self._latest = (first, time.monotonic(), delay_s)
        if 0 < len(pcm) < frames:
            self.underruns += 1
        block[: len(pcm), 0] = pcm
        block[len(pcm) :, 0] = 0
        self.played.write(block[:, 0])
        self.called_s = time.monotonic()


class Card:
    """Microphone and speaker together: whether they are still there, and how to get them back.

    Raises:
        SoundCardError: one of them cannot be used.
    """

    def __init__(self, *, devices: tuple[str | None, str | None], rate_hz: int) -> None:
        self._sounddevice = load_sounddevice()
        self.microphone = Microphone(self._sounddevice, device=devices[0])
        try:
            self.speaker = Speaker(self._sounddevice, device=devices[1], rate_hz=rate_hz)
        except SoundCardError:
            self.microphone.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether both have called a short while ago."""
        called_s = min(self.microphone.called_s, self.speaker.called_s)
        return time.monotonic() - called_s < LOST_AFTER_S

    def recover(self) -> None:
        """Opens and starts both again; blocks, perhaps for seconds.

        Raises:
            SoundCardError: they are not there, or not yet.
        """
        self.close()
        # PortAudio looks for devices once, when it is initialised.
        self._sounddevice._terminate()
        self._sounddevice._initialize()
        try:
            for device in (self.microphone, self.speaker):
                device.open()
                device.start()
        except self._sounddevice.PortAudioError as error:
            raise SoundCardError(f"the sound card cannot be opened again: {error}") from error

    def close(self) -> None:
        """Closes both streams, whatever became of their devices."""
        for device in (self.microphone, self.speaker):
            with contextlib.suppress(self._sounddevice.PortAudioError):
                device.close()


def _usable_rate(check: Any, wanted_hz: int, device: str | None, direction: str) -> int:
    """48 kHz, which every card takes and which delays least; ``wanted_hz`` if it does not."""
    for rate_hz in (CARD_HZ, wanted_hz):
        try:
            check(device=device, channels=1, dtype="int16", samplerate=rate_hz)
        except Exception as error:  # noqa: BLE001  # PortAudioError or ValueError: no such device
            reason = str(error)
        else:
            return rate_hz
    if device is None and "-1" in reason:  # PortAudio's number for no device at all
        raise SoundCardError(
            f"there is no {direction} device: connect a sound card, or talk from files with --in"
        )
    named = f"{direction} {device!r}" if device else f"{direction} device"
    raise SoundCardError(
        f"the {named} cannot be used: {reason}; voiceagent doctor lists the devices"
    )


class Echo:
    """The echo guard of a card, whose two directions are kept in step by counting samples."""

    def __init__(self, speaker: Speaker, guard: EchoGuard) -> None:
        self._speaker = speaker
        self._guard = guard
        self._resampler = Resampler(speaker.card_hz, RATE_HZ)
        self._played: Float32 = np.zeros(0, dtype=np.float32)

    def without(self, heard: Int16) -> Int16:
        """What of 20 ms of the microphone's sound (BLOCK,) is not the speaker's."""
        ring = self._speaker.played
        if ring.held > STEP_S * self._speaker.card_hz:
            # The two are out of step, at the start or because a block was lost.
            ring.drop(ring.held - self._speaker.card_hz * CHUNK_MS // 1000)
        fresh = ring.take(self._speaker.card_hz * CHUNK_MS // 1000)
        held = np.concatenate([self._played, self._resampler.push(to_float32(fresh))])
        held = np.pad(held, (max(0, BLOCK - len(held)), 0)).astype(np.float32)
        played, self._played = held[:BLOCK], held[BLOCK:]
        return to_int16(self._guard.cancel(to_float32(heard), played=played))
