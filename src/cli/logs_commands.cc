// sluice logs and sluice exec: what replicas say, and a command in a replica's place. Both take the names of
// cli/running_instances.h, and hold the store only until they know what is meant; whoever follows looks again every
// second what that is by now.
#include <poll.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "cli/all_commands.h"
#include "cli/opening.h"
#include "cli/running_instances.h"
#include "host/background.h"
#include "host/kit_watch.h"
#include "process/log_reader.h"

namespace sluice::cli {
namespace logs_commands {

constexpr int kLookAgain_ms = 100;
constexpr int64_t kFindAgain_ns = 1'000'000'000;

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

  void add(const RunningReplica& replica) {
    constexpr std::array kColors{Style::accent, Style::good, Style::warning, Style::strong, Style::heading, Style::bad};
    styles_[replica.name] = kColors[styles_.size() % kColors.size()];
    labels_[replica.name] = replica.label;
    width_ = std::max(width_, display_width(replica.label));
  }
  bool knows(const RunningReplica& replica) const { return labels_.contains(replica.name); }

  void print(const process::ReplicaLine& said) {
    const process::LogLine& line = said.line;
    if (pattern_ && !pattern_->matches(line.text)) return;
    const std::string& label = labels_[said.replica];
    if (output_.settings().format != Format::table) {
      // A line is a document, so that a stream that does not end can be read.
      const json::object shown{{"time", line.time},
                               {"replica", said.replica},
                               {"label", label},
                               {"stream", line.stream},
                               {"text", line.text}};
      output_.print_text(output_.settings().format == Format::json ? write(shown) + "\n"
                                                                   : "--- " + write(shown) + "\n");
      return;
    }
    const Terminal& out = output_.settings().out;
    const Style style = line.stream == "sluice" ? Style::faint : Style::plain;
    output_.print_text(
        out.paint(Style::faint, line.time) + " " +
        out.paint(styles_[said.replica], printable(label) + std::string(width_ - display_width(label), ' ')) + " " +
        out.paint(Style::faint, line.stream) + " " + out.paint(style, printable(line.text)) + "\n");
  }

 private:
  Output& output_;
  std::optional<Pattern> pattern_;
  std::map<std::string, Style> styles_;
  std::map<std::string, std::string> labels_;
  size_t width_ = 0;
};

// All that is meant by the names on the command line. Of several the first that means nothing is an error; whoever
// follows them hears only of all.
Result<std::vector<RunningReplica>> replicas_named(Context& context, bool following) {
  auto objects = Objects::to_look(context);
  if (!objects) return objects.error();
  const Running running = running_in(objects->get());
  std::vector<RunningReplica> replicas;
  for (const std::string& name : context.given.texts("names")) {
    auto found = running.find_replicas(name);
    if (!found && following && found.error().code == Code::not_found) continue;
    if (!found) return found.error();
    std::ranges::move(*found, std::back_inserter(replicas));
  }
  return replicas;
}

Result<Code> logs(Context& context) {
  const Given& given = context.given;
  std::optional<Pattern> pattern;
  if (given.has("grep")) {
    auto compiled = Pattern::compile(given.text("grep"));
    if (!compiled) return compiled.error();
    pattern = *std::move(compiled);
  }
  RealClock clock;
  std::string since;
  if (auto age = given.number("since")) since = utc_text(clock.wall_ms() - *age);
  process::LogMerge merge(context.disk, {}, since);
  LogPrinter printer(context, std::move(pattern));
  auto take_up = [&](const std::vector<RunningReplica>& replicas) {
    for (const RunningReplica& each : replicas) {
      if (printer.knows(each)) continue;
      printer.add(each);
      merge.add({.replica = each.name, .folder = each.log});
    }
  };
  auto replicas = replicas_named(context, false);
  if (!replicas) return replicas.error();
  take_up(*replicas);
  std::optional<host::StopSignal> stop;
  if (given.flag("follow")) stop.emplace();
  int64_t found_ns = clock.monotonic_ns();
  for (;;) {
    auto line = merge.next();
    if (!line) return line.error();
    if (*line) {
      printer.print(**line);
      continue;
    }
    if (!stop) return Code::ok;
    if (!context.output.flush()) return Code::ok;
    const bool gone = merge.gone();
    if (gone || clock.monotonic_ns() - found_ns >= kFindAgain_ns) {
      // Where nobody can be asked now, the next second will do.
      if (auto again = replicas_named(context, true)) {
        if (again->empty() && gone) {
          context.output.note("All that it followed is gone.");
          return Code::ok;
        }
        take_up(*again);
      }
      found_ns = clock.monotonic_ns();
    }
    pollfd stopped{.fd = stop->fd(), .events = POLLIN, .revents = 0};
    if (::poll(&stopped, 1, kLookAgain_ms) > 0) return Code::ok;
  }
}

// ----------------------------------------------------------------------------------------------------------- exec

Result<Code> exec(Context& context) {
  auto local = host::local_replicas(concepts_of(context));
  if (!local) return local.error();
  auto objects = Objects::to_look(context);
  if (!objects) return objects.error();
  auto replicas = running_in(objects->get()).find_replicas(context.given.text("name"));
  if (!replicas) return replicas.error();
  objects->reset();
  // Of several the first that is well, or the first.
  const RunningReplica* chosen = &replicas->front();
  for (const RunningReplica& each : *replicas) {
    auto state = (*local)->look(each.name);
    if (!state || !state->healthy) continue;
    chosen = &each;
    break;
  }
  context.output.detail("in " + chosen->name);
  context.output.flush();
  return (*local)->exec(chosen->name, context.given.texts("command"));
}

}  // namespace logs_commands

void add_logs_commands(Commands& commands) {
  using namespace logs_commands;
  const std::string names =
      "A name is that of a deployment (its bundle, hello), which stands for the replicas of all its revisions; of a "
      "revision (hello@2); or of one replica (hello@2.0). Ids of deployments, revisions and instances, parts of them, "
      "and the names that `runtime list` and `runtime show` have, will do as well.";
  commands.add(
      {.name = "logs",
       .group = Group::run,
       .summary = "Show what replicas say, in the order of time",
       .details = names + " Each line has its time, its replica, and whether the program said it (out, err) or its "
                          "supervisor (sluice). With --output json each line is a JSON object of its own.",
       .args = {{.name = "names", .help = "whose: deployments, revisions or replicas", .repeated = true}},
       .options = {{.name = "follow",
                    .letter = 'f',
                    .help = "go on with what they, and those that come later, say next, until Ctrl-C"},
                   {.name = "since",
                    .value = "TIME",
                    .help = "only what is not older than this, as 90m or 7d",
                    .kind = Kind::duration},
                   {.name = "grep", .value = "PATTERN", .help = "only lines that this regular expression finds"},
                   lock_timeout_option()},
       .example = "sluice logs hello --since 10m",
       .run = logs});
  commands.add({.name = "exec",
                .group = Group::run,
                .summary = "Run a command in a replica's place",
                .details = names +
                           " Of several replicas the first healthy one is taken.\n\nThe command has the program's "
                           "variables, secrets, folders, user and limits, and your terminal; its exit code is yours. "
                           "It ends with the replica.",
                .args = {{.name = "name", .help = "in whose place: a deployment, a revision or a replica"},
                         {.name = "command", .help = "the command and its arguments, after --", .repeated = true}},
                .options = {lock_timeout_option()},
                .example = "sluice exec hello -- env",
                .run = exec});
}

}  // namespace sluice::cli
