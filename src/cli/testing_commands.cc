// The table of commands for tests, and how a command line of a test runs.
#include "cli/testing_commands.h"

#include <sstream>

#include "base/real_disk.h"
#include "cli/app.h"
#include "cli/context.h"

namespace sluice::cli {

Commands testing_commands() {
  Commands commands;
  add_help_commands(commands);
  add_completion_commands(commands);
  commands.add_noun({.name = "gate", .group = Group::operate, .summary = "Open and close gates"});
  commands.add(
      {.name = "gate open",
       .summary = "Open a gate",
       .details = "A gate opens in steps.",
       .args = {{.name = "gate", .help = "the gate's name"},
                {.name = "files", .help = "what passes", .kind = Kind::path, .optional = true, .repeated = true}},
       .options = {{.name = "share", .value = "SHARE", .help = "how far", .kind = Kind::share, .fallback = "100%"},
                   {.name = "wait", .letter = 'w', .value = "TIME", .help = "how long", .kind = Kind::duration},
                   {.name = "retries", .value = "N", .help = "how often", .kind = Kind::count},
                   {.name = "color", .value = "COLOR", .help = "its light", .choices = {"red", "green"}},
                   {.name = "label", .value = "TEXT", .help = "a label", .repeated = true},
                   {.name = "key", .value = "FILE", .help = "its key", .kind = Kind::path},
                   {.name = "force", .help = "open it even so"}},
       .example = "sluice gate open north",
       .run = [](Context& context) -> Result<Code> {
         const Given& given = context.given;
         context.output.note("opening");
         context.output.detail("in detail");
         context.output.print(json::value(given.text("gate")),
                              [&](const Terminal&) { return given.text("gate") + " is open\n"; });
         return Code::ok;
       }});
  commands.add({.name = "gate check",
                .summary = "Check all gates",
                .example = "sluice gate check",
                .run = [](Context&) -> Result<Code> { return Code::faults_found; }});
  commands.add({.name = "gate close",
                .summary = "Close a gate that is not there",
                .example = "sluice gate close",
                .run = [](Context&) -> Result<Code> {
                  return Error{.code = Code::not_found,
                               .message = "there is no gate 'south'",
                               .next = "sluice gate check",
                               .path = "/gates/0",
                               .position = Position{"gates.yaml", 3, 7}};
                }});
  return commands;
}

Ran run_line(const Commands& commands, const std::vector<std::string>& words, const Terminal& terminal,
             const Around& around) {
  std::istringstream in(around.in);
  std::ostringstream out;
  std::ostringstream err;
  RealDisk disk;
  Process process{.in = in,
                  .out = out,
                  .err = err,
                  .disk = disk,
                  .variables = [&](const std::string& name) -> std::optional<std::string> {
                    auto found = around.variables.find(name);
                    return found == around.variables.end() ? std::nullopt : std::optional(found->second);
                  },
                  .terminal =
                      [&](int, bool no_color) {
                        Terminal seen = terminal;
                        if (no_color) seen.color = false;
                        return seen;
                      },
                  .concepts = around.concepts};
  int exit = run(words, commands, process);
  return {exit, out.str(), err.str()};
}

}  // namespace sluice::cli
