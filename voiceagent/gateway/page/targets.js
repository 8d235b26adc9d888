/**
 * Where a reply can be written into: a text field or an editable element that a user may be using.
 *
 * Only committed text goes in. What may still be taken back stands beside it, outside the value and
 * outside the selection, so a rollback touches nothing that the user has: caret, selection and undo
 * history stay what they were. `write(text)` adds committed text, `guess(text)` shows the rest.
 */

/** A textarea or input. Text is inserted at the place where the reply began. */
export class FieldTarget {
  constructor(field, ghost) {
    this.field = field;
    this.ghost = ghost;
    this.at = field.value.length;
    this.length = field.value.length;
    this.busy = false;
    this.follow = () => this.#follow();
    field.addEventListener("input", this.follow);
  }

  write(text) {
    const { field } = this;
    const { selectionStart: start, selectionEnd: end, selectionDirection: direction } = field;
    const top = field.scrollTop;
    this.busy = true;
    this.#insert(text);
    this.busy = false;
    const moved = (position) => (position > this.at ? position + text.length : position);
    field.setSelectionRange(moved(start), moved(end), direction);
    field.scrollTop = top;
    this.at += text.length;
    this.length = field.value.length;
  }

  guess(text) {
    this.ghost.textContent = text;
  }

  close() {
    this.guess("");
    this.field.removeEventListener("input", this.follow);
  }

  /** The editor's own command keeps the undo history, but it works on the focused field alone. */
  #insert(text) {
    const { field, at } = this;
    const focused = field.ownerDocument.activeElement === field;
    field.setSelectionRange(at, at);
    if (focused && field.ownerDocument.execCommand("insertText", false, text)) return;
    field.setRangeText(text, at, at, "preserve");
  }

  /** The user edited: what they did before our place moves it. */
  #follow() {
    if (this.busy) return;
    const grown = this.field.value.length - this.length;
    this.length = this.field.value.length;
    if (this.field.selectionStart - Math.max(grown, 0) <= this.at) this.at += grown;
    this.at = Math.min(Math.max(this.at, 0), this.length);
  }
}

/** A contenteditable element. Committed text has a node of its own, guesses another. */
export class DocumentTarget {
  constructor(element) {
    this.element = element;
    const { ownerDocument: page } = element;
    this.place = page.createElement("span");
    this.ghost = page.createElement("span");
    this.ghost.className = "ghost";
    this.ghost.contentEditable = "false";
    this.ghost.setAttribute("aria-hidden", "true");
    element.append(this.place, this.ghost);
  }

  /** Whole new text nodes: those in which a caret or a selection may stand are not touched. */
  write(text) {
    this.place.append(this.element.ownerDocument.createTextNode(text));
  }

  guess(text) {
    this.ghost.textContent = text;
  }

  close() {
    this.ghost.remove();
  }
}
