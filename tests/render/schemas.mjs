// Prints random schemas with random values, each with what ajv makes of it, one a line: {schema, value, valid}.
// node schemas.mjs COUNT SEED
import { Ajv } from "ajv";

let state = BigInt(process.argv[3]);
function below(limit) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(limit));
}
const one = (choices) => choices[below(choices.length)];
const maybe = () => below(3) === 0;
const word = () => one(["", "a", "ab", "abc", "shop", "shop-1", "é", "10"]);
const NAMES = ["a", "b", "c"];

function schema(depth) {
  if (depth > 0 && below(6) === 0) {
    const kind = one(["allOf", "anyOf", "oneOf", "not"]);
    return kind === "not" ? { not: schema(depth - 1) } : { [kind]: [schema(depth - 1), schema(depth - 1)] };
  }
  const made = { type: one(["string", "integer", "number", "boolean", ...(depth > 0 ? ["array", "object", "object"] : [])]) };
  const say = (name, value) => { if (maybe()) made[name] = value(); };
  if (made.type === "string") {
    say("minLength", () => below(4));
    say("maxLength", () => below(5));
    say("pattern", () => one(["^[a-z]+$", "b", "-[0-9]$"]));
    say("enum", () => ["a", "abc", "shop"]);
  } else if (made.type === "integer" || made.type === "number") {
    say("minimum", () => below(8));
    say("maximum", () => below(12));
    say("exclusiveMinimum", () => below(6));
    say("exclusiveMaximum", () => below(14));
    say("multipleOf", () => below(4) + 1);
    say("enum", () => [1, 2, 3, 8]);
  } else if (made.type === "array") {
    made.items = schema(depth - 1);
    say("minItems", () => below(3));
    say("maxItems", () => below(4));
    say("uniqueItems", () => true);
  } else if (made.type === "object") {
    made.properties = Object.fromEntries(NAMES.filter(maybe).map((name) => [name, schema(depth - 1)]));
    say("required", () => NAMES.filter(maybe));
    say("additionalProperties", () => one([false, schema(depth - 1)]));
    say("minProperties", () => below(3));
    say("maxProperties", () => below(4));
  }
  say("nullable", () => true);
  return made;
}

function value(of, depth) {
  const type = below(5) === 0 ? one(["string", "integer", "boolean", "object", "array", "null"]) : of.type ?? one(["string", "integer"]);
  if (type === "string") return of.enum && maybe() ? one(of.enum) : word();
  if (type === "integer") return below(15) - 2;
  if (type === "number") return one([below(12), below(12) + 0.5]);
  if (type === "boolean") return maybe();
  if (type === "null" || depth < 0) return null;
  if (type === "array") return Array.from({ length: below(4) }, () => value(of.items ?? {}, depth - 1));
  return Object.fromEntries([...NAMES, "d"].filter(() => below(2) === 0).map(
    (name) => [name, value(of.properties?.[name] ?? {}, depth - 1)]));
}

const ajv = new Ajv({ strict: false, unicodeRegExp: true });
for (let made = 0; made < Number(process.argv[2]); ++made) {
  const one = { type: "object", properties: { x: schema(3) }, required: ["x"] };
  const checked = { x: value(one.properties.x, 3) };
  console.log(JSON.stringify({ schema: one, value: checked, valid: ajv.compile(one)(checked) }));
}
