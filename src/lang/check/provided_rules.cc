// First each provider by itself, then what one provider maps and another does not.
#include "lang/check/provided_rules.h"

#include <algorithm>
#include <map>
#include <set>

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

constexpr std::string_view kRow = "row";
constexpr std::string_view kAsk = "ask";

constexpr std::string_view kEveryEngineOutcome[] = {"fault",      "unavailable", "timeout",       "unknown",
                                                    "unanswered", "refused",     "denied",        "conflict",
                                                    "cancelled",  "limit",       "needsMigration"};

Expr variable_at(const At& at, std::string name) {
  return {.at = at, .op = Expr::Op::variable, .name = std::move(name)};
}

// One rule in the making: on the request alone, or on the provider's completion and the request that caused it.
class Draft {
 public:
  Draft(const Symbols& symbols, Report& report, const Concept& provider, At at, ActionRef asked, std::string name)
      : symbols_(symbols), report_(report), asked_(asked) {
    sync_.file = provider.file;
    sync_.at = sync_.when_at = sync_.where_at = sync_.then_at = sync_.purpose_at = at;
    sync_.name = {at, std::move(name)};
    sync_.annotations = {{at, "eager"}};
    request_.at = at;
    request_.concept_ = {at, symbols.concepts[asked.concept_].name};
    request_.action = {at, action().name};
    request_.outcome = Pattern::Outcome::requested;
  }

  const ActionSymbol& action() const { return symbols_.action(asked_); }
  At at() const { return sync_.at; }

  // The rule is on this completion; without a variant on every engine outcome.
  void completes(ActionRef own, const std::optional<Name>& variant) {
    completion_.emplace();
    completion_->at = at();
    completion_->concept_ = {at(), symbols_.concepts[own.concept_].name};
    completion_->action = {at(), symbols_.action(own).name};
    if (variant) {
      completion_->variant = *variant;
      ended_ = symbols_.action(own).variants[*find_variant(symbols_.action(own), variant->text)].fields;
    } else {
      completion_->outcome = Pattern::Outcome::engine;
      for (std::string_view name : kEveryEngineOutcome)
        completion_->other_variants.push_back({at(), std::string(name)});
      completion_->variant = completion_->other_variants.front();
      completion_->other_variants.erase(completion_->other_variants.begin());
      ended_ = engine_fields("fault");
    }
    request_.link = Pattern::Link::caused_by;
    title_ = symbols_.name(own) + " => " + (variant ? variant->text : "engine.…");
  }

  // Only requests with this value of an argument are meant, or with this value in the row of an argument.
  void route_by_argument(const std::string& field, const std::string& kind) {
    fixed_ = field;
    FieldPattern pattern{.at = at(), .field = field};
    pattern.match.at = at();
    pattern.match.value = json::string(kind);
    request_.input.push_back(std::move(pattern));
  }
  void route_by_row(const std::string& argument, const std::string& field, const std::string& kind) {
    Query query{.at = at(), .concept_ = request_.concept_};
    query.key = Name{at(), taken_from_request(argument)};
    query.fields.push_back({.at = at(), .field = field});
    query.fields[0].match.at = at();
    query.fields[0].match.value = json::string(kind);
    where(std::move(query));
  }

  // The values that are given, with fields in the place of bare names, then by name what is not.
  std::vector<Argument> fill(const std::vector<Argument>& given, const std::vector<FieldSymbol>& wanted) {
    std::vector<Argument> arguments = given;
    for (Argument& each : arguments) resolve(each.value);
    for (const FieldSymbol& field : wanted) {
      if (std::ranges::find(given, field.name, &Argument::name) != given.end()) continue;
      std::string name;
      if (can_take(ended_, field)) {
        name = taken_from_completion(field.name);
      } else if (can_take(action().params, field)) {
        name = taken_from_request(field.name);
      } else {
        continue;
      }
      arguments.push_back({at(), field.name, variable_at(at(), name)});
      if (field.name == fixed_ && !completion_) arguments.back().value = request_.input[0].match;
    }
    return arguments;
  }

