// The order of things: globals first, so that even a wrong command line is answered in the format that was asked for.
#include "cli/app.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <ostream>

#include "cli/context.h"
#include "cli/help.h"
#include "cli/next_command.h"
#include "cli/parse.h"
#include "cli/version.h"

namespace sluice::cli {
namespace {

Output make_output(const Given& globals, const Process& process) {
  bool no_color = globals.flag("no-color");
  std::string format = globals.text("output");
  return Output({.format = format == "json"   ? Format::json
                           : format == "yaml" ? Format::yaml
                                              : Format::table,
                 .quiet = globals.flag("quiet"),
                 .verbose = globals.flag("verbose"),
                 .out = process.terminal(STDOUT_FILENO, no_color),
                 .err = process.terminal(STDERR_FILENO, no_color),
                 .in = process.terminal(STDIN_FILENO, no_color)},
                process.out, process.err);
}

Result<Code> answer(const Given& given, Context& context) {
  if (given.flag("help")) return print_help(given.words, context);
  if (given.flag("version")) {
    context.output.print(json::object{{"name", "sluice"}, {"version", version().number}, {"commit", version().commit}},
                         [](const Terminal&) { return version_line() + "\n"; });
    return Code::ok;
  }
  return given.command->run(context);
}

}  // namespace

int run(std::span<const std::string> words, const Commands& commands, const Process& process) {
  auto given = parse(words, commands);
  if (given) given->line.assign(words.begin(), words.end());
  Output output = make_output(given ? *given : parse_globals(words), process);
  if (!given) {
    output.error(given.error());
    return exit_code(given.error().code);
  }
  if (given->command == nullptr && !given->flag("help") && !given->flag("version")) {
    if (output.settings().format == Format::table) {
      process.err << overview(commands, output.settings().err) << '\n';
    }
    output.error({.code = Code::usage, .message = "a command is missing", .next = "sluice help"});
    return exit_code(Code::usage);
  }
  Context context{commands, *given, output, process.variables, process.in, process.disk, process.concepts};
  Result<Code> outcome = answer(*given, context);
  if (!outcome) {
    Error error = outcome.error();
    // As for what the parser refuses.
    if (error.code == Code::usage && error.next.empty()) error.next = "sluice help " + given->words;
    error.next = next_command(error.next, commands, *given);
    output.error(error);
    return exit_code(error.code);
  }
  if (!output.flush()) {
    output.error({.message = "stdout did not take all of the output"});
    return exit_code(Code::failed);
  }
  return context.exit_code.value_or(exit_code(*outcome));
}

}  // namespace sluice::cli
