// One guard: what it looks at, what it requires, and whether the variant with which it refuses is one that the actions
// it binds can end in.
//
// A guard `before` binds one action, or each of an alternation, which must declare the variant. A guard `over` a
// relation binds whatever action of that concept writes the relation: at least one action must declare the variant; for
// those that do not, the engine refuses with engine.refused.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

// A guard of every action could be judged against none of them.
void check_target(const Pattern& before, const Rule& rule) {
  for (const Name* name : {&before.concept_, &before.action}) {
    if (!name->text.starts_with('?')) continue;
    rule.report.error(
        place_of(rule.file, *name), "guard-target",
        "a guard names its concept and its action, but " + quoted(name->text) + " is a variable",
        "write `before { Concept/action: [ … ] }`, one guard an action, or guard the rows that they write "
        "with `over { Concept: { … } }`");
    return;
  }
}

// A variant with which the guard refuses.
struct Refusal {
  std::string title;
  std::vector<FieldSymbol> fields;
};

// Those of each action that the guard binds; none when there is no such variant.
std::vector<Refusal> refusals(const Guard& guard, const GuardSymbol& symbol, const Rule& rule) {
  const Symbols& symbols = rule.symbols;
  if (guard.engine) {
    if (guard.variant.text == "refused") return {{"engine.refused", engine_fields("refused")}};
    rule.report.error(place_of(guard.file, guard.variant), "guard-variant",
                      "a guard refuses with `engine.refused`, not with " + quoted("engine." + guard.variant.text),
                      "write `else engine.refused[ message: \"…\" ]`");
    return {};
  }
  std::vector<Refusal> found;
  std::vector<std::string> known;
  auto look_at = [&](const ActionSymbol& action, const std::string& name) {
    for (const VariantSymbol& each : action.variants) {
      known.push_back(each.name);
      if (each.name == guard.variant.text) found.push_back({name + " => " + each.name, each.fields});
    }
  };
  std::string nobody;
  for (ActionRef action : symbol.before ? symbol.before->bound() : std::vector<ActionRef>{}) {
    size_t before = found.size();
    look_at(symbols.action(action), symbols.name(action));
    if (found.size() > before) continue;
    found.clear();
    nobody = quoted(symbols.name(action)) + " has no variant ";
    break;
  }
  if (symbol.over) {
    const ConceptSymbol& owner = symbols.concepts[symbol.over->concept_];
    for (const ActionSymbol& action : owner.actions) {
      if (action.runs != Runs::query) look_at(action, owner.name + "/" + action.name);
    }
    nobody = "no action of " + quoted(owner.name) + " has a variant ";
  }
  if (found.empty() && !nobody.empty()) {
    std::string hint = near_name(guard.variant.text, known);
    rule.report.error(place_of(guard.file, guard.variant), "guard-variant", nobody + quoted(guard.variant.text),
                      hint.empty() ? "declare it, or write `else engine.refused[ message: \"…\" ]`" : hint);
  }
  return found;
}

// What `else` gives must suit each of the actions, as the engine takes it for whichever was refused.
void check_refusal(const Guard& guard, const Refusal& refusal, Rule& rule) {
  std::vector<std::string> unknown, missing;
  give_each(rule, guard.arguments, refusal.fields, refusal.title, "field", unknown);
  for (const FieldSymbol& field : refusal.fields) {
    bool given = std::ranges::find(guard.arguments, field.name, &Argument::name) != guard.arguments.end();
    bool needed = rule.types[field.type].kind != Shape::Kind::option;
    if (needed && !given) missing.push_back(field.name);
  }
  for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
    TypeId type = refusal.fields[*find_field(refusal.fields, name)].type;
    rule.report.error(place_of(guard.file, guard.variant), "missing-argument",
                      quoted(refusal.title) + " needs the field " + quoted(name + ": " + rule.types.name(type)),
                      "add " + quoted(name + ": ?" + name) + ", and bind it before `require`");
  }
}

}  // namespace

