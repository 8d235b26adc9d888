/**
 * A spoken conversation over /v1/talk: microphone, speaker, and everything that is said about both.
 *
 *     const talk = new Talk({ view: { stream_protocol: "token_push", retraction: true },
 *       onFrame(frame, client) { draw(client.states); }, onMessage(message) {}, onEnd(why) {} });
 *     await talk.start();             // asks for the microphone: call it from a click
 *     talk.open = false;              // mute
 *     talk.type("Shorter, please.");  // typed words beside speech
 *     talk.stop();
 *
 * It speaks pipecat's RTVI protocol; frames of docs/stream-protocol.md come as server messages. The
 * browser cancels the echo. What counts as heard is what this player says it has played, the delay of
 * the sound card taken off.
 */
import { decode, encodeMessage, encodeSound } from "./pipecat-frames.js";
import { StreamClient, parseFrame } from "./voiceagent-stream.js";

const RTVI = "2.1.0";
const WIRE_HZ = 24000; // of the agent's sound
const MICROPHONE_HZ = 16000;
const WORKLETS = "/page/sound-worklets.js";
// Of what was said before: more than a context holds, less than the server takes in one message.
const MOST_EARLIER = { messages: 100, characters: 10_000 };
const HEARING = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

export class Talk {
  client = new StreamClient();
  #socket = null;
  #ear = null;
  #mouth = null;
  #open = true;
  #ended = false;
  #asked = 0;

  constructor({
    view = {}, ticket = async () => "", headers = () => ({}),
    earlier = [], onFrame = () => {}, onMessage = () => {}, onEnd = () => {},
  }) {
    Object.assign(this, { view, ticket, headers, earlier, onFrame, onMessage, onEnd });
  }

  /** Resolves when the agent listens; rejects with the reason when there is no conversation. */
  async start() {
    try {
      this.#ear = await Ear.make((report) => this.#tell("playout", report));
      this.#mouth = await Mouth.make((pcm, rate) => this.#send(encodeSound(pcm, rate)));
      this.#mouth.open = this.#open;
      await this.#connect();
    } catch (error) {
      this.#end(error.message);
      throw error;
    }
  }

  /** Whether the microphone is open; silence is sent while it is not. */
  get open() {
    return this.#open;
  }

  set open(open) {
    this.#open = open;
    if (this.#mouth) this.#mouth.open = open;
  }

  /** Typed words: a turn of their own. */
  type(content) {
    this.#say("send-text", { content });
  }

  /** The button of push-to-talk was let go: the turn is over as soon as its words are known. */
  release() {
    this.#tell("released", {});
  }

  stop() {
    this.#end("");
  }

  /** How loud the microphone is and how far the ear: for a meter, and for tests. */
  get figures() {
    return { sent: this.#mouth?.sent ?? 0, played: this.#ear?.heard ?? 0 };
  }

  async #connect() {
    const url = new URL("/v1/talk", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const ticket = await this.ticket();
    const query = { ...this.view, playout: "reported", ...(ticket && { ticket }) };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    await new Promise((resolve, reject) => {
      this.ready = resolve;
      this.refused = (reason) => reject(new Error(reason));
      socket.onopen = () => this.#say("client-ready", { version: RTVI, about: { library: "voiceagent" } });
      socket.onmessage = ({ data }) => this.#take(decode(new Uint8Array(data)));
      socket.onclose = async ({ code }) => this.#end(this.reason ?? (await this.#why(code)));
    });
  }

  /** A browser says nothing about a socket that was refused: asked again without one, the server does. */
  async #why(code) {
    if (code === 1000) return "The conversation is over.";
    const answer = await fetch("/v1/talk", { headers: this.headers() }).catch(() => null);
    return answer && !answer.ok ? (await answer.json()).error.message : "The connection broke.";
  }

  #take({ sound, message }) {
    if (sound) return this.#ear.play(sound);
    if (!message) return;
    const { type, data } = message;
    if (type === "bot-ready") this.#begin();
    if (type === "error" && data.fatal) this.reason = data.error;
    if (type !== "server-message") return this.onMessage(message);
    if (data.type === "playout") return this.#ear.obey(data);
    const frame = parseFrame(JSON.stringify(data));
    this.client.apply(frame);
    this.onFrame(frame, this.client);
  }

