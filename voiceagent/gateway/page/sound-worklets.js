/** What runs on the browser's audio thread: a microphone that sends, a player that counts. */

const PIECE_S = 0.02;
const REPORT_QUANTA = 4; // 21 ms at 24 kHz
const SETTLED_S = 1; // longer than any sound card is late

/** Posts pieces of 20 ms as Int16Array; silence while `open` is false. */
class Microphone extends AudioWorkletProcessor {
  #open = true;
  #piece = new Int16Array(Math.round(sampleRate * PIECE_S));
  #filled = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => (this.#open = data.open);
  }

  process([[heard]]) {
    for (const sample of heard ?? []) {
      const level = this.#open ? Math.max(-1, Math.min(1, sample)) : 0;
      this.#piece[this.#filled++] = Math.round(level * 32767);
      if (this.#filled === this.#piece.length) this.#post();
    }
    return true;
  }

  #post() {
    this.port.postMessage(this.#piece, [this.#piece.buffer]);
    this.#piece = new Int16Array(Math.round(sampleRate * PIECE_S));
    this.#filled = 0;
  }
}

/**
 * Plays Int16Array pieces in order. Takes {sound}, {hold: true | false} and {cut: number}; posts how
 * many samples it has given out since the latest cut, and at which frame of the output that was.
 */
class Player extends AudioWorkletProcessor {
  #pieces = [];
  #at = 0; // samples of the first piece that are out
  #played = 0;
  #cuts = 0;
  #held = false;
  #quanta = 0;
  #changed = -Infinity; // the frame at which something changed last

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#obey(data);
  }

  #obey({ sound, hold, cut }) {
    if (sound) this.#pieces.push(sound);
    if (hold !== undefined) this.#held = hold;
    if (cut !== undefined) {
      this.#pieces = [];
      this.#at = this.#played = 0;
      this.#cuts = cut;
      this.#held = false;
    }
    this.#changed = currentFrame;
  }

  process(_, [[out]]) {
    let filled = 0;
    while (!this.#held && filled < out.length && this.#pieces.length) {
      const [piece] = this.#pieces;
      const length = Math.min(out.length - filled, piece.length - this.#at);
      for (let i = 0; i < length; i += 1) out[filled + i] = piece[this.#at + i] / 32768;
      filled += length;
      this.#at += length;
      if (this.#at === piece.length) this.#pieces.shift(), (this.#at = 0);
    }
    this.#played += filled;
    if (filled) this.#changed = currentFrame + filled;
    this.#quanta += 1;
    const unsettled = currentFrame - this.#changed < SETTLED_S * sampleRate;
    if (unsettled && this.#quanta % REPORT_QUANTA === 0) this.#report(out.length);
    return true;
  }

  #report(length) {
    const now = currentFrame + length;
    this.port.postMessage({ now, played: this.#played, cuts: this.#cuts });
  }
}

registerProcessor("microphone", Microphone);
registerProcessor("player", Player);
