// What agents can read and follow without a tool: environments, deployments, plans and traces, each under an address,
// and the prompts that people can choose in their client.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/door.h"

namespace sluice::mcp {

namespace json = boost::json;

// Those that there are now: uri, name, title, mimeType.
Result<json::array> list_resources(host::Door& door);
json::array resource_templates();
// The document behind an address, such as sluice://environments/local.
Result<json::value> read_resource(host::Door& door, const std::string& uri);

json::array list_prompts();
// Its messages; `invalid` if there is no such prompt, or an argument is missing.
Result<json::object> get_prompt(const std::string& name, const json::object& arguments);

}  // namespace sluice::mcp
