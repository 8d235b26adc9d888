/**
 * The stream client, version 1: what a stream of frames makes of a screen (docs/stream-protocol.md).
 *
 * Mirrors voiceagent/core/client.py and is held to the same vectors, tests/vectors/streams. Plain
 * ECMAScript without imports: it runs in a page and in node as it stands.
 *
 *     const client = new StreamClient();
 *     socket.onmessage = ({ data }) => {
 *       client.apply(parseFrame(data)); // throws IllegalStream; a refused frame changes nothing
 *       for (const { state, text } of client.states) show(text, state);
 *     };
 *
 * Positions count Unicode code points, as on the wire, never the UTF-16 units of a string's length.
 */

export const MAX_FRAME_BYTES = 1 << 20;
export const MAX_NAME_CHARS = 256;

/** A frame that is not legal here, or is none; `code` is one of `VIOLATIONS`. */
export class IllegalStream extends Error {
  constructor(code, message) {
    super(message);
    this.name = "IllegalStream";
    this.code = code;
  }
}

/** The codes of IllegalStream, and what each says. */
export const VIOLATIONS = Object.freeze({
  malformed: "not a frame: not JSON, an unknown type, or a field that is not what it should be",
  sequence: "a frame was lost, doubled or moved",
  unit: "positions in something other than code points",
  protocol: "the stream began with another protocol",
  gated: "a stream without retraction shows, or takes back, what is not certain",
  not_withdrawn: "the reply starts again, though its last epoch was not withdrawn",
  not_started: "the epoch has not started",
  over: "the epoch has ended or was withdrawn",
  confirmed: "possible only before the turn is confirmed",
  unconfirmed: "possible only after the turn is confirmed",
  position: "the frame does not fit where the text and its watermarks are",
  empty: "an append without text",
  provisional: "text that may still be taken back is in the way",
});

/** What the client shows of one epoch of one reply. */
class View {
  #points = []; // one string per code point

  constructor({ reply, epoch, turn, author }) {
    this.reply = reply;
    this.epoch = epoch;
    this.turn = turn; // "eager" until the turn is confirmed, then "confirmed"
    this.author = author; // "model" or "script"
    this.verified = 0;
    this.committed = 0;
    this.heard = 0;
    this.end = null; // where the text that counts ends; null while the reply goes on
    this.reason = null; // why it ended
    this.voided = null; // why it was withdrawn
    this.commits = []; // the commit frames, in order
    this.tools = []; // the tool frames, in order
  }

  /** The text on the screen, the provisional tail included. */
  get text() {
    return this.#points.join("");
  }

  /** How many code points the text has. */
  get length() {
    return this.#points.length;
  }

  /** Whether the epoch has ended or was withdrawn. */
  get over() {
    return this.reason !== null || this.voided !== null;
  }

  /** Where each state ends: heard <= committed <= verified <= provisional. */
  get watermarks() {
    const { heard, committed, verified, length: provisional } = this;
    return { heard, committed, verified, provisional };
  }

  /** The text in pieces of one state each, `{ state, from, to, text }`, empty ones left out. */
  get states() {
    let from = 0;
    return Object.entries(this.watermarks).flatMap(([state, to]) => {
      const piece = { state, from, to, text: this.slice(from, to) };
      from = to;
      return piece.text ? [piece] : [];
    });
  }

  /** The text from one code point to another. */
  slice(from, to) {
    return this.#points.slice(from, to).join("");
  }

  push(text) {
    for (const point of text) this.#points.push(point);
  }

  cut(to) {
    this.#points.length = to;
  }
}

/**
 * Applies the frames of one stream, in order, and refuses what is not legal.
 *
 * The properties speak of the reply that started last; all are in `views`, a Map by reply.
 */
export class StreamClient {
  #latest = null;
  #seq = 0;

  views = new Map();
  /** "token_push", "accept_then_flush" or "boundary_commit"; null before the first start. */
  protocol = null;

  get text() {
    return this.#latest?.text ?? "";
  }

  get watermarks() {
    return this.#latest?.watermarks ?? { heard: 0, committed: 0, verified: 0, provisional: 0 };
  }

