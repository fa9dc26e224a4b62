// Prints the public conformance cases of CEL that need no message of protobuf, one a line.
import { toJson } from "@bufbuild/protobuf";
import { SimpleTestSchema } from "@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js";
import { getTestRegistry } from "@bufbuild/cel-spec/testdata/registry.js";
import { getConformanceSuite } from "@bufbuild/cel-spec/testdata/tests.js";

const withMessages = new Set(["block_ext", "dynamic", "enums", "proto2", "proto2_ext", "proto3", "wrappers"]);
const registry = getTestRegistry();

function print(suite, path) {
  for (const { original, type, name } of suite.tests) {
    const line = JSON.stringify({ path: [...path, name].join("/"), type, ...toJson(SimpleTestSchema, original, { registry }) });
    if (!withMessages.has(path[0]) && !/google\.protobuf|TestAllTypes/.test(line)) console.log(line);
  }
  for (const inner of suite.suites) print(inner, [...path, inner.name]);
}

print(getConformanceSuite(), []);