  void invoke(ActionRef target, std::vector<Argument> arguments) {
    Effect effect{.at = at(), .arguments = std::move(arguments)};
    effect.concept_ = {at(), symbols_.concepts[target.concept_].name};
    effect.action = {at(), symbols_.action(target).name};
    sync_.then.push_back(std::move(effect));
  }
  void answer(const Name& variant, std::vector<Argument> fields) {
    request_.as = Name{at(), std::string(kAsk)};
    sync_.then.push_back({.at = at(),
                          .kind = Effect::Kind::answer,
                          .request = request_.as,
                          .variant = variant,
                          .arguments = std::move(fields)});
  }

  // Nothing if a name of it led nowhere, which is told.
  std::optional<Sync> done() {
    if (faulty_) return std::nullopt;
    if (completion_) sync_.when.push_back(std::move(*completion_));
    sync_.when.push_back(std::move(request_));
    return std::move(sync_);
  }

 private:
  bool can_take(const std::vector<FieldSymbol>& from, const FieldSymbol& to) const {
    auto field = find_field(from, to.name);
    return field && symbols_.types.assignable(from[*field].type, to.type) != Fit::no;
  }

  std::string take(std::vector<FieldPattern>& into, const std::vector<FieldSymbol>& fields, const std::string& field,
                   std::string name) {
    auto known = std::ranges::find(into, field, &FieldPattern::field);
    if (known != into.end()) return known->match.name;
    FieldPattern pattern{.at = at(), .field = field, .match = variable_at(at(), name)};
    pattern.match.maybe = symbols_.types[fields[*find_field(fields, field)].type].kind == Kind::option;
    into.push_back(std::move(pattern));
    return name;
  }
  std::string taken_from_completion(const std::string& field) {
    return take(completion_->output, ended_, field, field == kAsk || field == kRow ? field + "_" : field);
  }
  std::string taken_from_request(const std::string& field) {
    bool other = find_field(ended_, field).has_value() || field == kAsk || field == kRow;
    return take(request_.input, action().params, field, other ? "asked_" + field : field);
  }

  void where(Query query) {
    Condition condition{.at = at(), .kind = Condition::Kind::query, .query = std::move(query)};
    if (std::ranges::find(sync_.where, condition) == sync_.where.end()) sync_.where.push_back(std::move(condition));
  }

  // Bare names are fields.
  void resolve(Expr& value) {
    for (Expr& part : value.args) resolve(part);
    if (value.op != Expr::Op::variable) return;
    if (value.name == kRow) {
      take_row(value);
    } else if (find_field(ended_, value.name)) {
      value.name = taken_from_completion(value.name);
    } else if (value.name == fixed_ && !completion_) {
      value = request_.input[0].match;
    } else if (find_field(action().params, value.name)) {
      value.name = taken_from_request(value.name);
    } else {
      faulty_ = true;
      std::vector<std::string> known = names_of(ended_);
      for (const std::string& each : names_of(action().params)) known.push_back(each);
      report_.error({sync_.file, value.at, value.name.size()}, "unknown-field",
                    quoted(value.name) + " is no field of " + (title_.empty() ? "" : quoted(title_) + ", nor of ") +
                        "the request " + quoted(symbols_.name(asked_)),
                    did_you_mean(value.name, known));
    }
  }

  // The row with a field that is the request.
  void take_row(const Expr& value) {
    for (const RelationSymbol& rows : symbols_.concepts[asked_.concept_].relations) {
      if (!rows.name.empty() || !rows.keyed) continue;
      for (const FieldSymbol& field : rows.fields) {
        if (symbols_.types[symbols_.types.present(field.type)].kind != Kind::request) continue;
        request_.as = Name{at(), std::string(kAsk)};
        Query query{.at = at(), .concept_ = request_.concept_, .key = Name{at(), std::string(kRow)}};
        query.fields.push_back({.at = at(), .field = field.name, .match = variable_at(at(), std::string(kAsk))});
        where(std::move(query));
        return;
      }
    }
    faulty_ = true;
    report_.error({sync_.file, value.at, kRow.size()}, "no-row",
                  "no row of " + quoted(request_.concept_.text) + " keeps the request that it is busy with",
                  "add a field of type `option Request` to it, or name the row by an argument");
  }

  const Symbols& symbols_;
  Report& report_;
  ActionRef asked_;
  Sync sync_;
  Pattern request_;
  std::optional<Pattern> completion_;
  std::vector<FieldSymbol> ended_;
  std::string title_;
  bool faulty_ = false;
  std::string fixed_;  // the argument that is known to be the provider's kind
};

