// Makes api/types.gen.ts from an OpenAPI document of Sluice: `node make_types.mjs openapi.json [OUT]`, or `-` for standard
// input. Only the views and actions are kept that pages name, so that the file stays short enough to read.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [from = "-", out = join(here, "api/types.gen.ts")] = process.argv.slice(2);
const api = JSON.parse(readFileSync(from === "-" ? 0 : from, "utf8"));
const schemas = api.components.schemas;

const sources = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory()
      ? each.name === "node_modules" ? [] : sources(join(folder, each.name))
      : /\.tsx?$/.test(each.name) && !each.name.endsWith(".gen.ts") ? [readFileSync(join(folder, each.name), "utf8")] : [],
  );
const text = sources(here).join("\n");
const quoted = (name) => text.includes(`"${name}"`);

const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function type(schema) {
  if (schema.$ref) return type(schemas[schema.$ref.split("/").pop()]);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map(type).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((each) => type({ ...schema, type: each })).join(" | ");
  switch (schema.type) {
    case "string": return "string";
    case "integer":
    case "number": return "number";
    case "boolean": return "boolean";
    case "null": return "null";
    case "array": return `Array<${schema.items ? type(schema.items) : "unknown"}>`;
    case "object": {
      if (!schema.properties) {
        const rest = schema.additionalProperties;
        return `Record<string, ${rest && typeof rest === "object" ? type(rest) : "unknown"}>`;
      }
      const required = schema.required ?? [];
      const members = Object.entries(schema.properties).map(
        ([name, each]) => `${key(name)}${required.includes(name) ? "" : "?"}: ${type(each)}`,
      );
      return members.length ? `{ ${members.join("; ")} }` : "Record<string, never>";
    }
    default: return "unknown";
  }
}

const views = [];
const actions = [];
for (const [path, methods] of Object.entries(api.paths)) {
  const view = path.match(/^\/v1\/views\/([\w-]+)$/)?.[1];
  if (view && quoted(view)) {
    const query = (methods.get.parameters ?? [])
      .filter((each) => each.in === "query")
      .map((each) => `${key(each.name)}${each.required ? "" : "?"}: ${type(each.schema)}`);
    const document = type(methods.get.responses["200"].content["application/json"].schema);
    views.push(`  ${key(view)}: {\n    query: { ${query.join("; ")} };\n    document: ${document};\n  };`);
  }
  const action = path.match(/^\/v1\/actions\/(\w+)\/(\w+)$/);
  if (action && quoted(`${action[1]}/${action[2]}`)) {
    const ok = schemas[`${action[1]}.${action[2]}.ok`];
    views.sort();
    actions.push(
      `  "${action[1]}/${action[2]}": {\n    input: ${type(schemas[`${action[1]}.${action[2]}`])};\n` +
        `    ok: ${ok ? type(ok) : "Record<string, unknown>"};\n  };`,
    );
  }
}
views.sort();
actions.sort();
const empty = /\{ {2}\}/g;
writeFileSync(
  out,
  "// Made by make_types.mjs from GET /v1/openapi.json: what the views answer that pages ask, and what the actions take.\n" +
    `export interface Views {\n${views.join("\n").replace(empty, "Record<string, never>")}\n}\n\n` +
    `export interface Actions {\n${actions.join("\n")}\n}\n`,
);
