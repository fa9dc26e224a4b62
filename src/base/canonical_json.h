// Canonical JSON (RFC 8785, JCS): one sequence of bytes for each JSON value, so that equal values have equal digests
// and signatures. Members are sorted by their keys' UTF-16 code units, numbers look as ECMAScript prints them, strings
// carry the fewest escapes, and there is no white space.
#pragma once

#include <string>

#include "base/document.h"
#include "base/result.h"

namespace sluice {

// The value's canonical text. Refused, with a JSON pointer: NaN and infinities; integers that other readers would
// round, because a double cannot hold them; strings that are not UTF-8; trees deeper than 1000 levels.
//
// Canonical text read again has the same canonical text.
Result<std::string> canonical(const json::value& value);

}  // namespace sluice
