// One sync: its patterns in order, then its conditions, then what it starts and answers.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

// Two plain patterns must be tied by a variable, a cause or a condition: else every pair in the flow matches.
void check_joins(const Sync& sync, Report& report) {
  std::vector<size_t> group(sync.when.size());
  for (size_t i = 0; i < group.size(); ++i) group[i] = i;
  auto root = [&](size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::unordered_map<std::string, size_t> seen;
  auto visit = [&](auto&& self, const Expr& expr, size_t pattern) -> void {
    if (expr.op == Expr::Op::variable) {
      auto [place, fresh] = seen.try_emplace(expr.name, pattern);
      if (!fresh) group[root(pattern)] = root(place->second);
    }
    for (const Expr& arg : expr.args) self(self, arg, pattern);
  };
  size_t above = 0;
  for (size_t i = 0; i < sync.when.size(); ++i) {
    for (const auto* fields : {&sync.when[i].input, &sync.when[i].output}) {
      for (const FieldPattern& field : *fields) visit(visit, field.match, i);
    }
    if (sync.when[i].link == Pattern::Link::plain) above = i;
    if (sync.when[i].link == Pattern::Link::caused_by) group[root(i)] = root(above);
  }
  // A condition that names variables of both ties them: a row, or a comparison.
  for (const Condition& condition : sync.where) {
    std::vector<std::string> names;
    auto gather = [&](auto&& self, const Expr& expr) -> void {
      if (expr.op == Expr::Op::variable) names.push_back(expr.name);
      for (const Expr& arg : expr.args) self(self, arg);
    };
    for (const Expr& expr : condition.exprs) gather(gather, expr);
    for (const FieldPattern& field : condition.fields) gather(gather, field.match);
    if (condition.kind == Condition::Kind::query) {
      if (condition.query.key) names.push_back(condition.query.key->text);
      for (const FieldPattern& field : condition.query.fields) gather(gather, field.match);
    }
    std::optional<size_t> first;
    for (const std::string& name : names) {
      auto found = seen.find(name);
      if (found == seen.end()) continue;
      if (first) group[root(found->second)] = root(*first);
      if (!first) first = found->second;
    }
    for (const std::string& name : names) {
      if (first) seen.try_emplace(name, *first);
    }
  }
  for (size_t i = 1; i < sync.when.size(); ++i) {
    if (sync.when[i].link != Pattern::Link::plain || root(i) == root(0)) continue;
    const Pattern& first = sync.when[0];
    const Pattern& second = sync.when[i];
    std::string one = first.concept_.text + "/" + first.action_text();
    std::string other = second.concept_.text + "/" + second.action_text();
    report.warning({sync.file, second.at, other.size()}, "join-without-key",
                   "sync " + quoted(sync.name.text) + " joins " + quoted(one) + " with every " + quoted(other) +
                       " of the flow: they share no variable and neither causes the other",
                   "write " + quoted("caused by " + other + ": …") + ", or match a field of both with one variable");
    return;
  }
}

// What one condition of a where names, and whether it has a value to look for.
struct Ties {
  std::vector<std::string> names;
  bool narrows = false;

  void add(const Expr& expr) {
    if (expr.op == Expr::Op::variable) names.push_back(expr.name);
    if (expr.op == Expr::Op::literal) narrows = true;
    for (const Expr& arg : expr.args) add(arg);
  }
  void add(const std::vector<FieldPattern>& fields) {
    for (const FieldPattern& field : fields) {
      add(field.match);
      if (field.as) names.push_back(field.as->text);
    }
  }
};

Ties ties_of(const Condition& condition) {
  Ties ties;
  for (const Expr& expr : condition.exprs) ties.add(expr);
  ties.add(condition.fields);
  bool of_rows = condition.kind == Condition::Kind::query || condition.kind == Condition::Kind::no;
  if (of_rows) {
    if (condition.query.key) ties.names.push_back(condition.query.key->text);
    ties.add(condition.query.fields);
  } else if (condition.kind == Condition::Kind::bind) {
    ties.narrows = ties.names.empty();  // a name for what is known; of a row it lets every one through
    ties.names.push_back(condition.name);
  } else if (condition.kind != Condition::Kind::each) {
    ties.narrows = true;
  }
  if (condition.kind == Condition::Kind::no) ties.narrows = true;
  return ties;
}

// Which variables of a where are tied to one another: a condition that names a tied one ties all that it names, and so
// on. Each condition is looked at once, however many there are.
class TiedNames {
 public:
  explicit TiedNames(const std::vector<Ties>& ties) : ties_(ties), done_(ties.size()) {
    for (size_t i = 0; i < ties.size(); ++i) {
      for (const std::string& name : ties[i].names) conditions_[name].push_back(i);
    }
    for (size_t i = 0; i < ties.size(); ++i) {
      if (ties[i].narrows) tie(i);
    }
  }

  void tie(const std::string& name) {
    std::vector<std::string_view> fresh;
    if (tied_.insert(name).second) fresh.push_back(name);
    spread(std::move(fresh));
  }
  // What the condition names.
  void tie(size_t condition) {
    std::vector<std::string_view> fresh;
    take(condition, fresh);
    spread(std::move(fresh));
  }
  bool holds(size_t condition) const {
    return ties_[condition].narrows ||
           std::ranges::any_of(ties_[condition].names, [&](const std::string& name) { return tied_.contains(name); });
  }

 private:
  void take(size_t condition, std::vector<std::string_view>& fresh) {
    if (done_[condition]) return;
    done_[condition] = true;
    for (const std::string& name : ties_[condition].names) {
      if (tied_.insert(name).second) fresh.push_back(name);
    }
  }
  void spread(std::vector<std::string_view> fresh) {
    while (!fresh.empty()) {
      auto named = conditions_.find(fresh.back());
      fresh.pop_back();
      if (named == conditions_.end()) continue;
      for (size_t condition : named->second) take(condition, fresh);
    }
  }

  const std::vector<Ties>& ties_;
  std::vector<bool> done_;
  std::unordered_map<std::string_view, std::vector<size_t>> conditions_;  // by a name that they name
  std::unordered_set<std::string_view> tied_;
};

// A query must be tied to what stands before it, by a variable, a value or a condition: else every row matches. Where
// nothing before it has bound a variable there is nothing to tie it to, and every row is meant; so it is where a
// concept has one record of the whole.
void check_scans(const Sync& sync, const SyncSymbol& symbol, const Rule& rule, size_t bound_in_when) {
  std::vector<Ties> ties;
  for (const Condition& condition : sync.where) ties.push_back(ties_of(condition));
  TiedNames tied(ties);
  for (size_t i = 0; i < bound_in_when; ++i) tied.tie(rule.variables[i].name);
  bool bound = bound_in_when > 0;
  for (size_t i = 0; i < ties.size(); ++i) {
    const Query& query = sync.where[i].query;
    bool scans = sync.where[i].kind == Condition::Kind::query && symbol.where[i] && !tied.holds(i) && bound;
    const RelationSymbol* rows =
        scans ? &rule.symbols.concepts[symbol.where[i]->concept_].relations[symbol.where[i]->relation] : nullptr;
    if (rows && (rows->keyed || !rows->name.empty())) {
      std::string title = query.concept_.text + (query.relation ? "." + query.relation->text : "");
      rule.report.warning({sync.file, query.at, title.size()}, "join-without-key",
                          rule.label + " takes every row of " + quoted(title) +
                              ": the query shares no variable with what stands before it, and has no value to look for",
                          "match its key or a field with a variable that is bound already, or with a value");
    }
    bound = bound || !ties[i].names.empty();
    tied.tie(i);
  }
}

std::vector<TargetSymbol> check_invocation(const Effect& effect, Rule& rule) {
  std::vector<TargetSymbol> targets;
  rule.once_each(effect.arguments, "argument");
  std::vector<Name> owners = {effect.concept_};
  if (effect.concept_.text.starts_with('?')) {
    owners = effect.candidates;
    std::string variable = effect.concept_.text.substr(1);
    if (!rule.is_bound(variable)) {
      rule.unbound(place_of(rule.file, effect.concept_), variable, Types::of(Kind::string), {});
    } else if (rule.symbols.types.assignable(rule.variable_type(variable), Types::of(Kind::string)) == Fit::no) {
      rule.report.error(place_of(rule.file, effect.concept_), "type-mismatch",
                        quoted(effect.concept_.text) + " is " + rule.symbols.types.name(rule.variable_type(variable)) +
                            ", not the name of a concept",
                        "bind it to a String that holds one of the candidates' names");
    }
    for (auto name = owners.begin(); name != owners.end(); ++name) {
      if (std::ranges::find(owners.begin(), name, name->text, &Name::text) == name) continue;
      rule.report.error(place_of(rule.file, *name), "duplicate", "a second candidate " + quoted(name->text),
                        "remove one");
    }
    const Shape& named = rule.types[rule.types.present(rule.variable_type(variable))];
    for (const Name& name : owners) {
      if (named.kind != Kind::literals || std::ranges::find(named.names, name.text) != named.names.end()) continue;
      rule.report.error(place_of(rule.file, name), "type-mismatch",
                        quoted(effect.concept_.text) + " is " + rule.types.name(rule.variable_type(variable)) +
                            ", and never names " + quoted(name.text),
                        "leave the candidate out, or bind the variable to a String that holds its name");
    }
    // A candidate that is not loaded cannot be meant; the others can.
    bool some = std::ranges::any_of(owners, [&](const Name& name) { return !rule.absent.contains(name.text); });
    if (some) std::erase_if(owners, [&](const Name& name) { return rule.absent.contains(name.text); });
  }
  size_t told = rule.report.told();
  for (const Name& name : owners) {
    auto owner = rule.concept_named(name);
    auto action = owner ? rule.action_named(*owner, effect.action) : std::nullopt;
    if (!action) continue;
    TargetSymbol target{.action = {*owner, *action}};
    const ActionSymbol& symbol = rule.symbols.action(target.action);
    std::string title = rule.symbols.name(target.action);
    if (symbol.runs == Runs::query) {
      rule.report.warning(place_of(rule.file, effect.action), "query-started",
                          quoted(title) + " is a query: it changes nothing and nothing can follow from it",
                          "start an action that changes something, or leave it out");
    }
    std::vector<std::string> unknown;
    target.fields = give_each(rule, effect.arguments, symbol.params, title, "argument", unknown);
    std::vector<std::string> missing;
    for (const FieldSymbol& param : symbol.params) {
      bool given = std::ranges::any_of(effect.arguments, [&](const Argument& each) { return each.name == param.name; });
      if (!given && rule.symbols.types[param.type].kind != Kind::option) missing.push_back(param.name);
    }
    for (const std::string& name : without_misspelt(std::move(missing), unknown)) {
      TypeId type = symbol.params[*find_field(symbol.params, name)].type;
      rule.report.error(place_of(rule.file, effect.action), "missing-argument",
                        quoted(title) + " needs the argument " + quoted(name + ": " + rule.symbols.types.name(type)),
                        "add " + quoted(name + ": ?" + name) + ", and bind it");
    }
    targets.push_back(std::move(target));
  }
  if (targets.empty() && rule.report.told() > told) {
    for (const Argument& argument : effect.arguments) rule.type_of(argument.value, Rule::In::then);
  }
  return targets;
}

std::vector<TargetSymbol> check_answer(const Effect& effect, Rule& rule) {
  std::vector<TargetSymbol> targets;
  rule.once_each(effect.arguments, "field");
  const Symbols& symbols = rule.symbols;
  auto check_arguments = [&] {
    for (const Argument& argument : effect.arguments) rule.type_of(argument.value, Rule::In::then);
  };
  if (!effect.request) return targets;
  const std::string& name = effect.request->text;
  if (!rule.is_bound(name)) {
    rule.unbound(place_of_variable(rule.file, *effect.request), name, Types::of(Kind::request), {},
                 effect.variant.text);
    check_arguments();
    return targets;
  }
  TypeId type = rule.variable_type(name);
  if (symbols.types[type].kind != Kind::request) {
    if (type != kUnknownType) {
      rule.report.error(place_of_variable(rule.file, *effect.request), "bad-answer",
                        "only a Request can be answered, but " + quoted("?" + name) + " is " + symbols.types.name(type),
                        "bind it with " + quoted("=> requested as ?" + name));
    }
    check_arguments();
    return targets;
  }
  const std::vector<ActionRef>& asked = *rule.requests(name);
  std::vector<std::string> variants;
  for (ActionRef ref : asked) {
    const ActionSymbol& action = symbols.action(ref);
    for (const VariantSymbol& variant : action.variants) variants.push_back(variant.name);
    auto variant = find_variant(action, effect.variant.text);
    if (variant) targets.push_back({.action = ref, .variant = *variant});
    if (variant || !rule.is_each_answered(name)) continue;
    rule.report.error(place_of(rule.file, effect.variant), "unknown-variant",
                      quoted(symbols.name(ref)) + " has no variant " + quoted(effect.variant.text),
                      did_you_mean(effect.variant.text, names_of(action.variants)));
  }
  if (targets.empty()) {
    if (!asked.empty()) {
      std::string who = asked.size() == 1 ? quoted(symbols.name(asked[0]))
                                          : "no answered action that " + quoted("?" + name) + " may stand for";
      rule.report.error(
          place_of(rule.file, effect.variant), "unknown-variant",
          who + (asked.size() == 1 ? " has no variant " : " has a variant ") + quoted(effect.variant.text),
          did_you_mean(effect.variant.text, variants));
    } else {
      rule.report.error(place_of_variable(rule.file, *effect.request), "not-answered",
                        "no action of this kit is answered", "declare an action `runs: answered`");
    }
    check_arguments();
    return targets;
  }
  // Of several actions that a request from state may be, those count that have all the fields.
  auto has_all = [&](const TargetSymbol& target) {
    const auto& fields = symbols.action(target.action).variants[target.variant].fields;
    return std::ranges::all_of(effect.arguments,
                               [&](const Argument& each) { return find_field(fields, each.name).has_value(); });
  };
  if (!rule.is_each_answered(name) && std::ranges::any_of(targets, has_all))
    std::erase_if(targets, [&](const TargetSymbol& each) { return !has_all(each); });
  for (TargetSymbol& target : targets) {
    const VariantSymbol& variant = symbols.action(target.action).variants[target.variant];
    std::vector<std::string> unknown;
    target.fields = give_each(rule, effect.arguments, variant.fields,
                              symbols.name(target.action) + " => " + variant.name, "field", unknown);
  }
  return targets;
}

// A request ends once.
void check_answers_once(const Sync& sync, Report& report) {
  std::unordered_set<std::string> answered;
  for (const Effect& effect : sync.then) {
    if (effect.kind != Effect::Kind::answer || !effect.request || answered.insert(effect.request->text).second)
      continue;
    report.error(place_of_variable(sync.file, *effect.request), "duplicate",
                 "a second answer to " + quoted("?" + effect.request->text) + ", which the first has ended",
                 "keep one; what decides between them is the where of two syncs");
  }
}

void check_retry(const Sync& sync, const SyncSymbol& symbol, const Symbols& symbols, Report& report) {
  for (const Name& name : sync.retry_variants) {
    if (name.text == "ok") {
      report.error(place_of(sync.file, name), "annotation-conflict", "`ok` means done: it is never repeated",
                   "name the variants after which it is tried again");
      continue;
    }
    std::vector<std::string> known;
    bool found = false;
    for (size_t i = 0; i < sync.then.size(); ++i) {
      if (sync.then[i].kind != Effect::Kind::invoke) continue;
      for (const TargetSymbol& target : symbol.then[i]) {
        found = found || find_variant(symbols.action(target.action), name.text);
        for (const std::string& each : names_of(symbols.action(target.action).variants)) known.push_back(each);
      }
    }
    if (found || known.empty()) continue;
    report.error(place_of(sync.file, name), "unknown-variant",
                 "nothing that this sync starts has a variant " + quoted(name.text), did_you_mean(name.text, known));
  }
}

}  // namespace

SyncSymbol check_sync(const Kit& kit, size_t index, Symbols& symbols, const std::unordered_set<std::string>& absent,
                      Report& report) {
  const Sync& sync = kit.syncs[index].tree;
  SyncSymbol result{.sync = index};
  size_t errors = report.found.errors();
  Rule rule(symbols, absent, report, sync.file, "sync " + quoted(sync.name.text));
  for (const Pattern& pattern : sync.when) result.when.push_back(rule.pattern(pattern));
  size_t bound_in_when = rule.variables.size();
  rule.clause = "where";
  for (const Condition& condition : sync.where) result.where.push_back(rule.condition(condition));
  rule.clause = "then";
  for (const Effect& effect : sync.then) {
    result.then.push_back(effect.kind == Effect::Kind::invoke ? check_invocation(effect, rule)
                                                              : check_answer(effect, rule));
  }
  check_joins(sync, report);
  bool sound = report.found.errors() == errors;  // else a misspelt name is told of twice
  if (sound) check_scans(sync, result, rule, bound_in_when);
  if (sound) check_unused(sync, report);
  check_retry(sync, result, symbols, report);
  check_answers_once(sync, report);
  result.variables = std::move(rule.variables);
  return result;
}

}  // namespace sluice::lang
