// Lists are two or three columns whose last is wrapped, never cut.
#include "cli/help.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/nearest.h"
#include "cli/outputs.h"
#include "cli/topics.h"

namespace sluice::cli {
namespace {

constexpr size_t kWidestLine = 100;    // longer lines are hard to read, however wide the terminal
constexpr size_t kNarrowestLine = 20;  // with less room words would have to be cut
constexpr size_t kNarrowestText = 24;  // with less room the last column moves below the others

using Rows = std::vector<std::vector<std::string>>;

size_t line_width(const Terminal& terminal) { return std::clamp<size_t>(terminal.width, kNarrowestLine, kWidestLine); }

// Rows indented by two, columns two apart, the last wrapped under itself or, on a narrow terminal, below the others.
std::string listed(const Rows& rows, const Terminal& terminal) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const size_t width = line_width(terminal);
  std::string text;
  for (const auto& row : rows) {
    size_t indent = 2;
    text.append(indent, ' ');
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      text += terminal.paint(i == 0 ? Style::accent : Style::plain, row[i]);
      indent += widths[i] + 2;
      if (indent + kNarrowestText <= width) text.append(widths[i] - display_width(row[i]) + 2, ' ');
    }
    if (row.size() > 1 && indent + kNarrowestText > width) {
      indent = 6;
      text.append(1, '\n').append(indent, ' ');
    }
    std::string last = wrap_text(row.back(), width - indent);
    for (char c : last) {
      text += c;
      if (c == '\n') text.append(indent, ' ');
    }
    text += '\n';
  }
  return text;
}

// A sentence or a usage line, whose further lines are indented.
std::string wrapped(std::string_view text, const Terminal& terminal, size_t indent = 0) {
  return wrap_text(text, line_width(terminal), indent) + "\n";
}

std::string section(std::string_view title, const std::string& body, const Terminal& terminal) {
  return body.empty() ? "" : "\n" + terminal.paint(Style::strong, title) + "\n" + body;
}

std::string option_names(const Option& option) {
  std::string names = option.letter == 0 ? "    " : std::string{'-', option.letter, ',', ' '};
  names += "--" + option.name;
  return option.value.empty() ? names : names + ' ' + option.value;
}

std::string with_choices(std::string help, const std::vector<std::string>& choices, const std::string& fallback) {
  if (!choices.empty()) {
    help += ": ";
    for (size_t i = 0; i < choices.size(); ++i)
      help += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  }
  return fallback.empty() ? help : help + " (default: " + fallback + ")";
}

std::string options_listed(const std::vector<Option>& options, const Terminal& terminal) {
  Rows rows;
  for (const Option& option : options) {
    rows.push_back({option_names(option), with_choices(option.help, option.choices, option.fallback)});
  }
  return listed(rows, terminal);
}

// The verbs and nouns under one heading of the overview, in the order of the table; a noun stands where its first verb
// does.
Rows group_rows(const Commands& commands, Group group) {
  Rows rows;
  std::set<std::string_view> listed_nouns;
  for (const Command& command : commands.all()) {
    std::string_view first = std::string_view(command.name).substr(0, command.name.find(' '));
    const Noun* noun = commands.find_noun(first);
    if (noun == nullptr) {
      if (command.group == group) rows.push_back({command.name, command.summary});
    } else if (noun->group == group && listed_nouns.insert(first).second) {
      rows.push_back({noun->name, noun->summary});
    }
  }
  return rows;
}

std::string noun_help(const Noun& noun, const Commands& commands, const Terminal& terminal) {
  Rows verbs;
  Rows examples;
  for (const std::string& verb : commands.verbs_of(noun.name)) {
    const Command* command = commands.find(noun.name + ' ' + verb);
    verbs.push_back({verb, command->summary});
    examples.push_back({command->example});
  }
  return wrapped(noun.summary + ".", terminal) + "\n" +
         wrapped("usage: sluice " + noun.name + " <verb> [options] [arguments]", terminal, 2) +
         section("Verbs", listed(verbs, terminal), terminal) +
         section("Examples", listed(examples, terminal), terminal) + "\nMore: sluice help " + noun.name + " <verb>\n";
}

std::string command_help(const Command& command, const Terminal& terminal) {
  Rows args;
  for (const Arg& arg : command.args) args.push_back({'<' + arg.name + '>', with_choices(arg.help, arg.choices, "")});
  std::string details = command.details.empty() ? "" : "\n" + wrapped(command.details, terminal);
  return wrapped(command.summary + ".", terminal) + details + "\n" +
         wrapped("usage: " + usage_line(command), terminal, 2) +
         section("Arguments", listed(args, terminal), terminal) +
         section("Options", options_listed(command.options, terminal), terminal) +
         section("Global options", options_listed(global_options_of(command), terminal), terminal) +
         section("Example", "  " + command.example + "\n", terminal);
}

std::string topic_help(const Topic& topic, const Terminal& terminal) {
  std::string text = wrapped(terminal.paint(Style::strong, topic.name) + ": " + topic.summary, terminal) + "\n";
  if (!topic.text.empty()) text += wrapped(topic.text, terminal) + "\n";
  return text + listed(topic.rows, terminal);
}

