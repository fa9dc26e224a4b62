// The table's own rules, and lookups in it.
#include "cli/command.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <charconv>

#include "base/basis_points.h"
#include "base/duration.h"
#include "base/terminal.h"

namespace sluice::cli {
namespace {

const Option* option_named(const std::vector<Option>& options, std::string_view name) {
  auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

const Option* declared_option(const Command* command, std::string_view name) {
  const Option* option = option_named(global_options(), name);
  if (option == nullptr && command != nullptr) option = option_named(command->options, name);
  return option;
}

const Arg* declared_arg(const Command* command, std::string_view name) {
  if (command == nullptr) return nullptr;
  for (const Arg& arg : command->args) {
    if (arg.name == name) return &arg;
  }
  return nullptr;
}

}  // namespace

std::string_view heading(Group group) {
  switch (group) {
    case Group::ship:
      return "From a folder to traffic";
    case Group::see:
      return "See what happens";
    case Group::build:
      return "Build and try";
    case Group::promote:
      return "Promote releases";
    case Group::operate:
      return "Operate";
    case Group::team:
      return "Work with others";
    case Group::learn:
      return "Learn";
  }
  return "";
}

const std::vector<Option>& global_options() {
  static const std::vector<Option> kOptions = {
      {.name = "output",
       .letter = 'o',
       .value = "FORMAT",
       .help = "how data is printed",
       .choices = {"table", "json", "yaml"},
       .fallback = "table"},
      {.name = "quiet", .letter = 'q', .help = "print data and errors, no narration"},
      {.name = "verbose", .letter = 'v', .help = "tell more of what is done"},
      {.name = "no-color", .help = "print without color, as with NO_COLOR=1"},
      {.name = "server", .value = "SERVER", .help = "for this command: a context, or the URL of a server"},
      {.name = "help", .letter = 'h', .help = "explain the command instead of running it"},
      {.name = "version", .help = "print the version and stop"},
  };
  return kOptions;
}

std::vector<Option> global_options_of(const Command& command) {
  std::vector<Option> options = global_options();
  for (Option& option : options) {
    if (option.name != "output") continue;
    option.choices.insert(option.choices.end(), command.formats.begin(), command.formats.end());
  }
  return options;
}

void Commands::add_noun(Noun noun) {
  assert(find_noun(noun.name) == nullptr && find(noun.name) == nullptr);
  nouns_.push_back(std::move(noun));
}

void Commands::add(Command command) {
  assert(find(command.name) == nullptr && find_noun(command.name) == nullptr);
  size_t blank = command.name.find(' ');
  assert(blank == std::string::npos || find_noun(command.name.substr(0, blank)) != nullptr);
  assert(!command.summary.empty() && command.run);
  assert(command.example == "sluice " + command.name || command.example.starts_with("sluice " + command.name + ' '));
  for (size_t i = 0; i < command.args.size(); ++i) {
    assert(!command.args[i].repeated || i + 1 == command.args.size());
    assert(i == 0 || command.args[i].optional || !command.args[i - 1].optional);
    assert(declared_option(&command, command.args[i].name) == nullptr);
  }
  for (const Option& option : command.options) assert(option_named(global_options(), option.name) == nullptr);
  commands_.push_back(std::move(command));
}

const Noun* Commands::find_noun(std::string_view name) const {
  auto found = std::find_if(nouns_.begin(), nouns_.end(), [&](const Noun& noun) { return noun.name == name; });
  return found == nouns_.end() ? nullptr : &*found;
}

const Command* Commands::find(std::string_view name) const {
  auto found =
      std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.name == name; });
  return found == commands_.end() ? nullptr : &*found;
}

std::vector<std::string> Commands::first_words() const {
  std::vector<std::string> words;
  for (const Noun& noun : nouns_) words.push_back(noun.name);
  for (const Command& command : commands_) {
    if (command.name.find(' ') == std::string::npos) words.push_back(command.name);
  }
  return words;
}

std::vector<std::string> Commands::verbs_of(std::string_view noun) const {
  std::vector<std::string> verbs;
  const std::string prefix = std::string(noun) + ' ';
  for (const Command& command : commands_) {
    if (command.name.starts_with(prefix)) verbs.push_back(command.name.substr(prefix.size()));
  }
  return verbs;
}

std::string usage_line(const Command& command) {
  std::string text = "sluice " + command.name + " [options]";
  for (const Arg& arg : command.args) {
    std::string shown = '<' + arg.name + '>' + (arg.repeated ? "..." : "");
    text += arg.optional ? " [" + shown + ']' : ' ' + shown;
  }
  return text;
}

bool Given::has(std::string_view name) const {
  assert(declared_option(command, name) != nullptr || declared_arg(command, name) != nullptr);
  return values_.find(name) != values_.end();
}

std::string Given::text(std::string_view name) const {
  if (has(name)) return values_.find(name)->second.front();
  const Option* option = declared_option(command, name);
  return option == nullptr ? "" : option->fallback;
}

std::vector<std::string> Given::texts(std::string_view name) const {
  if (!has(name)) return {};
  return values_.find(name)->second;
}

std::optional<int64_t> Given::number(std::string_view name) const {
  std::string given = text(name);
  if (given.empty()) return std::nullopt;
  const Option* option = declared_option(command, name);
  auto number = read_value(option != nullptr ? option->kind : declared_arg(command, name)->kind, given);
  assert(number);  // the parser has read it before
  return *number;
}

Result<int64_t> read_value(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::text:
    case Kind::path:
      return 0;
    case Kind::count: {
      int64_t count = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
      if (error != std::errc() || end != text.data() + text.size() || count < 0) {
        return Error{.code = Code::invalid, .message = "'" + printable(text.substr(0, 40)) + "' is not a whole number"};
      }
      return count;
    }
    case Kind::duration: {
      auto duration = parse_duration(text);
      if (!duration) return duration.error();
      return duration->count();
    }
    case Kind::share: {
      auto share = parse_basis_points(text);
      if (!share) return share.error();
      return *share;
    }
  }
  return 0;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "-_./:=,+@%";
  bool plain = !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string line_with(const Given& given, const std::string& option) {
  std::string line = "sluice";
  bool added = false;
  for (const std::string& each : given.line) {
    if (each == "--" && !added && !option.empty()) line += " " + option;
    added = added || each == "--";
    line += " " + shell_word(each);
  }
  return added || option.empty() ? line : line + " " + option;
}

}  // namespace sluice::cli
