/** One reply on the page: committed text is put down once, what may change stands behind it. */
import { renderBlocks } from "./markdown.js";

export class ReplyCard {
  #drawn = 0; // code points that stand as committed nodes
  #nodes = []; // [node, to] of each commit

  constructor(title, { markdown }) {
    this.markdown = markdown;
    this.article = make("article", "reply");
    this.heading = make("h3", "", title);
    this.text = make("div", markdown ? "text markdown" : "text");
    this.settled = make(markdown ? "div" : "span", "settled");
    this.verified = make("span", "piece verified");
    this.provisional = make("span", "piece provisional");
    for (const open of [this.verified, this.provisional]) open.setAttribute("aria-hidden", "true");
    this.text.append(this.settled, this.verified, this.provisional);
    this.ended = make("p", "ended");
    this.article.append(this.heading, this.text, this.ended);
  }

  /** Draws a view; returns the text that is committed since the last time. */
  draw(view) {
    const fresh = view.commits.filter(({ to }) => to > this.#drawn);
    for (const { from, to } of fresh) this.#settle(view.slice(from, to), to);
    const { committed, verified, provisional, heard } = view.watermarks;
    put(this.verified, view.slice(committed, verified));
    put(this.provisional, view.slice(verified, provisional));
    for (const [node, to] of this.#nodes) node.classList.toggle("heard", to <= heard);
    if (view.voided) this.ended.textContent = "Withdrawn.";
    else if (view.reason && view.reason !== "stop") this.ended.textContent = `Ended: ${view.reason}.`;
    return fresh.map(({ from, to }) => view.slice(from, to)).join("");
  }

  fail(message) {
    this.ended.textContent = `Refused: ${message}`;
  }

  #settle(text, to) {
    const node = make(this.markdown ? "div" : "span", "piece committed");
    node.append(...(this.markdown ? renderBlocks(text) : [text]));
    node.dataset.source = text;
    this.settled.append(node);
    this.#nodes.push([node, to]);
    this.#drawn = to;
  }
}

/** Copying takes committed text alone, whatever the selection runs over. */
export function copyCommittedOnly(root) {
  root.addEventListener("copy", (event) => {
    const selection = root.ownerDocument.getSelection();
    const range = selection.rangeCount ? selection.getRangeAt(0) : null;
    if (!range) return;
    const parts = [...root.querySelectorAll(".committed, .user .text")]
      .filter((node) => range.intersectsNode(node))
      .map((node) => within(range, node));
    event.clipboardData.setData("text/plain", parts.join(""));
    event.preventDefault();
  });
}

function within(range, node) {
  const part = range.cloneRange();
  const whole = node.ownerDocument.createRange();
  whole.selectNodeContents(node);
  if (part.compareBoundaryPoints(Range.START_TO_START, whole) < 0) {
    part.setStart(whole.startContainer, whole.startOffset);
  }
  if (part.compareBoundaryPoints(Range.END_TO_END, whole) > 0) {
    part.setEnd(whole.endContainer, whole.endOffset);
  }
  return part.toString();
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function make(name, kind, text = "") {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  return made;
}
