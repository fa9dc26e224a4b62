// sluice schema: what commands print for programs, and what files for sluice apply hold.
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/output_shapes.h"
#include "render/promote/kind_schemas.h"

namespace sluice::cli {
namespace schema_commands {

Result<Code> show(Context& context) {
  std::string name;
  for (const std::string& word : context.given.texts("command")) name += (name.empty() ? "" : " ") + word;
  if (const auto kind = promote::schema_of_kind(name)) {
    context.output.print(*kind, [&](const Terminal&) { return write_pretty(*kind); });
    return Code::ok;
  }
  const Command* command = context.commands.find(name);
  if (command == nullptr) {
    return Error{
        .code = Code::usage, .message = "there is no command '" + printable(name) + "'", .next = "sluice help"};
  }
  auto schema = output_schema(name);
  if (!schema) return schema.error();
  context.output.print(*schema, [&](const Terminal&) { return write_pretty(*schema); });
  return Code::ok;
}

}  // namespace schema_commands

void add_schema_commands(Commands& commands) {
  commands.add({.name = "schema",
                .group = Group::learn,
                .summary = "Print the JSON Schema of what a command prints, or of a kind",
                .details = "Of what it prints with --output json. Members are added with time, never renamed or "
                           "removed. What a command takes with --answers "
                           "is printed by its own --schema. A kind is one that sluice apply reads: Component, "
                           "ReleasePin, …",
                .args = {{.name = "command", .help = "the command's words, or a kind", .repeated = true}},
                .example = "sluice schema env show",
                .run = schema_commands::show});
}

}  // namespace sluice::cli
