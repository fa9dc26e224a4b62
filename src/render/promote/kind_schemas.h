// The JSON Schemas of the kinds that `sluice apply` reads, for editors. What has to hold between fields is not in them.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string_view>

namespace sluice::promote {

// Of "ReleasePin" and the like; nothing if there is no such kind.
std::optional<boost::json::value> schema_of_kind(std::string_view kind);

}  // namespace sluice::promote
