// What suites say of concepts: the tags of their parameters, and their scopes.
#include <algorithm>

#include "lang/check/check_parts.h"

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

// What a part of a scope's way stands for, and its type.
struct ScopePart {
  std::string what;
  TypeId type;
};

// `Deployment.environment` after what is before it: the key of a row, of which it is a field.
std::vector<ScopePart> check_scope_part(const Symbols& symbols, const std::vector<ScopePart>& before,
                                        const std::string& part, const Place& place, Report& report) {
  size_t dot = part.find('.');
  auto owner = symbols.find_concept(part.substr(0, dot));
  const RelationSymbol* rows = nullptr;
  std::optional<size_t> field;
  for (size_t r = 0; owner && dot != std::string::npos && r < symbols.concepts[*owner].relations.size(); ++r) {
    const RelationSymbol& relation = symbols.concepts[*owner].relations[r];
    if (field || !relation.name.empty()) continue;
    field = find_field(relation.fields, part.substr(dot + 1));
    rows = &relation;
  }
  if (!field) {
    report.error(place, "unknown-field", "the scope's " + quoted(part) + " is no field of a row",
                 "write `Concept.field`");
    return {};
  }
  const Types& types = symbols.types;
  for (const ScopePart& each : before) {
    if (!rows->keyed) break;
    std::string what = each.what + " is " + types.name(each.type) + ", but the rows of " + quoted(part) +
                       " are known by " + types.name(rows->key);
    Fit fit = types.comparable(types.present(each.type), rows->key);
    if (fit == Fit::misaligned) report.misaligned(place, what);
    if (fit != Fit::no) continue;
    report.error(place, "type-mismatch", what, "lead through a field that holds such a key");
  }
  return {{quoted(part), rows->fields[*field].type}};
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
    const std::vector<std::string> parts = scope.parts();
    std::vector<std::string> known;
    std::vector<ScopePart> given;
    for (const ActionSymbol& action : symbols.concepts[*owner].actions) {
      for (const FieldSymbol& param : action.params) {
        known.push_back(param.name);
        if (param.name != parts[0]) continue;
        given.push_back({quoted(param.name) + " of " + scope.concept_ + "/" + action.name, param.type});
      }
    }
    Place place{file, scope.at, scope.concept_.size()};
    if (given.empty()) {
      report.error(place, "unknown-field",
                   "no action of " + quoted(scope.concept_) + " has an argument " + quoted(parts[0]),
                   did_you_mean(parts[0], known));
    }
    for (size_t i = 1; i < parts.size(); ++i) given = check_scope_part(symbols, given, parts[i], place, report);
  }
}

// Where a suite lists rights, each action of its concepts that can be called from outside names one of them, and says
// what is at stake.
void check_rights(const Kit& kit, Report& report) {
  for (const KitConcept& each : kit.concepts) {
    auto listed = kit.rights.find(each.suite_file);
    if (listed == kit.rights.end()) continue;
    std::vector<std::string> known;
    for (const Name& name : listed->second) known.push_back(name.text);
    for (const Action& action : each.tree.actions) {
      const std::string& file = each.tree.file;
      const Place place = report.word(file, action.at, action.name);
      if (action.right_at && std::ranges::find(known, action.right) == known.end()) {
        report.error({file, *action.right_at, 5}, "unknown-right",
                     "the suite lists no right " + quoted(action.right) + ", which " + quoted(action.name) + " needs",
                     did_you_mean(action.right, known));
      }
      if (action.callers == Callers::syncs) continue;
      // A pack may be older than the list.
      auto missing = [&](const char* rule, const std::string& text, const std::string& hint) {
        each.outside ? report.warning(place, rule, text, hint) : report.error(place, rule, text, hint);
      };
      if (!action.right_at) {
        missing("no-right", quoted(action.name) + " does not say which right its callers need",
                "write `right: " + known.front() + "`, or another of the suite's `rights:`");
      }
      if (!action.impact_at) {
        missing("no-effect", quoted(action.name) + " does not say what is at stake when it is called",
                "write `effect: none`, `changes`, `shifts` or `destroys`");
      }
    }
  }
}

}  // namespace

void check_suite(const Kit& kit, const Symbols& symbols, Report& report) {
  check_parameters(kit, report);
  check_scopes(kit, symbols, report);
  check_rights(kit, report);
}

}  // namespace sluice::lang
