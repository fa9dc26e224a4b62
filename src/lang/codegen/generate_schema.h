// JSON Schema (2020-12) of a concept: `$defs` holds one schema an action's arguments, under `begin`, and one a
// variant's fields, under `begin.ok`. OpenAPI, MCP tools and `--schema` are made of these.
#pragma once

#include "base/document.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

json::object generate_schema(const Concept& spec);

// The schema of one type. Types of Sluice's own carry `x-sluice-type`: a type parameter's name, Request or Sealed.
json::object schema_of(const Type& type);

}  // namespace sluice::lang