class ProvidedRules {
 public:
  ProvidedRules(Kit& kit, const Symbols& symbols, Report& report) : kit_(kit), symbols_(symbols), report_(report) {}

  void add() {
    for (const KitSync& each : kit_.syncs) {
      if (each.is_there()) written_.insert(each.tree.name.text);
    }
    std::vector<KitSync> found;
    for (const KitConcept& each : kit_.concepts) {
      check_routed_by(each.tree);
      for (const Provides& provides : each.tree.provides) add(each, provides, found);
    }
    for (KitSync& each : found) kit_.syncs.push_back(std::move(each));
    tell_unprovided();
  }

 private:
  void check_routed_by(const Concept& tree) {
    auto number = symbols_.find_concept(tree.name);
    if (!tree.routed_by || !number) return;
    const std::string& name = tree.routed_by->text;
    const ConceptSymbol& owner = symbols_.concepts[*number];
    std::vector<std::string> known;
    for (const ActionSymbol& action : owner.actions) {
      for (const std::string& each : names_of(action.params)) known.push_back(each);
    }
    for (const RelationSymbol& rows : owner.relations) {
      for (const std::string& each : names_of(rows.fields)) known.push_back(each);
    }
    if (std::ranges::find(known, name) != known.end()) return;
    report_.error(place_of(tree.file, *tree.routed_by), "unknown-field",
                  quoted(tree.name) + " has neither an argument nor a field " + quoted(name),
                  did_you_mean(name, known));
  }

  struct Provider {
    const KitConcept* concept_;
    const Provides* provides;
    size_t coordination;
    std::set<size_t> actions;  // that it maps
  };

  bool is_elsewhere(const std::string& name) const {
    auto named = [&](const AbsentConcept& each) { return each.name == name; };
    return std::ranges::any_of(kit_.absent, named) || std::ranges::find(kit_.broken, name) != kit_.broken.end();
  }

  void add(const KitConcept& provider, const Provides& provides, std::vector<KitSync>& into) {
    const Concept& tree = provider.tree;
    Place place = place_of(tree.file, provides.concept_);
    auto coordination = symbols_.find_concept(provides.concept_.text);
    auto self = symbols_.find_concept(tree.name);
    if (!coordination || !self) {
      if (is_elsewhere(provides.concept_.text)) return;  // without it there is nothing to route
      std::vector<std::string> names;
      for (const ConceptSymbol& each : symbols_.concepts) names.push_back(each.name);
      report_.error(place, "unknown-concept", "there is no concept " + quoted(provides.concept_.text),
                    did_you_mean(provides.concept_.text, names));
      return;
    }
    const Concept& asked = *symbols_.concepts[*coordination].source;
    if (tree.kind.empty()) {
      report_.error(place, "not-routed",
                    quoted(tree.name) + " provides " + quoted(asked.name) + ", but has no kind by which it is chosen",
                    "write `kind: \"…\"` in it");
      return;
    }
    if (!asked.routed_by) {
      report_.error(place, "not-routed", quoted(asked.name) + " does not say by what its requests are routed",
                    "write `routed by: field` in it, the argument or the field that names a provider's kind");
      return;
    }
    auto [first, fresh] = kinds_.try_emplace({*coordination, tree.kind}, tree.name);
    if (!fresh) {
      report_.error({tree.file, tree.kind_at, 4}, "same-kind",
                    quoted(first->second) + " and " + quoted(tree.name) + " both provide " + quoted(asked.name) +
                        " for the kind " + literal_text(json::value(tree.kind)),
                    "give one of them another kind, or load one of them");
      return;
    }
    providers_.push_back({&provider, &provides, *coordination, {}});
    for (const ProvidedAction& each : provides.actions) add(provider, *self, *coordination, each, into);
  }

