// The yardstick for test_yaml_npm.py: the same filter as yaml_tool.cc, made of the npm package `yaml` as Debian
// packages it (node-yaml), by its path: only Debian's own Node would find it by name.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { parseAllDocuments } = createRequire(import.meta.url)("/usr/share/nodejs/yaml");

function read(text) {
  try {
    const documents = Array.from(parseAllDocuments(text, { version: "1.2", merge: true, uniqueKeys: true, logLevel: "error" }));
    for (const document of documents) if (document.errors.length > 0) return JSON.stringify({ error: document.errors[0].message });
    return JSON.stringify({ documents: documents.map((document) => document.toJS({ maxAliasCount: -1 })) });
  } catch (error) {
    return JSON.stringify({ error: String(error.message) });
  }
}

const lines = readFileSync(0, "utf8").split("\n");
lines.pop(); // what follows the last newline
process.stdout.write(lines.map((line) => read(JSON.parse(line)) + "\n").join(""));
