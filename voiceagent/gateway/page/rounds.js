/** The engine's rounds as a strip to step through: drafted, accepted, rejected, emitted. */
export class RoundStrip {
  #rounds = [];
  #at = 0;

  constructor({ strip, round, number, earlier, later }) {
    Object.assign(this, { strip, round, number });
    earlier.addEventListener("click", () => this.show(this.#at - 1));
    later.addEventListener("click", () => this.show(this.#at + 1));
  }

  /** Takes the records of one reply. */
  load(rounds) {
    this.#rounds = rounds;
    this.strip.replaceChildren(...rounds.map((round, at) => this.#step(round, at)));
    this.show(0);
  }

  show(at) {
    if (!this.#rounds.length) return;
    this.#at = Math.min(Math.max(at, 0), this.#rounds.length - 1);
    const steps = [...this.strip.querySelectorAll("button")];
    steps.forEach((step, index) => {
      if (index === this.#at) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    this.number.textContent = `round ${this.#at + 1} of ${this.#rounds.length}`;
    this.round.replaceChildren(...this.#describe(this.#rounds[this.#at]));
  }

  #step(round, at) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${round.accepted}/${round.drafted.length}`;
    button.title = `round ${at + 1}: ${round.accepted} of ${round.drafted.length} accepted`;
    button.addEventListener("click", () => this.show(at));
    item.append(button);
    return item;
  }

  #describe(round) {
    const total = Object.values(round.times_ms).reduce((sum, ms) => sum + ms, 0);
    return [
      line(`K = ${round.window} (${round.why}), drafter ${round.drafter}, ${total.toFixed(1)} ms`),
      tokens("Drafted", round.drafted_text, (at) => (at < round.accepted ? "accepted" : "rejected")),
      tokens(`Emitted (${round.outcome})`, round.emitted_text, () => "emitted"),
    ];
  }
}

function line(text) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  return paragraph;
}

function tokens(title, texts, kind) {
  const paragraph = line(`${title}: `);
  texts.forEach((text, at) => {
    const token = document.createElement("span");
    token.className = `token ${kind(at)}`;
    token.textContent = text.replaceAll("\n", "⏎");
    const word = document.createElement("span");
    word.className = "unseen";
    word.textContent = ` ${kind(at)}`;
    token.append(word);
    paragraph.append(token);
  });
  if (!texts.length) paragraph.append("none");
  return paragraph;
}