  void add(const KitConcept& provider, size_t self, size_t coordination, const ProvidedAction& mapped,
           std::vector<KitSync>& into) {
    const Concept& tree = provider.tree;
    auto unknown = [&](const Name& name, size_t owner, const std::vector<std::string>& known, std::string_view what) {
      report_.error(place_of(tree.file, name), what == "action" ? "unknown-action" : "unknown-variant",
                    quoted(symbols_.concepts[owner].name) + " has no " + std::string(what) + " " + quoted(name.text),
                    did_you_mean(name.text, known));
    };
    auto number = symbols_.find_action(coordination, mapped.action.text);
    if (!number)
      return unknown(mapped.action, coordination, names_of(symbols_.concepts[coordination].actions), "action");
    ActionRef asked{coordination, *number};
    if (!symbols_.action(asked).is_answered()) {
      report_.error(place_of(tree.file, mapped.action), "not-answered",
                    quoted(symbols_.name(asked)) + " is not answered, so no provider does its work",
                    "declare it `runs: answered`, or take it out");
      return;
    }
    if (!providers_.back().actions.insert(asked.action).second) {
      report_.error(place_of(tree.file, mapped.action), "duplicate", "a second " + quoted(mapped.action.text),
                    "keep one");
      return;
    }
    std::string name = tree.name + "." + mapped.action.text;
    Draft route(symbols_, report_, tree, mapped.at, asked, name);
    if (!route_to(provider, asked, mapped, route)) return;
    if (mapped.at_once) {
      auto variant = find_variant(symbols_.action(asked), mapped.target.text);
      if (!variant) {
        report_.error(place_of(tree.file, mapped.target), "unknown-variant",
                      quoted(symbols_.name(asked)) + " has no variant " + quoted(mapped.target.text),
                      symbols_.find_action(self, mapped.target.text)
                          ? "write `{ … }` behind an action, with what its variants stand for"
                          : did_you_mean(mapped.target.text, names_of(symbols_.action(asked).variants)));
        return;
      }
      route.answer(mapped.target, route.fill(mapped.arguments, symbols_.action(asked).variants[*variant].fields));
      return add(provider, route.done(), into);
    }
    auto own = symbols_.find_action(self, mapped.target.text);
    if (!own) return unknown(mapped.target, self, names_of(symbols_.concepts[self].actions), "action");
    ActionRef target{self, *own};
    route.invoke(target, route.fill(mapped.arguments, symbols_.action(target).params));
    add(provider, route.done(), into);
    add_answers(provider, asked, target, mapped, name, into);
  }

  // How it is told that a request is this provider's.
  bool route_to(const KitConcept& provider, ActionRef asked, const ProvidedAction& mapped, Draft& route) {
    const ConceptSymbol& owner = symbols_.concepts[asked.concept_];
    const std::string& field = owner.source->routed_by->text;
    const ActionSymbol& action = symbols_.action(asked);
    if (find_field(action.params, field)) {
      route.route_by_argument(field, provider.tree.kind);
      return true;
    }
    for (const FieldSymbol& param : action.params) {
      const Shape& shape = symbols_.types[param.type];
      if (shape.kind != Kind::parameter || shape.owner != owner.name) continue;
      for (const RelationSymbol& rows : owner.relations) {
        if (!rows.name.empty() || !rows.keyed || rows.key != param.type || !find_field(rows.fields, field)) continue;
        route.route_by_row(param.name, field, provider.tree.kind);
        return true;
      }
      break;
    }
    report_.error(place_of(provider.tree.file, mapped.action), "not-routed",
                  quoted(symbols_.name(asked)) + " has neither an argument " + quoted(field) +
                      " nor one that leads to a row with that field",
                  "add one of them, or take the action out");
    return false;
  }

