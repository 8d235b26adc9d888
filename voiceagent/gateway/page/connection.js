/**
 * One WebSocket to /v1/replies that comes back by itself, and streams that lose nothing by it.
 *
 *     const connection = new Connection({ token: () => "", onState: show });
 *     const stream = connection.ask({ messages, stream_protocol: "token_push", retraction: true },
 *       { onFrame(frame, client) { draw(client.states); } });
 *     stream.cancel();
 *
 * Each stream has a StreamClient of its own. When the socket breaks, open streams are subscribed to
 * again behind the last frame that arrived; replies asked for here are resumable.
 */
import { StreamClient, parseFrame } from "./voiceagent-stream.js";

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5000;

export class Connection {
  #socket = null;
  #streams = new Set();
  #asked = 0;
  #wait_ms = FIRST_WAIT_MS;
  /** How often a socket was opened. */
  opened = 0;

  constructor({ token = () => "", onState = () => {}, path = "/v1/replies" } = {}) {
    this.token = token;
    this.onState = onState;
    this.path = path;
  }

  /** Asks for a reply; `handlers` are onFrame(frame, client), onError(error) and onEnd(client). */
  ask(fields, handlers) {
    this.#asked += 1;
    const stream = new Stream(this, `r${this.#asked}`, fields, handlers);
    this.#streams.add(stream);
    if (this.#socket?.readyState === WebSocket.OPEN) stream.open();
    else this.#connect();
    return stream;
  }

  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  forget(stream) {
    this.#streams.delete(stream);
  }

  /** Drops the socket, as a network does; for tests and for a device that changes networks. */
  drop() {
    this.#socket?.close();
  }

  async #connect() {
    if (this.#socket) return;
    this.#socket = "on its way";
    try {
      const url = new URL(this.path, location.href);
      url.protocol = url.protocol.replace("http", "ws");
      const ticket = await this.ticket();
      if (ticket) url.searchParams.set("ticket", ticket);
      this.#listen(new WebSocket(url));
    } catch (error) {
      this.#socket = null;
      this.onState(`Refused: ${error.message}`);
      for (const stream of [...this.#streams]) stream.fail({ message: error.message });
    }
  }

  #listen(socket) {
    this.#socket = socket;
    socket.onopen = () => {
      this.#wait_ms = FIRST_WAIT_MS;
      this.opened += 1;
      this.onState("Connected.");
      for (const stream of this.#streams) stream.open();
    };
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = () => {
      this.#socket = null;
      if (!this.#streams.size) return this.onState("Not connected.");
      this.onState("The connection broke; coming back.");
      setTimeout(() => this.#connect(), this.#wait_ms);
      this.#wait_ms = Math.min(2 * this.#wait_ms, LONGEST_WAIT_MS);
    };
  }

  #take(data) {
    const message = JSON.parse(data);
    for (const stream of [...this.#streams]) {
      if (stream.owns(message)) return stream.take(message, data);
    }
  }

  /** For one WebSocket; empty where no token is needed. */
  async ticket() {
    const token = this.token();
    if (!token) return "";
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch("/v1/tickets", { method: "POST", headers });
    if (!answer.ok) throw new Error((await answer.json()).error.message);
    return (await answer.json()).ticket;
  }
}

class Stream {
  client = new StreamClient();
  reply = null;
  #last = -1;

  constructor(connection, name, fields, handlers) {
    this.connection = connection;
    this.name = name;
    this.fields = fields;
    this.handlers = handlers;
  }

  /** Says what is wanted: the reply itself, or the rest of it. */
  open() {
    const { stream_protocol, surface, retraction, boundary } = this.fields;
    const view = { stream_protocol, surface, retraction, boundary };
    this.connection.send(
      this.reply === null
        ? { ...this.fields, type: "reply", resumable: true, request: this.name }
        : { ...view, type: "subscribe", reply: this.reply, after: this.#last, request: this.name },
    );
  }

  /** Streams the same reply in another way, from its beginning. */
  switchTo(view) {
    this.fields = { ...this.fields, ...view };
    if (this.reply === null) return;
    this.#last = -1;
    this.open();
  }

  cancel() {
    this.connection.send({ type: "cancel", reply: this.reply });
  }

  heard(to) {
    this.connection.send({ type: "heard", reply: this.reply, to });
  }

  owns(message) {
    return message.request === this.name || (message.reply ?? "").split(".")[0] === this.reply;
  }

  take(message, data) {
    if (message.type === "error" && message.seq === undefined) return this.fail(message);
    if (message.type === "start") this.reply ??= message.reply;
    if (message.type === "start" && message.seq === 0) this.client = new StreamClient();
    const frame = parseFrame(data);
    this.client.apply(frame);
    this.#last = frame.seq;
    if (this.client.ended) this.connection.forget(this);
    this.handlers.onFrame?.(frame, this.client);
    if (this.client.ended) this.handlers.onEnd?.(this.client);
  }

  fail(error) {
    this.connection.forget(this);
    this.handlers.onError?.(error);
  }
}
