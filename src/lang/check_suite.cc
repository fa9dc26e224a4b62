// What suites say of concepts: the tags of their parameters, and their scopes.
#include <algorithm>

#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

void check_parameters(const Kit& kit, Report& report) {
  for (const KitConcept& each : kit.concepts) {
    const std::string& file = each.suite_file;
    for (const SuiteConcept::Param& param : each.entry.params) {
      bool declared = std::ranges::any_of(each.tree.params, [&](const Name& name) { return name.text == param.name; });
      if (declared) continue;
      std::vector<std::string> known;
      for (const Name& name : each.tree.params) known.push_back(name.text);
      report.error({file, param.at, param.name.size()}, "unknown-parameter",
                   quoted(each.tree.name) + " has no type parameter " + quoted(param.name),
                   did_you_mean(param.name, known));
    }
  }
}

// `Traffic: deployment -> Deployment.environment`: an argument, then fields of rows.
void check_scopes(const Kit& kit, const Symbols& symbols, Report& report) {
  for (const auto& [scope, file] : kit.scopes) {
    auto owner = symbols.find_concept(scope.concept_);
    if (!owner) {
      std::vector<std::string> known;
      for (const ConceptSymbol& each : symbols.concepts) known.push_back(each.name);
      report.error({file, scope.at, scope.concept_.size()}, "unknown-concept",
                   "there is no concept " + quoted(scope.concept_), did_you_mean(scope.concept_, known));
      continue;
    }
    std::vector<std::string> parts;
    std::string rest = scope.path;
    auto trimmed = [](std::string text) {
      text.erase(0, text.find_first_not_of(' '));
      text.erase(text.find_last_not_of(' ') + 1);
      return text;
    };
    for (size_t arrow; (arrow = rest.find("->")) != std::string::npos; rest = rest.substr(arrow + 2)) {
      parts.push_back(trimmed(rest.substr(0, arrow)));
    }
    parts.push_back(trimmed(rest));
    std::vector<std::string> known;
    for (const ActionSymbol& action : symbols.concepts[*owner].actions) {
      for (const FieldSymbol& param : action.params) known.push_back(param.name);
    }
    if (std::ranges::find(known, parts[0]) == known.end()) {
      report.error({file, scope.at, scope.concept_.size()}, "unknown-field",
                   "no action of " + quoted(scope.concept_) + " has an argument " + quoted(parts[0]),
                   did_you_mean(parts[0], known));
    }
    for (size_t i = 1; i < parts.size(); ++i) {
      size_t dot = parts[i].find('.');
      auto next = symbols.find_concept(parts[i].substr(0, dot));
      bool found = false;
      if (next && dot != std::string::npos) {
        for (const RelationSymbol& relation : symbols.concepts[*next].relations) {
          found = found || (relation.name.empty() && find_field(relation.fields, parts[i].substr(dot + 1)));
        }
      }
      if (!found) {
        report.error({file, scope.at, scope.concept_.size()}, "unknown-field",
                     "the scope's " + quoted(parts[i]) + " is no field of a row", "write `Concept.field`");
      }
    }
  }
}

}  // namespace

void check_suite(const Kit& kit, const Symbols& symbols, Report& report) {
  check_parameters(kit, report);
  check_scopes(kit, symbols, report);
}

}  // namespace sluice::lang
