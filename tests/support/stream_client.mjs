// Answers each line on standard input, a JSON list of messages (each the text of one frame), with
// what the JavaScript client shows after them: a JSON object on one line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// As text, because only a page knows by itself that a .js file is a module; older nodes do not.
const source = readFileSync(process.argv[2], "utf8");
const module = await import(`data:text/javascript,${encodeURIComponent(source)}`);
const { StreamClient, VIOLATIONS, parseFrame } = module;

function read(messages) {
  const client = new StreamClient();
  let refused = null;
  for (const [at, message] of messages.entries()) {
    try {
      client.apply(parseFrame(message));
    } catch (error) {
      if (!(error.code in VIOLATIONS)) throw error;
      refused = { at, code: error.code };
      break;
    }
  }
  return { refused, shown: Object.fromEntries([...client.views].map(show)), ...latest(client) };
}

function show([reply, view]) {
  const { epoch, text, verified, committed, heard, end } = view;
  return [reply, { epoch, text, verified, committed, heard, end }];
}

function latest({ text, watermarks, states, commits, tools, ended }) {
  return { text, watermarks, states, commits, tools, ended };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(read(JSON.parse(line))));
}
