// sluice logs and sluice exec: what replicas say, and a command in a replica's place. Both take the names of
// deploy/views/instances.h, and hold the store only until they know what is meant; whoever follows looks again every
// second what that is by now. Both go through the Door, so they work on a home of another machine as well.
#include <regex.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"

namespace sluice::cli {
namespace logs_commands {

// ----------------------------------------------------------------------------------------------------------- logs

// A POSIX extended regular expression. Matching takes bounded stack, whatever a line is.
class Pattern {
 public:
  static Result<Pattern> compile(const std::string& text) {
    auto regex = std::make_unique<regex_t>();
    int failed = ::regcomp(regex.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (failed == 0) return Pattern(std::shared_ptr<regex_t>(regex.release(), free_regex));
    std::array<char, 200> why{};
    ::regerror(failed, regex.get(), why.data(), why.size());
    return Error{.code = Code::usage, .message = "--grep: '" + text + "' is no regular expression: " + why.data()};
  }
  bool matches(const std::string& line) const { return ::regexec(regex_.get(), line.c_str(), 0, nullptr, 0) == 0; }

 private:
  explicit Pattern(std::shared_ptr<regex_t> regex) : regex_(std::move(regex)) {}
  static void free_regex(regex_t* regex) {
    ::regfree(regex);
    delete regex;
  }

  std::shared_ptr<regex_t> regex_;
};

class LogPrinter {
 public:
  LogPrinter(Context& context, std::optional<Pattern> pattern)
      : output_(context.output), pattern_(std::move(pattern)) {}

  void print(const host::SaidLine& said) {
    if (pattern_ && !pattern_->matches(said.text)) return;
    if (output_.settings().format != Format::table) {
      // A line is a document, so that a stream that does not end can be read.
      const std::string shown = write(to_json(said)) + "\n";
      output_.print_text(output_.settings().format == Format::json ? shown : "--- " + shown);
      return;
    }
    constexpr std::array kColors{Style::accent, Style::good, Style::warning, Style::strong, Style::heading, Style::bad};
    const Style color = styles_.emplace(said.replica, kColors[styles_.size() % kColors.size()]).first->second;
    width_ = std::max(width_, display_width(said.label));
    const Terminal& out = output_.settings().out;
    const Style style = said.stream == "sluice" ? Style::faint : Style::plain;
    output_.print_text(out.paint(Style::faint, said.time) + " " +
                       out.paint(color, printable(said.label) + std::string(width_ - display_width(said.label), ' ')) +
                       " " + out.paint(Style::faint, said.stream) + " " + out.paint(style, printable(said.text)) +
                       "\n");
  }

 private:
  Output& output_;
  std::optional<Pattern> pattern_;
  std::map<std::string, Style> styles_;
  size_t width_ = 0;
};

Result<Code> logs(Context& context) {
  const Given& given = context.given;
  std::optional<Pattern> pattern;
  if (given.has("grep")) {
    auto compiled = Pattern::compile(given.text("grep"));
    if (!compiled) return compiled.error();
    pattern = *std::move(compiled);
  }
  host::LogAsk ask{.names = given.texts("names"),
                   .follow = given.flag("follow"),
                   .all = given.flag("all"),
                   .customer = given.text("customer-id")};
  if (auto age = given.number("since")) ask.since = utc_text(RealClock().wall_ms() - *age);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  LogPrinter printer(context, std::move(pattern));
  auto read = (*door)->read_logs(ask, [&](const host::SaidLine& line) {
    printer.print(line);
    return true;
  });
  if (!read) return read.error();
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- exec

Result<Code> exec(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto ended = (*door)->exec({.name = context.given.text("name"),
                              .command = context.given.texts("command"),
                              .customer = context.given.text("customer-id")});
  if (!ended) return ended.error();
  context.exit_code = *ended;
  return Code::ok;
}

std::vector<Option> exec_options() {
  return {{.name = "reason", .value = "TEXT", .help = "why, for the audit"}, customer_option(), lock_timeout_option()};
}

}  // namespace logs_commands

void add_logs_commands(Commands& commands) {
  using namespace logs_commands;
  const std::string names =
      "A name can be a deployment (its bundle, hello), which means the replicas of all its revisions; a revision "
      "(hello@2); or one replica (hello@2.0). Ids of deployments, revisions and instances, unique parts of them, and "
      "the names in `runtime list` and `runtime show` work as well.";
  commands.add(
      {.name = "logs",
       .group = Group::see,
       .summary = "Show what replicas print, in time order",
       .details = names + " Each line has its time, its replica, and whether the program printed it (out, err) or its "
                          "supervisor (sluice). Lines about health checks (GET and its path) are left out unless --all "
                          "is given. With --output json each line is a JSON object of its own.",
       .args = {{.name = "names", .help = "whose: deployments, revisions or replicas", .repeated = true}},
       .options = {{.name = "follow",
                    .letter = 'f',
                    .help = "follow new output, also of replicas that start later, until Ctrl-C"},
                   {.name = "since",
                    .value = "TIME",
                    .help = "only what is not older than this, as 90m or 7d",
                    .kind = Kind::duration},
                   {.name = "grep", .value = "PATTERN", .help = "only lines that this regular expression finds"},
                   {.name = "all", .help = "include lines about health checks"},
                   customer_option(),
                   lock_timeout_option()},
       .example = "sluice logs hello --since 10m",
       .run = logs});
  commands.add(
      {.name = "exec",
       .group = Group::see,
       .summary = "Run a command inside a replica",
       .details = names +
                  " Of several revisions the one with most traffic is taken, and of its replicas the first "
                  "healthy one.\n\nThe command has the program's "
                  "variables, secrets, folders, user and limits, and your terminal. `sluice exec` exits with "
                  "its exit code: 127 if there is no such program, 126 if it cannot be run. It works the same "
                  "on a server of another machine (`sluice context`). The command ends with the replica, and with the "
                  "connection. The journal says who ran which program where.",
       .args = {{.name = "name", .help = "a deployment, a revision or a replica"},
                {.name = "command", .help = "the command and its arguments, after --", .repeated = true}},
       .options = exec_options(),
       .example = "sluice exec hello -- env",
       .run = exec});
}

}  // namespace sluice::cli