std::vector<outputs::HelpOption> shown_of(const std::vector<Option>& options) {
  std::vector<outputs::HelpOption> all;
  for (const Option& option : options) {
    outputs::HelpOption& shown = all.emplace_back();
    shown.name = "--" + option.name;
    shown.help = option.help;
    if (option.letter != 0) shown.letter = std::string{'-', option.letter};
    if (!option.value.empty()) shown.value = option.value;
    if (!option.choices.empty()) shown.choices = option.choices;
    if (!option.fallback.empty()) shown.default_ = option.fallback;
    if (option.repeated) shown.repeated = true;
  }
  return all;
}

outputs::HelpCommand shown_of(const Command& command) {
  outputs::HelpCommand shown{.name = command.name,
                             .summary = command.summary,
                             .usage = usage_line(command),
                             .options = shown_of(command.options),
                             .example = command.example};
  for (const Arg& arg : command.args) {
    outputs::HelpArg& one = shown.args.emplace_back();
    one = {.name = arg.name, .help = arg.help, .required = !arg.optional};
    if (!arg.choices.empty()) one.choices = arg.choices;
    if (arg.repeated) one.repeated = true;
  }
  if (!command.formats.empty()) shown.formats = command.formats;
  return shown;
}

outputs::HelpNoun shown_of(const Noun& noun, const Commands& commands) {
  return {.name = noun.name, .summary = noun.summary, .verbs = commands.verbs_of(noun.name)};
}

outputs::HelpTopic shown_of(const Topic& topic) {
  outputs::HelpTopic shown{.topic = topic.name, .summary = topic.summary, .text = topic.text};
  for (const auto& row : topic.rows) {
    json::object object;
    for (size_t i = 0; i < row.size(); ++i) {
      bool number = row[i].find_first_not_of("0123456789") == std::string::npos;
      object[topic.columns[i]] = number ? json::value(std::stoi(row[i])) : json::value(row[i]);
    }
    shown.rows.emplace_back(std::move(object));
  }
  return shown;
}

outputs::Help shown_of(const Commands& commands) {
  outputs::Help shown{.global_options = shown_of(global_options())};
  for (const Noun& noun : commands.nouns()) shown.nouns.push_back(shown_of(noun, commands));
  for (const Command& command : commands.all()) shown.commands.push_back(shown_of(command));
  for (const Topic& topic : topics()) shown.topics.emplace_back(topic.name);
  return shown;
}

}  // namespace

std::string overview(const Commands& commands, const Terminal& terminal) {
  std::string text = wrapped(
      "Sluice takes software from a folder to production traffic, and back, safely. It plans a deployment, signs what "
      "it ships, runs it, lets traffic in a little at a time, judges the new version on that traffic, and shuts the "
      "gate "
      "when it is worse.",
      terminal);
  text += "\n" + wrapped("usage: sluice [options] <noun> <verb> [arguments]", terminal, 2);
  for (Group group :
       {Group::ship, Group::see, Group::build, Group::promote, Group::operate, Group::team, Group::learn}) {
    text += section(heading(group), listed(group_rows(commands, group), terminal), terminal);
  }
  text += section("Global options", options_listed(global_options(), terminal), terminal);
  text += section("Examples",
                  listed({{"sluice up", "run this folder and send requests to it"},
                          {"sluice status", "see what runs, and where"},
                          {"sluice rollback", "go back to what served before"},
                          {"sluice help glossary", "learn the words"},
                          {"sluice help exit-codes -o json", "read anything as JSON"},
                          {"sluice completion bash", "complete commands with Tab"}},
                         terminal),
                  terminal);
  Rows rows;
  for (const Topic& topic : topics()) rows.push_back({topic.name, topic.summary});
  text += section("Topics", listed(rows, terminal), terminal);
  return text + "\n" + wrapped("Next: sluice help <noun>, sluice help <noun> <verb> or sluice help <topic>", terminal);
}

Result<Code> print_help(std::string_view words, Context& context) {
  const Commands& commands = context.commands;
  Output& output = context.output;
  if (words.empty()) {
    output.print(to_json(shown_of(commands)), [&](const Terminal& terminal) { return overview(commands, terminal); });
  } else if (const Command* command = commands.find(words)) {
    output.print(to_json(shown_of(*command)),
                 [&](const Terminal& terminal) { return command_help(*command, terminal); });
  } else if (const Noun* noun = commands.find_noun(words)) {
    output.print(to_json(shown_of(*noun, commands)),
                 [&](const Terminal& terminal) { return noun_help(*noun, commands, terminal); });
  } else if (const Topic* topic = find_topic(words)) {
    output.print(to_json(shown_of(*topic)), [&](const Terminal& terminal) { return topic_help(*topic, terminal); });
  } else {
    std::vector<std::string> known = commands.first_words();
    for (const Command& known_command : commands.all()) known.push_back(known_command.name);
    for (const Topic& known_topic : topics()) known.push_back(known_topic.name);
    auto meant = nearest(words, known);
    return Error{.code = Code::usage,
                 .message = "there is no help on '" + truncate_to_width(printable(words), 60) + "'" +
                            (meant ? "; did you mean '" + *meant + "'?" : ""),
                 .next = meant ? "sluice help " + *meant : "sluice help"};
  }
  return Code::ok;
}

}  // namespace sluice::cli