  void add_answers(const KitConcept& provider, ActionRef asked, ActionRef target, const ProvidedAction& mapped,
                   const std::string& name, std::vector<KitSync>& into) {
    const std::string& file = provider.tree.file;
    const ActionSymbol& own = symbols_.action(target);
    const ActionSymbol& action = symbols_.action(asked);
    std::set<std::string> seen;
    bool otherwise = false;
    auto answer = [&](const ProvidedVariant& mapping, const std::optional<Name>& from) {
      Name to = mapping.to ? *mapping.to : *from;
      auto variant = find_variant(action, to.text);
      if (!variant) {
        report_.error(
            place_of(file, to), "unknown-variant", quoted(symbols_.name(asked)) + " has no variant " + quoted(to.text),
            mapping.to ? did_you_mean(to.text, names_of(action.variants)) : "write " + quoted(to.text + " -> variant"));
        return;
      }
      At at = from ? from->at : mapping.at;
      Draft draft(symbols_, report_, provider.tree, at, asked, name + "." + (from ? from->text : "else"));
      draft.completes(target, from);
      draft.answer(to, draft.fill(mapping.fields, action.variants[*variant].fields));
      add(provider, draft.done(), into);
    };
    for (const ProvidedVariant& mapping : mapped.variants) {
      if (mapping.from.empty()) {
        if (otherwise) report_.error({file, mapping.at, 4}, "duplicate", "a second `else`", "keep one");
        if (!otherwise) answer(mapping, std::nullopt);
        otherwise = true;
      }
      for (const Name& from : mapping.from) {
        if (!find_variant(own, from.text)) {
          report_.error(place_of(file, from), "unknown-variant",
                        quoted(symbols_.name(target)) + " has no variant " + quoted(from.text),
                        did_you_mean(from.text, names_of(own.variants)));
        } else if (!seen.insert(from.text).second) {
          report_.error(place_of(file, from), "duplicate", "a second " + quoted(from.text), "keep one");
        } else {
          answer(mapping, from);
        }
      }
    }
    std::vector<std::string> missing;
    for (const VariantSymbol& variant : own.variants) {
      if (!seen.contains(variant.name)) missing.push_back(variant.name);
    }
    if (missing.empty()) return;
    std::vector<std::string> words;
    for (const std::string& each : missing) words.push_back(quoted(each));
    report_.error(place_of(file, mapped.target), "unmapped-variant",
                  join(words) + " of " + quoted(symbols_.name(target)) + (words.size() == 1 ? " stands" : " stand") +
                      " for no variant of " + quoted(symbols_.name(asked)),
                  "write " + quoted(missing[0] + " -> variant[ … ]") + " in the braces");
  }

  void add(const KitConcept& provider, std::optional<Sync> sync, std::vector<KitSync>& into) {
    if (!sync) return;
    if (written_.contains(sync->name.text)) {
      report_.error({sync->file, sync->at, 1}, "duplicate", "a second sync " + quoted(sync->name.text),
                    "give the written one another name");
      return;
    }
    std::string name = sync->name.text;
    into.push_back({.tree = *std::move(sync), .tier = Tier::integration, .alias = name, .kit = provider.kit});
    into.back().derived = true;
  }

  // What one provider does for a coordination concept and another, which is loaded too, does not.
  void tell_unprovided() {
    std::set<ActionRef> taken;  // by written rules
    for (const KitSync& each : kit_.syncs) {
      if (each.derived || !each.active()) continue;
      for (const Pattern& pattern : each.tree.when) {
        if (pattern.outcome != Pattern::Outcome::requested || pattern.link != Pattern::Link::plain) continue;
        auto owner = symbols_.find_concept(pattern.concept_.text);
        for (const Name& name : pattern.actions()) {
          if (auto action = owner ? symbols_.find_action(*owner, name.text) : std::nullopt)
            taken.insert({*owner, *action});
        }
      }
    }
    for (const Provider& one : providers_) {
      std::set<size_t> others;
      for (const Provider& each : providers_) {
        if (each.coordination == one.coordination) others.insert(each.actions.begin(), each.actions.end());
      }
      for (size_t action : others) {
        ActionRef ref{one.coordination, action};
        if (one.actions.contains(action) || taken.contains(ref)) continue;
        report_.warning(place_of(one.concept_->tree.file, one.provides->concept_), "no-answer",
                        "nothing answers " + quoted(symbols_.name(ref)) + " of the kind " +
                            literal_text(json::value(one.concept_->tree.kind)) +
                            ": every such request ends in "
                            "engine.unanswered",
                        "write " + quoted(symbols_.action(ref).name + " -> …") +
                            ", an action or the variant that says "
                            "that it cannot be done");
      }
    }
  }

  Kit& kit_;
  const Symbols& symbols_;
  Report& report_;
  std::set<std::string> written_;
  std::map<std::pair<size_t, std::string>, std::string> kinds_;  // the provider
  std::vector<Provider> providers_;
};

}  // namespace

void add_provided_rules(Kit& kit, const Symbols& symbols, Report& report) { ProvidedRules(kit, symbols, report).add(); }

}  // namespace sluice::lang
