// What guards and variants name as the next step: an action that can be called, with arguments that it has, or a view.
// Which views there are is the doors' to know; here only the shape of a name is judged.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

// Words of small letters, digits and hyphens, joined by dots or slashes.
bool is_view_name(std::string_view name) {
  bool begins = true;
  for (char c : name) {
    bool letter = c >= 'a' && c <= 'z';
    bool joins = c == '.' || c == '/';
    bool inside = letter || joins || c == '-' || (c >= '0' && c <= '9');
    if (begins ? !letter : !inside) return false;
    begins = joins;
  }
  return !begins;
}

// Names in a variant's `next` that are neither its fields nor the action's arguments.
void tell_unknown(const Expr& expr, const Rule& rule, const std::string& title, std::string_view action, bool& found) {
  for (const Expr& part : expr.args) tell_unknown(part, rule, title, action, found);
  if (expr.op != Expr::Op::variable || rule.is_bound(expr.name)) return;
  found = true;
  std::vector<std::string> known;
  for (const VariableSymbol& each : rule.variables) known.push_back(each.name);
  rule.report.error({rule.file, expr.at, expr.name.size()}, "unknown-field",
                    quoted(expr.name) + " is no field of " + quoted(title) + ", nor an argument of " + quoted(action),
                    did_you_mean(expr.name, known));
}

}  // namespace

void check_next(const Next& next, const Kit& kit, Rule& rule) {
  if (next.condition) rule.must_hold(*next.condition);
  if (next.text) {
    rule.type_of(*next.text, Rule::In::then);
    return;
  }
  rule.once_each(next.arguments, "argument");
  auto unjudged = [&] {
    for (const Argument& each : next.arguments) rule.type_of(each.value, Rule::In::then);
  };
  if (!next.view.text.empty()) {
    if (!is_view_name(next.view.text)) {
      rule.report.error({rule.file, next.view.at, next.view.text.size() + 2}, "bad-next",
                        literal_text(json::value(next.view.text)) + " is no name of a view",
                        "write words of small letters, such as \"environments\"");
    }
    return unjudged();
  }
  bool elsewhere =
      rule.absent.contains(next.concept_.text) || std::ranges::find(kit.broken, next.concept_.text) != kit.broken.end();
  if (elsewhere && !rule.symbols.find_concept(next.concept_.text)) return unjudged();
  auto owner = rule.concept_named(next.concept_);
  auto action = owner ? rule.action_named(*owner, next.action) : std::nullopt;
  if (!action) return unjudged();
  const ActionSymbol& symbol = rule.symbols.action({*owner, *action});
  std::string title = rule.symbols.name({*owner, *action});
  if (symbol.callers == Callers::syncs) {
    rule.report.error(place_of(rule.file, next.action), "bad-next",
                      quoted(title) + " is called by syncs alone, so nobody can do it next",
                      "name an action that can be called, a view, or write a sentence");
  }
  std::vector<std::string> unknown;
  give_each(rule, next.arguments, symbol.params, title, "argument", unknown);
}

void check_next_of_variants(const Kit& kit, Symbols& symbols, const std::unordered_set<std::string>& absent,
                            Report& report) {
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    for (const ActionSymbol& action : symbols.concepts[c].actions) {
      std::string name = symbols.concepts[c].name + "/" + action.name;
      for (size_t v = 0; v < action.variants.size(); ++v) {
        const VariantSymbol& variant = action.variants[v];
        std::string title = name + " => " + variant.name;
        for (const Next& next : action.source->variants[v].next) {
          Rule rule(symbols, absent, report, symbols.concepts[c].source->file, "the next step of " + quoted(title));
          rule.clause = "next";
          std::vector<VariableSymbol> known;
          for (const auto* fields : {&variant.fields, &action.params}) {
            for (const FieldSymbol& field : *fields) {
              bool first = std::ranges::find(known, field.name, &VariableSymbol::name) == known.end();
              if (first) known.push_back({field.name, field.type});
            }
          }
          rule.adopt(known);
          bool misspelt = false;
          for (const Argument& each : next.arguments) tell_unknown(each.value, rule, title, name, misspelt);
          if (next.text) tell_unknown(*next.text, rule, title, name, misspelt);
          if (next.condition) tell_unknown(*next.condition, rule, title, name, misspelt);
          if (!misspelt) check_next(next, kit, rule);
        }
      }
    }
  }
}

}  // namespace sluice::lang
