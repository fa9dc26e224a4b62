// The yardstick for test_canonical_json.py: the same filter as canonical_json_tool.cc, made of JavaScript's own
// JSON.parse, JSON.stringify and Array.sort, which RFC 8785 is defined by.
import { readFileSync } from "node:fs";

function canonical(value) {
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort(); // by UTF-16 code units
    return "{" + keys.map((key) => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}";
  }
  return JSON.stringify(value);
}

const view = new DataView(new ArrayBuffer(8));
function double(bits) {
  view.setUint32(0, parseInt(bits.slice(0, 8), 16));
  view.setUint32(4, parseInt(bits.slice(8), 16));
  return view.getFloat64(0);
}

const read = process.argv[2] === "doubles" ? double : JSON.parse;
const lines = readFileSync(0, "utf8").split("\n");
lines.pop(); // what follows the last newline
process.stdout.write(lines.map((line) => canonical(read(line)) + "\n").join(""));
