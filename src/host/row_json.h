// Rows of the journal as JSON, for those who follow it from another process (docs/internals/api.md). They are bytes:
// what is UTF-8 is a string, everything else {"base64": "…"}. What to_json writes, from_json reads; of anything else it
// says `invalid`.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace sluice::host {

namespace json = boost::json;

json::value to_json(const std::string& bytes);
json::value to_json(const store::JournalRow& row);

Result<void> from_json(const json::value& value, std::string& bytes);
Result<void> from_json(const json::value& value, store::JournalRow& row);

}  // namespace sluice::host
