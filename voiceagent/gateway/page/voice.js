/** The page's voice: the buttons, and what is said on either side of a spoken conversation. */
import { ReplyCard } from "./render.js";
import { Talk } from "./talk.js";

const $ = (id) => document.getElementById(id);

export class VoiceSection {
  /** The conversation that is being held; null while there is none. */
  talk = null;
  #cards = new Map(); // of replies that are not over, by name
  #words = null; // where the user's words of the present turn stand
  #began = 0; // when the present turn of the user was over

  constructor({ conversation, ticket, headers, view, addUser, addFigures, history }) {
    Object.assign(this, { conversation, ticket, headers, view, addUser, addFigures, history });
    $("talk").addEventListener("click", () => (this.talk ? this.talk.stop() : this.#start()));
    $("mute").addEventListener("click", () => this.#mute($("mute").ariaPressed !== "true"));
    $("push").addEventListener("change", () => this.#choose());
    for (const [begin, end] of [["pointerdown", "pointerup"], ["keydown", "keyup"]]) {
      $("hold").addEventListener(begin, (event) => isHolding(event) && this.#hold(true));
      $("hold").addEventListener(end, (event) => isHolding(event) && this.#hold(false));
    }
    for (const lost of ["blur", "pointercancel", "pointerleave"]) {
      $("hold").addEventListener(lost, () => this.#hold(false)); // nobody keeps listening by mistake
    }
  }

  async #start() {
    const view = this.view();
    this.talk = new Talk({
      view,
      ticket: this.ticket,
      headers: this.headers,
      earlier: [...this.history],
      onFrame: (frame, client) => this.#draw(frame, client, view),
      onMessage: (message) => this.#note(message),
      onEnd: (why) => this.#ended(why),
    });
    this.#say("Asking for the microphone.");
    $("talk").ariaPressed = "true";
    $("talk").textContent = "End the conversation";
    this.#choose();
    try {
      await this.talk.start();
      this.#say("Listening: speak whenever you like.");
    } catch {
      // onEnd has said why
    }
  }

  #ended(why) {
    this.talk = null;
    $("talk").ariaPressed = "false";
    $("talk").textContent = "Speak";
    this.#mute(false);
    this.#choose();
    for (const card of this.#cards.values()) card.fail("the conversation is over");
    this.#cards.clear();
    this.#words = null;
    this.#say(why ? `Not listening: ${why}` : "Not listening.");
  }

  // The microphone -------------------------------------------------------------------------------

  #choose() {
    const pushes = $("push").checked;
    $("hold").hidden = !pushes;
    $("hold").disabled = $("mute").disabled = !this.talk;
    this.#open();
  }

  #mute(muted) {
    $("mute").ariaPressed = `${muted}`;
    $("mute").textContent = muted ? "Muted" : "Mute";
    this.#open();
  }

  #hold(held) {
    const wasHeld = $("hold").ariaPressed === "true";
    $("hold").ariaPressed = `${held}`;
    this.#open();
    if (wasHeld && !held) this.talk?.release();
  }

  #open() {
    if (!this.talk) return;
    const wanted = !$("push").checked || $("hold").ariaPressed === "true";
    this.talk.open = wanted && $("mute").ariaPressed !== "true";
  }

  // What is said ---------------------------------------------------------------------------------

  #note({ type, data }) {
    if (type === "user-started-speaking") this.#say("You are speaking.");
    if (type === "user-stopped-speaking") this.#heard();
    if (type === "bot-started-speaking") this.#say("The agent is speaking.");
    if (type === "bot-stopped-speaking") this.#say("Listening.");
    if (type === "error") this.#say(`Something failed: ${data.error}`);
    if (type === "user-input") this.#hear(data);
  }

  /** Words that are not final are replaced by the next; they may turn out to be none. */
  #hear({ text, final }) {
    this.#words ??= this.addUser("");
    this.#words.textContent = text;
    this.#words.classList.toggle("interim", !final);
    if (!final) return;
    this.#began = performance.now();
    this.#words = null;
    this.history.push({ role: "user", content: text });
  }

  /** Sound that turned out to be no words leaves none behind. */
  #heard() {
    this.#say("Listening.");
    this.#words?.closest("article").remove();
    this.#words = null;
  }

  #draw(frame, client, view) {
    const shown = client.views.get(frame.reply);
    if (!shown) return;
    if (frame.type === "start") this.#begin(frame, view);
    const card = this.#cards.get(frame.reply);
    if (!card) return;
    if (frame.type === "void") return this.#withdraw(frame.reply, card);
    card.first[frame.type] ??= performance.now() - this.#began;
    card.draw(shown);
    if (frame.type === "end") this.#close(frame, shown, card, view);
    this.conversation.scrollTop = this.conversation.scrollHeight;
  }

  #begin(frame, view) {
    const title = frame.author === "script" ? "Scripted · voice" : `${view.stream_protocol.replaceAll("_", " ")} · voice`;
    const card = Object.assign(new ReplyCard(title, { markdown: false }), { first: {} });
    this.#cards.set(frame.reply, card);
    this.conversation.append(card.article);
  }

  /** A reply to a turn that went on was never said: nothing of it stays. */
  #withdraw(reply, card) {
    card.article.remove();
    this.#cards.delete(reply);
  }

  /** What was not heard was not said. */
  #close(frame, shown, card, view) {
    this.#cards.delete(frame.reply);
    const said = shown.slice(0, shown.heard);
    if (said) this.history.push({ role: "assistant", content: said });
    const { append: text, verify: stays, commit } = card.first;
    const used = { stream_protocol: view.stream_protocol };
    this.addFigures({ used, statistics: frame.statistics, first: { text, stays, commit } });
  }

  #say(line) {
    $("voice").textContent = line;
  }
}

/** A mouse button or a finger, or the keys that press a button. */
function isHolding(event) {
  return event.type.startsWith("pointer") || [" ", "Enter"].includes(event.key);
}
