// Which rows a call is about, and their generations at one moment: what somebody who was shown a preview, or was asked
// for an approval, has seen. If one of them has changed when the call is to run, it is another situation.
//
//   SeenRows seen = seen_rows(snapshot, kit, "Traffic/set", input);      // {"Deployment/01K…": 4, "Traffic/01K…": 7}
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "lang/check/check.h"
#include "store/store.h"

namespace sluice::host {

namespace json = boost::json;

struct SeenRows {
  json::object generations;     // by "Relation/key"
  std::optional<uint64_t> own;  // of the row whose generation the engine can be told to expect
};

// The row that the engine compares, and those that arguments lead to by the ways of `scope:`. What belongs to a whole
// environment is left out: everybody's changes would void it.
SeenRows seen_rows(store::Snapshot& snapshot, const lang::CheckedKit& kit, const std::string& action,
                   const json::object& input);

}  // namespace sluice::host
