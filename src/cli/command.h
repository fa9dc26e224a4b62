// The table of commands. Parsing, help, completion and the reference pages all come from it; nothing restates it.
//
// A noun is one file with one function, listed in all_commands.cc:
//
//   void add_kit_commands(Commands& commands) {
//     commands.add_noun({.name = "kit", .group = Group::build, .summary = "Check and format kits of concepts and
//     syncs"}); commands.add({.name = "kit check",
//                   .summary = "Check a kit without running it",
//                   .args = {{.name = "folder", .help = "the kit's folder", .kind = Kind::path}},
//                   .options = {{.name = "strict", .help = "treat warnings as faults"}},
//                   .example = "sluice kit check examples/kits/orders",
//                   .run = check});
//   }
//
//   Result<Code> check(Context& context) {
//     auto report = check_kit(context.given.text("folder"), context.given.flag("strict"));
//     if (!report) return report.error();
//     context.output.print(to_json(*report), [&](const Terminal& terminal) { return render(table_of(*report),
//     terminal); }); return report->faults.empty() ? Code::ok : Code::faults_found;
//   }
//
// A handler returns Code::ok, a code that is an outcome and not a mistake (faults_found, changes_pending), or an Error,
// which is printed for it. The code decides the exit code.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::cli {

struct Context;  // cli/context.h

// What a value must be. The parser checks it, so handlers never meet a wrong one.
enum class Kind { text, path, count, duration, share };

// An option is a flag unless `value` names what it takes.
struct Option {
  std::string name;   // without dashes
  char letter = 0;    // the short form, if there is one
  std::string value;  // what its value is called in help: FILE; empty for a flag
  std::string help;   // lower case, no full stop
  Kind kind = Kind::text;
  std::vector<std::string> choices;  // the only values allowed; empty if open
  std::string fallback;              // the value when it is not given; empty if there is none
  bool repeated = false;
};

struct Arg {
  std::string name;
  std::string help;
  Kind kind = Kind::text;
  std::vector<std::string> choices;
  bool optional = false;
  bool repeated = false;  // takes all that follow; only the last argument
};

// The headings of `sluice help`, in their order.
enum class Group { ship, see, build, promote, operate, team, learn };
std::string_view heading(Group group);

struct Noun {
  std::string name;
  Group group = Group::learn;
  std::string summary;
  std::string verb = {};  // that is meant where another word or an option follows; may be empty
};

struct Command {
  std::string name;            // "kit check", or one word for a verb without a noun
  Group group = Group::learn;  // only for a verb without a noun; other verbs stand with their noun
  std::string summary;         // one line, imperative, no full stop
  std::string details;         // paragraphs for its own help; may be empty
  std::vector<Arg> args;
  std::vector<Option> options;
  std::vector<std::string> formats;  // that --output takes after this command, besides table, json and yaml
  std::string example;               // a command line that works as it stands; the tests run it
  // The action that it is, if it is one, and where each of the action's parameters stands on its command line: `<env>`
  // or `--steps`.
  std::string action = {};
  std::vector<std::pair<std::string, std::string>> params = {};
  std::function<Result<Code>(Context&)> run;
};

class Commands {
 public:
  // Both stop the program on a table that contradicts itself: that is a bug, and every test would meet it.
  void add_noun(Noun noun);
  void add(Command command);

  const std::vector<Noun>& nouns() const { return nouns_; }
  const std::vector<Command>& all() const { return commands_; }  // in the order they were added

  const Noun* find_noun(std::string_view name) const;
  const Command* find(std::string_view name) const;

  // What may stand first on a command line: verbs without a noun, and nouns.
  std::vector<std::string> first_words() const;
  std::vector<std::string> verbs_of(std::string_view noun) const;

 private:
  std::vector<Noun> nouns_;
  std::vector<Command> commands_;
};

// The options that every command takes, before or after its words.
const std::vector<Option>& global_options();
// The same as this command takes them: --output with the formats of its own.
std::vector<Option> global_options_of(const Command& command);

// "sluice kit check [options] <folder>"
std::string usage_line(const Command& command);

// What the command line gave a command. Names are those of its table entry or of a global option; asking for another
// stops the program.
class Given {
 public:
  const Command* command = nullptr;  // nothing for a command line without one: `sluice --help`
  std::string words;                 // the command's words as far as they came: "", "kit" or "kit check"
  std::vector<std::string> line;     // the whole command line, as it was given

  bool flag(std::string_view name) const { return has(name); }
  bool has(std::string_view name) const;
  // The value or the option's fallback; empty when there is neither.
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // Of options and arguments with the kind count, duration (in milliseconds) and share (in basis points).
  std::optional<int64_t> number(std::string_view name) const;

  void set(std::string_view name, std::string value) { values_[std::string(name)].push_back(std::move(value)); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// A word as a shell reads it: in quotes if it must be.
std::string shell_word(const std::string& text);

// The command line with one more option, as a shell takes it: "sluice kit run tasks Task/add title='a b' --reason x".
std::string line_with(const Given& given, const std::string& option);

// Reads a value of a kind: counts as they are, durations in milliseconds, shares in basis points, others as 0.
Result<int64_t> read_value(Kind kind, std::string_view text);

}  // namespace sluice::cli
