// Prints the cases of json-patch-test-suite that add, replace and remove alone, one a line: {name, doc, patch, expected} or
// {name, doc, patch, error}.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const OPS = new Set(["add", "replace", "remove"]);
for (const file of ["tests", "spec_tests"]) {
  require(`json-patch-test-suite/${file}.json`).forEach((test, number) => {
    if (test.disabled || !test.patch || !test.patch.length || !test.patch.every((each) => OPS.has(each.op))) return;
    const { doc, patch, expected, error } = test;
    const ended = error === undefined ? { expected: expected === undefined ? null : expected } : { error };
    if (error === undefined && expected === undefined) return;
    console.log(JSON.stringify({ name: `${file} ${number}: ${test.comment ?? JSON.stringify(patch)}`, doc, patch, ...ended }));
  });
}
