/** The page: words in, replies out, with everything that happened to them on the way. */
import { VoiceSection } from "./voice.js";
import { Connection } from "./connection.js";
import { ReplyCard, copyCommittedOnly } from "./render.js";
import { RoundStrip } from "./rounds.js";
import { DocumentTarget, FieldTarget } from "./targets.js";

const $ = (id) => document.getElementById(id);
const history = []; // messages of the conversation: the assistant's are committed text
let current = null; // the stream that is being read

const connection = new Connection({
  token: () => $("token").value,
  onState: (text) => ($("connection").textContent = text),
});
const voice = new VoiceSection({
  conversation: $("conversation"),
  ticket: () => connection.ticket(),
  headers: () => bearer(),
  view: () => ({ stream_protocol: $("protocol").value, retraction: $("protocol").value === "token_push" }),
  addUser,
  addFigures,
  history,
});
const strip = new RoundStrip({
  strip: $("strip"),
  round: $("round"),
  number: $("round-number"),
  earlier: $("earlier"),
  later: $("later"),
});
window.voiceagent = { connection, voice }; // for the console

function bearer() {
  const token = $("token").value;
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function view() {
  const protocol = $("protocol").value;
  return {
    stream_protocol: protocol,
    surface: $("surface").value,
    retraction: protocol === "token_push",
  };
}

function ask(words) {
  history.push({ role: "user", content: words });
  addUser(words);
  const reading = new Reading(view());
  const fields = { ...view(), messages: [...history] };
  if ($("window").value !== "") fields.k = Number($("window").value);
  reading.stream = connection.ask(fields, reading);
  current = reading;
  $("stop").disabled = false;
}

/** One reply being read: its card, the figures, and where else it is written. */
class Reading {
  constructor(used) {
    this.used = used;
    this.began = performance.now();
    this.first = {};
    this.card = this.#newCard();
    this.target = makeTarget();
  }

  #newCard() {
    const title = `${this.used.stream_protocol.replaceAll("_", " ")} · ${this.used.surface}`;
    const card = new ReplyCard(title, { markdown: this.used.surface === "markdown" });
    if (this.card) this.card.article.replaceWith(card.article);
    else $("conversation").append(card.article);
    return card;
  }

  switchTo(used) {
    this.used = used;
    this.card = this.#newCard();
    this.announced = this.written ?? 0; // what was said aloud is not said again
    this.stream.switchTo(used);
  }

  onFrame = (frame, client) => {
    this.#time(frame);
    const shown = client.views.get(frame.reply);
    if (!shown) return;
    this.card.draw(shown);
    this.#tell(shown);
    const conversation = $("conversation");
    conversation.scrollTop = conversation.scrollHeight;
  };

  /** Committed text is announced and written, once; guesses only stand beside it. */
  #tell(shown) {
    const from = this.written ?? 0;
    if (shown.committed > from) {
      const text = shown.slice(from, shown.committed);
      this.written = shown.committed;
      const line = document.createElement("span");
      line.textContent = text;
      $("announcer").append(line);
      this.target?.write(text);
    }
    this.target?.guess(shown.slice(shown.committed, shown.length));
  }

  #time(frame) {
    const note = (name) => (this.first[name] ??= performance.now() - this.began);
    if (frame.type === "append") note("text");
    if (frame.type === "verify" || frame.state === "verified") note("stays");
    if (frame.type === "commit") note("commit");
    if (frame.type === "end") this.statistics = frame.statistics;
  }

  onEnd = async (client) => {
    if (current === this) $("stop").disabled = true;
    this.target?.close();
    const shown = [...client.views.values()].at(-1);
    const said = shown.slice(0, shown.committed);
    if (said) history.push({ role: "assistant", content: said });
    const report = await this.#report();
    strip.load(report.rounds);
    addFigures(this, report);
  };

  onError = (error) => {
    if (current === this) $("stop").disabled = true;
    this.target?.close();
    this.card.fail(error.message);
    history.pop();
  };

  async #report() {
    const path = `/v1/replies/${this.stream.reply}/report`;
    const asked = new URLSearchParams(this.used);
    const answer = await fetch(`${path}?${asked}`, { headers: bearer() });
    return answer.ok ? answer.json() : { rounds: [], retractions: [] };
  }
}

function makeTarget() {
  const where = $("target").value;
  if (where === "field") return new FieldTarget($("field"), $("field-ghost"));
  return where === "document" ? new DocumentTarget($("document")) : null;
}

function addUser(words) {
  const article = document.createElement("article");
  article.className = "user";
  const heading = document.createElement("h3");
  heading.textContent = "You";
  const text = document.createElement("p");
  text.className = "text";
  text.textContent = words;
  article.append(heading, text);
  $("conversation").append(article);
  return text;
}

const ratio = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
const ms = (value) => (value === undefined ? "–" : `${Math.round(value)} ms`);
const ORDER = ["none", "rewording", "inversion"];

function addFigures(reading, { retractions } = {}) {
  const statistics = reading.statistics ?? {};
  const worst = retractions?.map(({ severity }) => severity)
    .sort((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one))[0] ?? "nothing taken back";
  const row = document.createElement("tr");
  const cells = [
    $("figures").children.length + 1,
    reading.used.stream_protocol,
    ratio(statistics.churn),
    ratio(statistics.erasure),
    worst ?? "–",
    ms((statistics.wrong_visible_s ?? 0) * 1000),
    ms(reading.first.text),
    ms(reading.first.stays),
    ms(reading.first.commit),
  ];
  for (const cell of cells) {
    const made = document.createElement("td");
    made.textContent = cell;
    row.append(made);
  }
  $("figures").append(row);
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = $("words").value.trim();
  if (!words) return;
  $("words").value = "";
  if (voice.talk) voice.talk.type(words);
  else ask(words);
});
$("words").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("ask").requestSubmit();
  }
});
$("stop").addEventListener("click", () => current?.stream.cancel());
for (const id of ["protocol", "surface"]) {
  $(id).addEventListener("change", () => {
    if (current?.stream.reply && !current.stream.client.ended) current.switchTo(view());
  });
}
copyCommittedOnly($("conversation"));