  /** What was said before in writing belongs to the conversation, before a word of it is spoken. */
  #begin() {
    const messages = newest(this.earlier, MOST_EARLIER);
    if (messages.length) this.#tell("earlier", { messages });
    this.ready();
  }

  #tell(t, d) {
    this.#say("client-message", { t, d });
  }

  #say(type, data) {
    this.#asked += 1;
    this.#send(encodeMessage({ label: "rtvi-ai", type, id: `${this.#asked}`, data }));
  }

  #send(bytes) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  #end(why) {
    if (this.#ended) return;
    this.#ended = true;
    this.#mouth?.close();
    this.#ear?.close();
    this.#socket?.close();
    this.refused?.(why);
    this.onEnd(why);
  }
}

/** The last whole messages that stay within the bounds. */
function newest(all, { messages, characters }) {
  const kept = [];
  for (const message of all.slice(-messages).reverse()) {
    characters -= message.content.length;
    if (characters < 0) break;
    kept.unshift(message);
  }
  return kept;
}

/** The microphone, at 16 kHz where the browser can. */
class Mouth {
  sent = 0;

  static async make(onPiece) {
    if (!navigator.mediaDevices) {
      throw new Error("A browser gives a microphone to https and to localhost alone.");
    }
    const stream = await navigator.mediaDevices.getUserMedia({ audio: HEARING });
    const [context, source] = attach(stream);
    await context.audioWorklet.addModule(WORKLETS);
    const mouth = new Mouth();
    const node = new AudioWorkletNode(context, "microphone", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => {
      mouth.sent += data.length;
      onPiece(data, context.sampleRate);
    };
    source.connect(node);
    await context.resume();
    return Object.assign(mouth, { stream, context, node });
  }

  set open(open) {
    this.node.port.postMessage({ open });
  }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.context.close();
  }
}

/** Firefox takes a microphone at its own rate alone: the server resamples then. */
function attach(stream) {
  const context = new AudioContext({ sampleRate: MICROPHONE_HZ });
  try {
    return [context, context.createMediaStreamSource(stream)];
  } catch {
    context.close();
    const own = new AudioContext();
    return [own, own.createMediaStreamSource(stream)];
  }
}

/** The speaker. What it has played is known when the sound card has had its time. */
class Ear {
  heard = 0;
  #marks = []; // what the player has given out, and when
  #cuts = 0;

  static async make(onReport) {
    const context = new AudioContext({ sampleRate: WIRE_HZ, latencyHint: "interactive" });
    await context.audioWorklet.addModule(WORKLETS);
    const node = new AudioWorkletNode(context, "player", { numberOfInputs: 0 });
    node.connect(context.destination);
    await context.resume();
    const ear = Object.assign(new Ear(), { context, node, onReport });
    node.port.onmessage = ({ data }) => ear.#count(data);
    return ear;
  }

  play(sound) {
    this.node.port.postMessage({ sound }, [sound.buffer]);
  }

  obey({ do: what, cuts }) {
    this.node.port.postMessage(what === "cut" ? { cut: cuts } : { hold: what === "hold" });
  }

  close() {
    this.context.close();
  }

  #count({ now, played, cuts }) {
    if (cuts !== this.#cuts) Object.assign(this, { heard: 0 }), (this.#marks = []);
    this.#cuts = cuts;
    this.#marks.push({ now, played });
    const late_s = this.context.outputLatency || this.context.baseLatency || 0;
    const sounding = now - late_s * this.context.sampleRate;
    while (this.#marks.length && this.#marks[0].now <= sounding) {
      this.heard = this.#marks.shift().played;
    }
    this.onReport({ played: this.heard, cuts });
  }
}