  get states() {
    return this.#latest?.states ?? [];
  }

  get commits() {
    return this.#latest?.commits ?? [];
  }

  get tools() {
    return this.#latest?.tools ?? [];
  }

  /** Whether the reply has ended or was withdrawn. */
  get ended() {
    return this.#latest?.over ?? false;
  }

  /** Takes the next frame, an object; throws IllegalStream and stays as it was where it may not. */
  apply(frame) {
    check(frame);
    if (frame.seq !== this.#seq) {
      refuse(frame, "sequence", `seq is ${frame.seq} where ${this.#seq} follows`);
    }
    if (frame.type === "start") {
      this.#start(frame);
    } else if (frame.type !== "error") {
      this.#checkProtocol(frame);
      const view = this.#view(frame);
      if (this.protocol === "boundary_commit") requireWhole(view, frame);
      APPLY[frame.type](view, frame);
    }
    this.#seq += 1;
  }

  #start(frame) {
    const last = this.views.get(frame.reply);
    const unit = frame.unit ?? "code_point";
    if (unit !== "code_point") refuse(frame, "unit", `unit is ${unit}`);
    if (this.protocol !== null && this.protocol !== frame.protocol) {
      refuse(frame, "protocol", `the stream's protocol was ${this.protocol}`);
    }
    if (!retracts(frame.protocol) && frame.turn !== "confirmed") {
      refuse(frame, "gated", `${frame.protocol} starts no unconfirmed turn`);
    }
    if (last && (last.voided === null || last.epoch >= frame.epoch)) {
      refuse(frame, "not_withdrawn", `epoch ${last.epoch} of the reply was not withdrawn before`);
    }
    this.protocol = frame.protocol;
    this.#latest = new View(frame);
    this.views.set(frame.reply, this.#latest);
  }

  #view(frame) {
    const view = this.views.get(frame.reply);
    if (view?.epoch !== frame.epoch) refuse(frame, "not_started", "the epoch has not started");
    if (view.over) refuse(frame, "over", "the epoch is over");
    return view;
  }

  #checkProtocol(frame) {
    if (this.protocol === null || retracts(this.protocol)) return;
    const takesBack = frame.type === "rollback" || frame.type === "void";
    if (takesBack || frame.state === "provisional") {
      refuse(frame, "gated", `${this.protocol} has none`);
    }
  }
}

const APPLY = {
  confirm(view, frame) {
    if (view.turn === "confirmed") refuse(frame, "confirmed", "the turn is confirmed already");
    view.turn = "confirmed";
  },

  void(view, frame) {
    if (view.turn === "confirmed") refuse(frame, "confirmed", "the turn is confirmed");
    view.voided = frame.cause;
    view.cut(0);
    view.verified = view.committed = 0;
    view.commits.length = 0;
  },

  append(view, frame) {
    if (frame.at !== view.length) {
      refuse(frame, "position", `at is ${frame.at} where the text has ${view.length} code points`);
    }
    if (frame.text === "") refuse(frame, "empty", "there is no text");
    if (frame.state === "verified" && view.verified !== frame.at) {
      refuse(frame, "provisional", "provisional text stands before it");
    }
    view.push(frame.text);
    if (frame.state === "verified") view.verified = view.length;
  },

  verify(view, frame) {
    requireWithin(frame, { above: view.verified, most: view.length });
    view.verified = frame.to;
  },

  rollback(view, frame) {
    if (frame.to < view.verified || frame.to >= view.length) {
      const room = `from ${view.verified} and below ${view.length}`;
      refuse(frame, "position", `to is ${frame.to}, not ${room}`);
    }
    view.cut(frame.to);
  },

  commit(view, frame) {
    if (frame.from !== view.committed) {
      refuse(frame, "position", `from is ${frame.from} where ${view.committed} follows`);
    }
    requireWithin(frame, { above: frame.from, most: view.verified });
    view.committed = frame.to;
    view.commits.push(frame);
  },

  heard(view, frame) {
    if (view.turn !== "confirmed") refuse(frame, "unconfirmed", "the turn is not confirmed");
    requireWithin(frame, { above: view.heard, most: view.committed });
    view.heard = frame.to;
  },

  tool(view, frame) {
    if (view.turn !== "confirmed") refuse(frame, "unconfirmed", "the turn is not confirmed");
    view.tools.push(frame);
  },

  end(view, frame) {
    if (view.verified !== view.length) refuse(frame, "provisional", "provisional text is left");
    const isComplete = frame.reason === "stop" || frame.reason === "length";
    const isInterrupted = frame.reason === "interrupted";
    if ((isComplete || isInterrupted) && view.turn !== "confirmed") {
      refuse(frame, "unconfirmed", "the turn is not confirmed");
    }
    // What is complete counts whole, and what was interrupted as far as it was heard.
    const least = isComplete ? view.length : view.heard;
    const most = isInterrupted ? view.heard : view.length;
    if (frame.at < least || frame.at > most) {
      refuse(frame, "position", `at is ${frame.at}, not from ${least} and within ${most}`);
    }
    view.end = frame.at;
    view.reason = frame.reason;
  },
};

