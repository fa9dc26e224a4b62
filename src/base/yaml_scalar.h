// The YAML 1.2 core schema: which type a plain scalar has, by its text alone. The parser resolves scalars with it and
// the emitter asks it which strings must be quoted, so the two cannot disagree.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

namespace sluice {

namespace json = boost::json;

enum class ScalarType {
  string,
  null,
  boolean,
  integer,
  real,
  not_finite,  // .inf and .nan: numbers in YAML, unknown to JSON
};

ScalarType core_schema_type(std::string_view text);

// "an integer", for messages.
std::string_view describe(ScalarType type);

// Puts the scalar `text`, whose type is `type` by core_schema_type, into `out`. Returns what is wrong with it if JSON
// has no such value (an integer beyond 64 bits, a number that is not finite), else nothing.
std::string_view store_scalar(ScalarType type, std::string_view text, json::value& out);

}  // namespace sluice
