// Prints random expressions, each with what @bufbuild/cel makes of it, one a line: {expr, value} or {expr, error}.
// node generated.mjs COUNT SEED
import { run } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";

let state = BigInt(process.argv[3]);
function below(limit) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(limit));
}
const one = (choices) => choices[below(choices.length)];

const make = {
  int: [
    () => String(below(20)), () => `(-${below(9) + 1})`, () => `(${of("int")} ${one(["+", "-", "*"])} ${of("int")})`,
    () => `(${of("int")} ${one(["/", "%"])} ${of("int")})`, () => `size(${of(one(["string", "list"]))})`,
    () => `int(${of("double")})`, () => `(${of("bool")} ? ${of("int")} : ${of("int")})`, () => `n`,
    () => `${of("string")}.indexOf(${of("string")})`, () => `${of("list")}[${below(4)}]`,
  ],
  uint: [() => `${below(9)}u`, () => `(${of("uint")} ${one(["+", "*"])} ${of("uint")})`, () => `uint(${of("int")})`],
  double: [
    () => `${below(40)}.${below(10)}`, () => `(${of("double")} ${one(["+", "-", "*", "/"])} ${of("double")})`,
    () => `double(${of("int")})`,
  ],
  bool: [
    () => one(["true", "false"]), () => `(${of("bool")} ${one(["&&", "||"])} ${of("bool")})`, () => `!${of("bool")}`,
    () => { const type = one(["int", "double", "string", "uint"]); return `(${of(type)} ${one(["<", "<=", ">", ">=", "==", "!="])} ${of(type)})`; },
    () => `(${of("list")} == ${of("list")})`, () => `(${of("int")} in ${of("list")})`,
    () => `${of("string")}.${one(["startsWith", "endsWith", "contains"])}(${of("string")})`,
    () => `${of("list")}.${one(["all", "exists", "exists_one"])}(x, x ${one(["<", ">", "=="])} ${of("int")})`,
    () => `has(m.${one(["a", "b", "z"])})`, () => `(${of("string")} in m)`,
  ],
  string: [
    () => one(["'a'", "'b'", "''", "'abc'", "'é€'", "\"x y\""]), () => `(${of("string")} + ${of("string")})`,
    () => `string(${of(one(["int", "bool", "uint"]))})`, () => `s`, () => `${of("string")}.${one(["lowerAscii", "upperAscii", "trim"])}()`,
    () => `${of("string")}.replace(${one(["'a'", "'l'", "'é'"])}, ${of("string")})`, () => `${of("string")}.substring(${below(3)})`,
    () => `${of("list")}.map(x, string(x)).join(${of("string")})`, () => `(${of("bool")} ? ${of("string")} : ${of("string")})`,
  ],
  list: [
    () => `[${Array.from({ length: below(4) }, () => of("int")).join(", ")}]`, () => `(${of("list")} + ${of("list")})`,
    () => `${of("list")}.filter(x, x ${one(["<", ">"])} ${of("int")})`, () => `${of("list")}.map(x, x ${one(["+", "*"])} ${of("int")})`,
  ],
};
let room = 0;
function of(type) {
  const choices = make[type];
  return --room > 0 ? one(choices)() : choices[0]();
}

function shown(value) {
  if (value === null) return { nullValue: null };
  switch (typeof value) {
    case "boolean": return { boolValue: value };
    case "bigint": return { int64Value: String(value) };
    case "number": return { doubleValue: Number.isFinite(value) ? value : String(value) };
    case "string": return { stringValue: value };
  }
  if (value?.[Symbol.iterator] && "size" in value) return { listValue: { values: [...value].map(shown) } };
  if ("value" in value) return { uint64Value: String(value.value) };
  throw new Error("no such kind of value");
}

const variables = { n: 7n, s: "hello", m: new Map([["a", 1n], ["b", 2n]]) };
for (let count = Number(process.argv[2]); count > 0; --count) {
  room = 3 + below(12);
  const expr = of(one(Object.keys(make)));
  let outcome;
  try {
    const value = run(expr, variables, { funcs: strings });
    outcome = value instanceof Error ? { error: value.message } : { value: shown(value) };
  } catch (error) {
    outcome = { error: error.message };
  }
  console.log(JSON.stringify({ expr, ...outcome }));
}
