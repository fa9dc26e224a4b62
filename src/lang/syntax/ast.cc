// The parts of the trees that need more than a default.
#include "lang/syntax/ast.h"

#include <algorithm>
#include <array>

namespace sluice::lang {
namespace {

constexpr std::array<std::string_view, 9> kPrimitives = {"String",   "Int", "Float",   "Bool",  "Bytes",
                                                         "DateTime", "ID",  "Request", "Sealed"};

std::vector<Name> all_of(const Name& first, const std::vector<Name>& others) {
  std::vector<Name> all = {first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::string text_of(const Name& first, const std::vector<Name>& others) {
  if (others.empty()) return first.text;
  std::string text = "{" + first.text;
  for (const Name& each : others) text += ", " + each.text;
  return text + "}";
}

}  // namespace

std::vector<Name> Pattern::actions() const { return all_of(action, other_actions); }
std::vector<Name> Pattern::variants() const { return all_of(variant, other_variants); }
std::string Pattern::action_text() const { return text_of(action, other_actions); }
std::string Pattern::variant_text() const { return text_of(variant, other_variants); }

bool is_primitive(std::string_view name) { return std::ranges::find(kPrimitives, name) != kPrimitives.end(); }

std::string_view name_of(Runs runs) {
  switch (runs) {
    case Runs::pure:
      return "pure";
    case Runs::query:
      return "query";
    case Runs::effect:
      return "effect";
    case Runs::answered:
      return "answered";
    case Runs::answered_outside:
      return "answered outside";
  }
  return "";
}

std::string_view name_of(Retry retry) {
  switch (retry) {
    case Retry::never:
      return "never";
    case Retry::safe:
      return "safe";
    case Retry::probe:
      return "probe";
  }
  return "";
}

std::string_view name_of(Impact impact) {
  switch (impact) {
    case Impact::none:
      return "none";
    case Impact::changes:
      return "changes";
    case Impact::shifts:
      return "shifts";
    case Impact::destroys:
      return "destroys";
  }
  return "";
}

std::vector<std::string> SuiteScope::parts() const {
  auto trimmed = [](std::string text) {
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::vector<std::string> found;
  std::string rest = path;
  for (size_t arrow; (arrow = rest.find("->")) != std::string::npos; rest = rest.substr(arrow + 2)) {
    found.push_back(trimmed(rest.substr(0, arrow)));
  }
  found.push_back(trimmed(rest));
  return found;
}

bool Concept::operator==(const Concept& other) const {
  return name == other.name && params == other.params && version == other.version && gate == other.gate &&
         category == other.category && visibility == other.visibility && purpose == other.purpose &&
         state == other.state && actions == other.actions && capabilities == other.capabilities &&
         invariants == other.invariants && parallel == other.parallel && kind == other.kind &&
         routed_by == other.routed_by && provides == other.provides;
}

bool Sync::operator==(const Sync& other) const {
  return name == other.name && purpose == other.purpose && annotations == other.annotations &&
         eventual == other.eventual && loop == other.loop && retry_variants == other.retry_variants &&
         when == other.when && where == other.where && then == other.then;
}

bool Guard::operator==(const Guard& other) const {
  return name == other.name && purpose == other.purpose && before == other.before && over == other.over &&
         where == other.where && require == other.require && engine == other.engine && variant == other.variant &&
         arguments == other.arguments && next == other.next;
}

}  // namespace sluice::lang
