// Prints the seconds of CPU that @bufbuild/cel takes for expressions of a file, {expressions, rounds}: each is planned
// once and evaluated so many times. node measured.mjs FILE
import { readFileSync } from "node:fs";
import { celEnv, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";

const { expressions, rounds } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const variables = { n: 7n, s: "hello", m: new Map([["a", 1n], ["b", 2n]]) };
const env = celEnv({ funcs: strings });
const programs = expressions.map((each) => plan(env, parse(each)));
const begun = process.cpuUsage();
for (let round = 0; round < rounds; ++round) {
  for (const program of programs) {
    const value = program(variables);
    if (value instanceof Error) throw value;
  }
}
const used = process.cpuUsage(begun);
console.log(`seconds ${(used.user + used.system) / 1e6}`);
