// Lists are two or three columns whose last is wrapped, never cut.
#include "cli/help.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/nearest.h"
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

// The verbs and nouns under one heading of the overview.
Rows group_rows(const Commands& commands, Group group) {
  Rows rows;
  for (const Noun& noun : commands.nouns()) {
    if (noun.group != group) continue;
    std::string verbs;
    for (const std::string& verb : commands.verbs_of(noun.name)) verbs += (verbs.empty() ? "" : ", ") + verb;
    rows.push_back({noun.name, noun.summary + " (" + verbs + ")"});
  }
  for (const Command& command : commands.all()) {
    bool alone = command.name.find(' ') == std::string::npos;
    if (alone && command.group == group) rows.push_back({command.name, command.summary});
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

json::array shown_json(const std::vector<std::string>& words) { return json::array(words.begin(), words.end()); }

json::array shown_json(const std::vector<Option>& options) {
  json::array list;
  for (const Option& option : options) {
    json::object object{{"name", "--" + option.name}, {"help", option.help}};
    if (option.letter != 0) object["letter"] = std::string{'-', option.letter};
    if (!option.value.empty()) object["value"] = option.value;
    if (!option.choices.empty()) object["choices"] = shown_json(option.choices);
    if (!option.fallback.empty()) object["default"] = option.fallback;
    if (option.repeated) object["repeated"] = true;
    list.push_back(std::move(object));
  }
  return list;
}

json::object shown_json(const Command& command) {
  json::array args;
  for (const Arg& arg : command.args) {
    json::object object{{"name", arg.name}, {"help", arg.help}, {"required", !arg.optional}};
    if (!arg.choices.empty()) object["choices"] = shown_json(arg.choices);
    if (arg.repeated) object["repeated"] = true;
    args.push_back(std::move(object));
  }
  json::object object{{"name", command.name},
                      {"summary", command.summary},
                      {"usage", usage_line(command)},
                      {"args", std::move(args)},
                      {"options", shown_json(command.options)},
                      {"example", command.example}};
  if (!command.formats.empty()) object["formats"] = shown_json(command.formats);
  return object;
}

json::object shown_json(const Noun& noun, const Commands& commands) {
  return {{"name", noun.name}, {"summary", noun.summary}, {"verbs", shown_json(commands.verbs_of(noun.name))}};
}

json::object shown_json(const Topic& topic) {
  json::array rows;
  for (const auto& row : topic.rows) {
    json::object object;
    for (size_t i = 0; i < row.size(); ++i) {
      bool number = row[i].find_first_not_of("0123456789") == std::string::npos;
      object[topic.columns[i]] = number ? json::value(std::stoi(row[i])) : json::value(row[i]);
    }
    rows.push_back(std::move(object));
  }
  return {{"topic", topic.name}, {"summary", topic.summary}, {"text", topic.text}, {"rows", std::move(rows)}};
}

json::object shown_json(const Commands& commands) {
  json::array nouns;
  for (const Noun& noun : commands.nouns()) nouns.push_back(shown_json(noun, commands));
  json::array all;
  for (const Command& command : commands.all()) all.push_back(shown_json(command));
  json::array names;
  for (const Topic& topic : topics()) names.push_back(json::string(topic.name));
  return {{"nouns", std::move(nouns)},
          {"commands", std::move(all)},
          {"global_options", shown_json(global_options())},
          {"topics", std::move(names)}};
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
  for (Group group : {Group::build, Group::run, Group::operate, Group::learn}) {
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
    output.print(shown_json(commands), [&](const Terminal& terminal) { return overview(commands, terminal); });
  } else if (const Command* command = commands.find(words)) {
    output.print(shown_json(*command), [&](const Terminal& terminal) { return command_help(*command, terminal); });
  } else if (const Noun* noun = commands.find_noun(words)) {
    output.print(shown_json(*noun, commands),
                 [&](const Terminal& terminal) { return noun_help(*noun, commands, terminal); });
  } else if (const Topic* topic = find_topic(words)) {
    output.print(shown_json(*topic), [&](const Terminal& terminal) { return topic_help(*topic, terminal); });
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
