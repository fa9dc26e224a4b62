// The lines are the source's own words in one spelling.
#include "lang/run/contract.h"

#include "lang/format/print.h"

namespace sluice::lang {
namespace {

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (c == kSoftBreak || c == kStrongBreak) c = ' ';
  }
  return text;
}

std::string line_of(const Action& action) {
  std::string line =
      "action " + action.name + "(" + print(action.params) + ") runs: " + std::string(name_of(action.runs));
  if (action.runs == Runs::effect) {
    line += " retry: " + std::string(name_of(action.retry)) + " deadline: " + std::to_string(action.deadline_s) + "s";
  }
  for (const Variant& variant : action.variants) {
    line += " -> " + variant.name + "(" + print(variant.fields) + ")";
    if (variant.code) line += " @code(" + variant.code->text + ")";
  }
  return on_one_line(std::move(line));
}

}  // namespace

std::vector<std::string> contract_of(const Concept& source) {
  std::vector<std::string> lines;
  for (const StateField& field : source.state) lines.push_back(on_one_line(field.name + ": " + print(field.type)));
  for (const Action& action : source.actions) lines.push_back(line_of(action));
  return lines;
}

}  // namespace sluice::lang
