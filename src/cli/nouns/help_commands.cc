// sluice help: explains commands, nouns and topics.
#include "cli/all_commands.h"
#include "cli/help.h"

namespace sluice::cli {
namespace help_commands {

Result<Code> help(Context& context) {
  std::string words;
  for (const std::string& word : context.given.texts("subject")) words += (words.empty() ? "" : " ") + word;
  return print_help(words, context);
}

}  // namespace help_commands

void add_help_commands(Commands& commands) {
  using namespace help_commands;
  commands.add(
      {.name = "help",
       .group = Group::learn,
       .summary = "Explain a command, a noun or a topic",
       .args =
           {{.name = "subject", .help = "a topic, a noun, or a noun and a verb", .optional = true, .repeated = true}},
       .example = "sluice help exit-codes",
       .run = help});
}

}  // namespace sluice::cli