/** A stream of whole commits shows nothing that was not committed, but for the next commit. */
function requireWhole(view, frame) {
  const goesOn = frame.type === "append" || frame.type === "end";
  if (goesOn && view.committed !== view.length) {
    refuse(frame, "position", `the text from ${view.committed} on was not committed`);
  }
}

function requireWithin(frame, { above, most }) {
  if (frame.to <= above || frame.to > most) {
    refuse(frame, "position", `to is ${frame.to}, not past ${above} and within ${most}`);
  }
}

function retracts(protocol) {
  return protocol === "token_push";
}

function refuse(frame, code, why) {
  const message = `frame ${frame.seq} (${frame.type}) of reply ${frame.reply}: ${why}`;
  throw new IllegalStream(code, message);
}

// Frames from the wire ------------------------------------------------------------------------

/** The frame in one JSON object: the text of a message or event. Throws IllegalStream. */
export function parseFrame(line) {
  if (new TextEncoder().encode(line).length > MAX_FRAME_BYTES) {
    malformed(`larger than ${MAX_FRAME_BYTES} bytes`);
  }
  let frame;
  try {
    frame = JSON.parse(line);
  } catch (error) {
    malformed(error.message);
  }
  check(frame);
  return frame;
}

const text = (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value);
const whole = (value) => Number.isSafeInteger(value) && value >= 0;
const object = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const optional = (fits) => (value) => value === undefined || fits(value);
const oneOf = (...words) => (value) => words.includes(value);

const EVERY = {
  reply: (value) => text(value) && [...value].length <= MAX_NAME_CHARS,
  epoch: whole,
  seq: whole,
};

const KINDS = "clause sentence paragraph block value statement end silent".split(" ");

const FIELDS = {
  start: {
    protocol: oneOf("token_push", "accept_then_flush", "boundary_commit"),
    unit: optional(text),
    turn: oneOf("eager", "confirmed"),
    author: oneOf("model", "script"),
  },
  confirm: {},
  void: { cause: oneOf("turn_revised", "superseded") },
  append: { at: whole, text, state: oneOf("provisional", "verified") },
  verify: { to: whole },
  rollback: { to: whole, cause: oneOf("draft_rejected", "stop", "interrupted") },
  commit: { from: whole, to: whole, kind: oneOf(...KINDS), segment: whole },
  heard: { to: whole },
  tool: { call_id: text, name: text, arguments: object },
  end: {
    at: whole,
    reason: oneOf("stop", "length", "cancelled", "interrupted", "error"),
    usage: optional(object),
    statistics: optional(object),
  },
  error: { code: text, message: text },
};

/** Every field that a type needs is there and what it should be; others are ignored. */
function check(frame) {
  if (!object(frame)) malformed("no object");
  if (!text(frame.type) || !Object.hasOwn(FIELDS, frame.type)) malformed(`type is ${frame.type}`);
  for (const [field, fits] of Object.entries({ ...EVERY, ...FIELDS[frame.type] })) {
    if (!fits(frame[field])) malformed(`${field} of ${frame.type} is ${frame[field]}`);
  }
}

function malformed(why) {
  throw new IllegalStream("malformed", `not a frame: ${why}`);
}
