// The options and arguments that commands on the kit's objects share, and what follows from them: what --schema prints,
// what --answers says, and what is compared with --expect-generation.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "cli/context.h"

namespace sluice::cli {

// --reason, --idempotency-key and --lock-timeout.
std::vector<Option> call_options();
Arg environment_arg();
std::vector<Option> reading_options(std::vector<Option> own = {});
// Those of call_options(), --expect-generation, --schema and --answers besides a command's own.
std::vector<Option> changing_options(std::vector<Option> own = {});
// The same with --dry-run and --yes, for what loses something.
std::vector<Option> losing_options(std::vector<Option> own = {});
// --deployment, --bundle and --customer-id, by which a deployment is named.
std::vector<Option> deployment_options(std::vector<Option> others);

// With --schema: the JSON Schema of the action's arguments is printed, and nothing else is done.
bool wants_schema(const Context& context);
Result<Code> print_schema(Context& context, const std::string& action);
// The schema itself.
Result<json::object> schema_of_action(const std::string& action);
// What --answers says, over what the command line does. It may not be about another object than the one that the
// command line has named: that is a `usage` error, before anybody is asked anything.
Result<json::object> with_answers(Context& context, json::object input);
// Refused if --deployment, --bundle or --customer-id is given and empty.
Result<void> check_deployment_options(const Context& context);
// How the command line names a deployment, as views are asked.
json::object deployment_query(const Context& context);

// What is compared with --expect-generation where an action is about a new object: put into its arguments as `field`.
void expect_generation_as(Context& context, const std::string& field, json::object& input);

}  // namespace sluice::cli