GuardSymbol check_guard(const Kit& kit, size_t index, Symbols& symbols, const std::unordered_set<std::string>& absent,
                        Report& report) {
  const Guard& guard = kit.guards[index].tree;
  GuardSymbol result{.guard = index};
  size_t errors = report.found.errors();
  Rule rule(symbols, absent, report, guard.file, "guard " + quoted(guard.name.text));
  Pattern opening;
  if (guard.before) {
    rule.clause = rule.opening = "before";
    check_target(*guard.before, rule);
    opening = *guard.before;
    opening.outcome = Pattern::Outcome::any;  // a guard looks at arguments alone
    opening.output.clear();
    result.before = rule.pattern(opening);
  }
  if (guard.over) {
    rule.clause = rule.opening = "over";
    result.over = rule.over = rule.query(*guard.over, false);
  }
  rule.clause = "where";
  for (const Condition& condition : guard.where) result.where.push_back(rule.condition(condition));
  rule.clause = "require";
  // What `require` finds is not there when it fails, so `else` sees only what was bound before it.
  std::vector<VariableSymbol> before = rule.variables;
  for (const Condition& condition : guard.require) result.require.push_back(rule.condition(condition));
  result.variables = rule.variables;
  Rule otherwise(symbols, absent, report, guard.file, rule.label);
  otherwise.clause = "else";
  otherwise.opening = rule.opening;
  otherwise.patterns = rule.patterns;
  otherwise.over = rule.over;
  otherwise.adopt(before);
  otherwise.once_each(guard.arguments, "field");
  std::vector<Refusal> all = refusals(guard, result, otherwise);
  for (const Refusal& each : all) check_refusal(guard, each, otherwise);
  if (all.empty()) {
    for (const Argument& argument : guard.arguments) otherwise.type_of(argument.value, Rule::In::then);
  }
  for (const Next& next : guard.next) check_next(next, kit, otherwise);
  if (report.found.errors() == errors) check_unused(guard, report);  // else a misspelt name is told of twice
  return result;
}

void mark_indexed(const Kit& kit, const std::vector<SyncSymbol>& syncs, const std::vector<GuardSymbol>& guards,
                  Symbols& symbols) {
  // A field is looked up by when it is matched with a literal or a variable that an earlier clause has bound; which
  // variables those are is told by the order in which they were bound, so it is enough to replay the names.
  std::unordered_set<std::string> bound;
  auto replay = [&](const std::vector<Condition>& conditions, const std::vector<std::optional<QuerySymbol>>& found) {
    for (size_t i = 0; i < conditions.size(); ++i) {
      if (found[i]) {
        RelationSymbol& rows = symbols.concepts[found[i]->concept_].relations[found[i]->relation];
        const Query& query = conditions[i].query;
        std::vector<std::string> fresh;
        for (size_t f = 0; f < query.fields.size(); ++f) {
          const Expr& match = query.fields[f].match;
          bool top = query.fields[f].field.find('.') == std::string::npos;
          bool known = match.op == Expr::Op::literal || (match.op == Expr::Op::variable && bound.contains(match.name));
          if (top && known) rows.indexed.insert(found[i]->fields[f]);
          if (match.op == Expr::Op::variable) fresh.push_back(match.name);
          if (query.fields[f].as) fresh.push_back(query.fields[f].as->text);
        }
        if (query.key) fresh.push_back(query.key->text);
        bound.insert(fresh.begin(), fresh.end());
      }
      for (const FieldPattern& field : conditions[i].fields) {
        if (field.match.op == Expr::Op::variable) bound.insert(field.match.name);
      }
      if (!conditions[i].name.empty()) bound.insert(conditions[i].name);
    }
  };
  auto take = [&](const std::vector<FieldPattern>& fields) {
    for (const FieldPattern& field : fields) {
      if (field.match.op == Expr::Op::variable) bound.insert(field.match.name);
    }
  };
  for (const SyncSymbol& symbol : syncs) {
    const Sync& sync = kit.syncs[symbol.sync].tree;
    bound.clear();
    for (const Pattern& pattern : sync.when) {
      take(pattern.input);
      take(pattern.output);
      if (pattern.as) bound.insert(pattern.as->text);
    }
    replay(sync.where, symbol.where);
  }
  for (const GuardSymbol& symbol : guards) {
    const Guard& guard = kit.guards[symbol.guard].tree;
    bound.clear();
    if (guard.before) take(guard.before->input);
    if (guard.over) {
      take(guard.over->fields);
      if (guard.over->key) bound.insert(guard.over->key->text);
    }
    replay(guard.where, symbol.where);
    replay(guard.require, symbol.require);
  }
}

}  // namespace sluice::lang
