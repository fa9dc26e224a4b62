// Commands are looked up in the table that the program has.
#include "cli/next_command.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/json_writer.h"
#include "engine/rules/next_steps.h"

namespace sluice::cli {
namespace {

// Views that a command shows.
struct Shown {
  std::string_view view, command;
};
constexpr Shown kShown[] = {{"environments", "env list"},
                            {"environment", "env show"},
                            {"deployments", "bundles list"},
                            {"revisions", "revisions list"},
                            {"traffic", "traffic show"},
                            {"instances", "runtime list"},
                            {"status", "status"},
                            {"plans", "deploy list"},
                            {"rollouts", "rollout list"},
                            {"secrets", "secrets list"}};

std::string word(const json::value& value) {
  return shell_word(value.is_string() ? std::string(value.get_string()) : write(value));
}

// What the command line that was refused says of an argument; empty if it has none of that name.
std::string said(const Given& given, const std::string& name) {
  if (given.command == nullptr) return "";
  const Command& command = *given.command;
  const bool takes = std::ranges::find(command.args, name, &Arg::name) != command.args.end() ||
                     std::ranges::find(command.options, name, &Option::name) != command.options.end();
  return takes && given.has(name) ? given.text(name) : "";
}

std::string placeholder(std::string name) {
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// Its command line, if all of the input has a place there. An argument that is left open is named.
std::optional<std::string> line_of(const Command& command,
                                   const std::vector<std::pair<std::string, std::string>>& places,
                                   const json::object& input, const Given& given, const std::string& environment) {
  std::string line = "sluice " + command.name;
  for (const Arg& each : command.args) {
    auto place = std::ranges::find(places, "<" + each.name + ">", &std::pair<std::string, std::string>::second);
    const json::value* value = place == places.end() ? nullptr : input.if_contains(place->first);
    if (value != nullptr) {
      line += " " + word(*value);
    } else if (const std::string same = said(given, each.name); !same.empty()) {
      line += " " + shell_word(same);
    } else if (each.name == "env") {
      if (environment.empty()) return std::nullopt;
      line += " " + shell_word(environment);
    } else if (!each.optional) {
      line += " " + placeholder(each.name);
    }
  }
  // A command that is about local unless it is told otherwise.
  auto elsewhere = std::ranges::find(command.options, "env", &Option::name);
  if (elsewhere != command.options.end() && !input.contains("environment")) {
    const std::string where = said(given, "env").empty() ? environment : said(given, "env");
    if (!where.empty() && where != elsewhere->fallback) line += " --env " + shell_word(where);
  }
  for (const auto& [name, value] : input) {
    auto place = std::ranges::find(places, std::string(name), &std::pair<std::string, std::string>::first);
    if (place == places.end()) return std::nullopt;
    if (!place->second.starts_with("--")) continue;
    if (!value.is_bool()) {
      line += " " + place->second + " " + word(value);
    } else if (value.get_bool()) {
      line += " " + place->second;
    }
  }
  return line;
}

std::string command_of_step(const json::object& step, const Commands& commands, const Given& given,
                            const std::string& environment) {
  const json::value* input = step.if_contains("input");
  const json::object fields = input != nullptr && input->is_object() ? input->get_object() : json::object();
  if (const json::value* action = step.if_contains("action")) {
    auto found = std::ranges::find(commands.all(), std::string(action->as_string()), &Command::action);
    auto line =
        found == commands.all().end() ? std::nullopt : line_of(*found, found->params, fields, given, environment);
    if (line) return *line;
    std::string words = "sluice do " + std::string(action->as_string());
    for (const auto& [name, value] : fields) words += " " + std::string(name) + "=" + word(value);
    return words;
  }
  const std::string view = std::string(step.at("view").as_string());
  auto shown = std::ranges::find(kShown, view, &Shown::view);
  const Command* command = shown == std::end(kShown) ? nullptr : commands.find(shown->command);
  auto line = command == nullptr ? std::nullopt
                                 : line_of(*command,
                                           {{"environment", "<env>"},
                                            {"bundle", "--bundle"},
                                            {"deployment", "--deployment"},
                                            {"customer", "--customer-id"}},
                                           fields, given, environment);
  if (line) return *line;
  // Which environment is meant is not known; this shows all of them.
  return command != nullptr ? "sluice status" : engine::next_text(step);
}

}  // namespace

std::string next_commands(const json::array& steps, const Commands& commands, const Given& given,
                          const std::string& environment) {
  std::string all;
  for (const json::value& each : steps) {
    if (!all.empty()) all += ", or: ";
    all += each.as_object().contains("text") ? engine::next_text(each)
                                             : command_of_step(each.as_object(), commands, given, environment);
  }
  return all;
}

std::string next_command(const std::string& step, const Commands& commands, const Given& given) {
  auto read = engine::read_next_text(step);
  return read ? command_of_step(*read, commands, given, "") : step;
}

std::string next_commands_in(const std::string& text, const Commands& commands, const Given& given) {
  constexpr std::string_view kThen = ", then ";
  std::string all;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(kThen, from), text.size());
    if (from > 0) all += kThen;
    all += next_command(text.substr(from, end - from), commands, given);
    from = end + kThen.size();
  }
  return all;
}

std::string next_in_message(const std::string& message, const Commands& commands, const Given& given) {
  constexpr std::string_view kNext = "; next: ";
  const size_t at = message.find(kNext);
  return at == std::string::npos ? "" : next_commands_in(message.substr(at + kNext.size()), commands, given);
}

}  // namespace sluice::cli
