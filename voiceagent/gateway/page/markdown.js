/**
 * Committed blocks of Markdown as elements, each made once: what stands is never made again.
 *
 * Elements are built, never parsed from text as HTML, so nothing that a model writes can be run.
 */

/** The elements of one commit: headings, lists, tables, code, quotes, paragraphs. */
export function renderBlocks(text) {
  const blocks = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const rule = BLOCKS.find(({ begins }) => begins.test(lines[at]));
    let end = at + 1;
    while (end < lines.length && rule.goesOn(lines[end], lines[end - 1], end - at)) end += 1;
    const element = rule.make(lines.slice(at, end));
    if (element) blocks.push(element);
    at = end;
  }
  return blocks;
}

const BLOCKS = [
  {
    begins: /^\s*(```|~~~)/,
    goesOn: (line, before, count) => count === 1 || !/^\s*(```|~~~)\s*$/.test(before),
    make: (lines) => {
      const closed = lines.length > 1 && /^\s*(```|~~~)\s*$/.test(lines.at(-1));
      return element("pre", [element("code", [lines.slice(1, closed ? -1 : undefined).join("\n")])]);
    },
  },
  {
    begins: /^#{1,6}\s/,
    goesOn: () => false,
    make: ([line]) => element(`h${Math.min(6, line.match(/^#+/)[0].length + 3)}`,
      inline(line.replace(/^#+\s+/, ""))),
  },
  {
    begins: /^\s*[-*+]\s/,
    goesOn: (line) => /^\s*[-*+]\s|^\s{2,}\S/.test(line),
    make: (lines) => element("ul", items(lines, /^\s*[-*+]\s+/)),
  },
  {
    begins: /^\s*\d+[.)]\s/,
    goesOn: (line) => /^\s*\d+[.)]\s|^\s{2,}\S/.test(line),
    make: (lines) => {
      const list = element("ol", items(lines, /^\s*\d+[.)]\s+/));
      list.start = Number.parseInt(lines[0], 10);
      return list;
    },
  },
  {
    begins: /^\s*\|/,
    goesOn: (line) => /^\s*\|/.test(line),
    make: (lines) => element("table", rows(lines)),
  },
  {
    begins: /^>\s?/,
    goesOn: (line) => /^>\s?/.test(line),
    make: (lines) => element("blockquote",
      inline(lines.map((line) => line.replace(/^>\s?/, "")).join("\n"))),
  },
  { begins: /^\s*$/, goesOn: (line) => /^\s*$/.test(line), make: () => null },
  {
    begins: /./,
    goesOn: (line) => !/^\s*$|^#{1,6}\s|^\s*(```|~~~)|^\s*[-*+]\s|^\s*\d+[.)]\s|^\s*\|/.test(line),
    make: (lines) => element("p", inline(lines.join("\n"))),
  },
];

function items(lines, mark) {
  const texts = [];
  for (const line of lines) {
    if (mark.test(line)) texts.push(line.replace(mark, ""));
    else texts[texts.length - 1] += `\n${line.trim()}`;
  }
  return texts.map((text) => element("li", inline(text)));
}

function rows(lines) {
  const cells = lines.map((line) => line.trim().replace(/^\||\|$/g, "").split("|"));
  const ruled = cells.length > 1 && cells[1].every((cell) => /^\s*:?-+:?\s*$/.test(cell));
  return cells
    .filter((row, at) => !(ruled && at === 1))
    .map((row, at) => element("tr", row.map((cell) =>
      element(ruled && at === 0 ? "th" : "td", inline(cell.trim())))));
}

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\*(\S.*?)\*|\[([^\]]+)\]\((https?:[^)\s]+)\)/s;

function inline(text) {
  const match = INLINE.exec(text);
  if (!match) return text ? [text] : [];
  const [whole, , code, strong, alsoStrong, emphasis, label, address] = match;
  const made = code !== undefined ? element("code", [code])
    : strong ?? alsoStrong ? element("strong", inline(strong ?? alsoStrong))
    : emphasis ? element("em", inline(emphasis))
    : link(label, address);
  const rest = inline(text.slice(match.index + whole.length));
  return [...(match.index ? [text.slice(0, match.index)] : []), made, ...rest];
}

function link(label, address) {
  const made = element("a", [label]);
  made.href = address;
  made.rel = "noreferrer noopener";
  return made;
}

function element(name, children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}
