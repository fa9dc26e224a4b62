// Patterns of records. A pattern may match several things: with a variable for its concept or action every such action,
// without a variant every variant that has its fields. It is judged against all of them: what none of them has is an
// error, and a field has the type for which the values of each may be given.
#include <algorithm>
#include <list>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

bool is_variable(const Name& name) { return name.text.starts_with('?'); }

// What a pattern can match, as a message names it.
std::string title_of(const Pattern& tree) {
  if (!tree.other_actions.empty()) return quoted(tree.concept_.text + "/" + tree.action_text());
  if (is_variable(tree.concept_) && is_variable(tree.action)) return "any action";
  if (is_variable(tree.concept_)) return "any action " + quoted(tree.action.text);
  return "any action of " + quoted(tree.concept_.text);
}

// A variant of an action that a pattern can match.
struct CandidateVariant {
  ActionRef action;
  size_t variant;
};

bool has_all(const std::vector<FieldSymbol>& fields, const std::vector<FieldPattern>& named) {
  return std::ranges::all_of(named,
                             [&](const FieldPattern& each) { return find_field(fields, each.field).has_value(); });
}

}  // namespace

std::vector<FieldSymbol> engine_fields(std::string_view outcome) {
  TypeId text = Types::of(Kind::string), number = Types::of(Kind::integer);
  std::vector<FieldSymbol> fields = {{"message", text, {}}};
  auto add = [&](std::initializer_list<FieldSymbol> more) { fields.insert(fields.end(), more); };
  if (outcome == "unanswered") add({{"cause", text, {}}});
  if (outcome == "conflict") {
    add({{"expected", number, {}}, {"actual", number, {}}, {"by", text, {}}, {"flow", text, {}}});
    add({{"at", Types::of(Kind::date_time), {}}});
  }
  if (outcome == "needsMigration") add({{"current", number, {}}, {"required", number, {}}});
  return fields;
}

// The actions that a pattern names, or leaves open; none after an error.
std::vector<ActionRef> Rule::candidates(const Pattern& tree, PatternSymbol& symbol) {
  for (const Name* name : {&tree.concept_, &tree.action}) {
    if (is_variable(*name) && !is_bound(name->text.substr(1))) bind(name->text.substr(1), Types::of(Kind::string), {});
  }
  if (!is_variable(tree.concept_)) {
    symbol.concept_ = concept_named(tree.concept_);
    if (!symbol.concept_) return {};
  }
  std::vector<ActionRef> found;
  if (symbol.concept_ && !is_variable(tree.action)) {
    std::vector<Name> names = tree.actions();
    for (const Name& name : names) {
      if (auto action = action_named(*symbol.concept_, name)) found.push_back({*symbol.concept_, *action});
    }
    if (found.size() < names.size()) return {};
    if (names.size() == 1) symbol.action = found[0].action;
    for (size_t i = 0; names.size() > 1 && i < found.size(); ++i) symbol.actions.push_back(found[i].action);
    return found;
  }
  std::vector<std::string> names;
  const std::vector<Name> wanted = tree.actions();
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    if (symbol.concept_ && *symbol.concept_ != c) continue;
    for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
      const ActionSymbol& action = symbols.concepts[c].actions[a];
      if (action.runs == Runs::query) continue;
      bool named = std::ranges::find(wanted, action.name, &Name::text) != wanted.end();
      if (is_variable(tree.action) || named) found.push_back({c, a});
      names.push_back(action.name);
    }
  }
  if (found.empty()) {
    report.error(place_of(file, tree.action), "unknown-action",
                 is_variable(tree.action)
                     ? quoted(tree.concept_.text) + " has no action that leaves a record"
                     : "no concept has an action " + quoted(tree.action.text) + " that leaves a record",
                 did_you_mean(tree.action.text, names));
  }
  return found;
}

// An alternation is one rule for several: each of its actions and variants must have every field that it names. Says
// whether they do.
bool Rule::alternatives(const Pattern& tree, const std::vector<ActionRef>& actions) {
  using Outcome = Pattern::Outcome;
  size_t errors = report.found.errors();
  for (const auto& names : {tree.actions(), tree.variants()}) {
    for (auto name = names.begin(); name != names.end(); ++name) {
      if (std::ranges::find(names.begin(), name, name->text, &Name::text) == name) continue;
      report.error(place_of(file, *name), "duplicate", "a second " + quoted(name->text), "keep one");
    }
  }
  std::vector<Name> variants = tree.variants();
  std::vector<bool> known(variants.size());
  for (size_t i = 0; i < actions.size(); ++i) {
    const ActionSymbol& action = symbols.action(actions[i]);
    std::string title = symbols.name(actions[i]);
    Place place = place_of(file, tree.other_actions.empty() ? tree.action : tree.actions()[i]);
    auto lacks = [&](const FieldPattern& field, const std::vector<FieldSymbol>& fields, const std::string& what) {
      if (find_field(fields, field.field)) return;
      report.error({file, field.at, field.field.size()}, "unknown-field", what + quoted(field.field),
                   did_you_mean(field.field, names_of(fields)));
    };
    if (tree.outcome == Outcome::requested && !action.is_answered()) {
      report.error(place, "not-answered",
                   quoted(title) + " is not answered, so it is never requested: it runs and completes",
                   "match a variant of it, or declare it `runs: answered`");
    }
    for (const FieldPattern& field : tree.input) lacks(field, action.params, quoted(title) + " has no argument ");
    auto whole = [&](const VariantSymbol& each) { return has_all(each.fields, tree.output); };
    if (tree.outcome == Outcome::any && !std::ranges::any_of(action.variants, whole)) {
      report.error({file, tree.output[0].at, tree.output[0].field.size()}, "unknown-field",
                   "no variant of " + quoted(title) + " has all of these fields",
                   "leave the action out, or match it in a rule of its own");
    }
    if (tree.outcome != Outcome::variant) continue;
    bool any = false;
    for (size_t v = 0; v < variants.size(); ++v) {
      auto variant = find_variant(action, variants[v].text);
      if (!variant) continue;
      known[v] = any = true;
      const VariantSymbol& ending = action.variants[*variant];
      for (const FieldPattern& field : tree.output)
        lacks(field, ending.fields, quoted(title + " => " + ending.name) + " has no field ");
    }
    if (!any) {
      report.error(place, "unknown-variant", quoted(title) + " has no variant " + quoted(tree.variant_text()),
                   did_you_mean(tree.variant.text, names_of(action.variants)));
    }
  }
  for (size_t v = 0; tree.outcome == Outcome::variant && v < variants.size(); ++v) {
    if (known[v]) continue;
    std::vector<std::string> names;
    for (ActionRef each : actions) {
      for (const VariantSymbol& variant : symbols.action(each).variants) names.push_back(variant.name);
    }
    report.error(place_of(file, variants[v]), "unknown-variant",
                 quoted(tree.concept_.text + "/" + tree.action_text()) + " has no variant " + quoted(variants[v].text),
                 did_you_mean(variants[v].text, names));
  }
  return report.found.errors() == errors;
}

// After an error: what the pattern would have bound is not told as unbound.
void Rule::bind_unjudged(const Pattern& tree) {
  for (const auto* fields : {&tree.input, &tree.output}) {
    for (const FieldPattern& field : *fields) {
      match(field.match, kUnknownType, quoted(field.field), In::pattern, false, 0);
    }
  }
  if (tree.as && !is_bound(tree.as->text))
    bind(tree.as->text, Types::of(Kind::request), answered_actions(std::nullopt));
}

PatternSymbol Rule::pattern(const Pattern& tree) {
  using Outcome = Pattern::Outcome;
  PatternSymbol symbol;
  once_each(tree.input, "argument");
  once_each(tree.output, "field");
  bool known_engine = tree.outcome == Outcome::engine;
  for (const Name& name : tree.variants()) {
    if (tree.outcome != Outcome::engine || is_engine_outcome(name.text)) continue;
    known_engine = false;
    report.error(place_of(file, name), "unknown-engine-outcome", "there is no engine outcome " + quoted(name.text),
                 "it is one of fault, unavailable, timeout, unknown, unanswered, refused, denied, conflict, cancelled, "
                 "limit, needsMigration");
  }
  std::vector<ActionRef> actions = candidates(tree, symbol);
  bool several = !tree.other_actions.empty() || !tree.other_variants.empty();
  if (several && !actions.empty() && !is_variable(tree.concept_) && !is_variable(tree.action) &&
      !alternatives(tree, actions)) {
    symbol.actions.clear();
    actions.clear();
  }
  if (actions.empty()) {
    bind_unjudged(tree);
    patterns.emplace_back(&tree, symbol);
    return symbol;
  }
  bool one = symbol.ref().has_value();
  std::string title = one ? symbols.name(*symbol.ref()) : title_of(tree);
  std::string subject = one ? quoted(title) : title;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (!(one || !symbol.actions.empty()) || symbols.action(actions[i]).runs != Runs::query) continue;
    bool guards = opening == "before";
    report.error(
        place_of(file, tree.actions()[i]), "query-matched",
        quoted(symbols.name(actions[i])) + (guards ? " is a query: it changes nothing, so there is nothing to guard"
                                                   : " is a query: it leaves no record, so no sync can match it"),
        guards ? "guard an action that changes something"
               : "match an action that changes something, or read the rows themselves in where");
  }
  // Leaves out of `from` what does not suit; if nothing does, all of it stays and it is told.
  auto keep = [](auto& from, auto&& suits, auto&& tell) {
    if (std::ranges::any_of(from, suits)) {
      std::erase_if(from, [&](const auto& each) { return !suits(each); });
    } else {
      tell();
    }
  };

  for (const FieldPattern& field : tree.input) {
    if (one) symbol.input.push_back(find_field(symbols.action(actions[0]).params, field.field).value_or(0));
    keep(
        actions, [&](ActionRef each) { return find_field(symbols.action(each).params, field.field).has_value(); },
        [&] {
          std::vector<std::string> names;
          for (ActionRef each : actions) {
            for (const FieldSymbol& param : symbols.action(each).params) names.push_back(param.name);
          }
          report.error({file, field.at, field.field.size()}, "unknown-field",
                       (one ? subject + " has no argument " : "an argument that " + subject + " does not have: ") +
                           quoted(field.field),
                       did_you_mean(field.field, names));
        });
  }
  if (tree.outcome == Outcome::requested) {
    keep(
        actions, [&](ActionRef each) { return symbols.action(each).is_answered(); },
        [&] {
          report.error(place_of(file, tree.action), "not-answered",
                       one ? quoted(title) + " is not answered, so it is never requested: it runs and completes"
                           : "nothing that this can match is answered, so it is never requested",
                       "match a variant of it, or declare it `runs: answered`");
        });
  }
  std::vector<CandidateVariant> endings;
  const std::vector<Name> variants = tree.variants();
  std::vector<std::string> variant_names;
  bool completes = tree.outcome == Outcome::variant || tree.outcome == Outcome::any;
  for (ActionRef each : actions) {
    const ActionSymbol& action = symbols.action(each);
    for (size_t v = 0; completes && v < action.variants.size(); ++v) {
      variant_names.push_back(action.variants[v].name);
      bool named = std::ranges::find(variants, action.variants[v].name, &Name::text) != variants.end();
      if (tree.outcome == Outcome::any || named) endings.push_back({each, v});
    }
  }
  if (tree.outcome == Outcome::variant && endings.empty()) {
    report.error(
        place_of(file, tree.variant), "unknown-variant",
        one ? quoted(title) + " has no variant " + quoted(tree.variant.text)
            : "a variant that " + subject + " with these arguments does not have: " + quoted(tree.variant.text),
        did_you_mean(tree.variant.text, variant_names));
  }
  auto fields_of = [&](const CandidateVariant& each) -> const std::vector<FieldSymbol>& {
    return symbols.action(each.action).variants[each.variant].fields;
  };
  auto tell_unknown = [&](const FieldPattern& field, const std::string& text, const std::vector<FieldSymbol>& known) {
    report.error({file, field.at, field.field.size()}, "unknown-field", text,
                 did_you_mean(field.field, names_of(known)));
  };
  std::vector<FieldSymbol> known;
  for (const CandidateVariant& each : endings)
    known.insert(known.end(), fields_of(each).begin(), fields_of(each).end());
  bool told = endings.empty();
  for (const FieldPattern& field : tree.output) {
    bool anywhere = std::ranges::any_of(
        endings, [&](const CandidateVariant& each) { return find_field(fields_of(each), field.field).has_value(); });
    if (anywhere || endings.empty()) continue;
    told = true;
    tell_unknown(field,
                 tree.outcome == Outcome::any ? "no variant of " + subject + " has a field " + quoted(field.field)
                 : one ? quoted(title + " => " + tree.variant.text) + " has no field " + quoted(field.field)
                       : quoted(tree.variant.text) + " of " + subject + " has no field " + quoted(field.field),
                 known);
  }
  std::vector<CandidateVariant> whole = endings;
  std::erase_if(whole, [&](const CandidateVariant& each) { return !has_all(fields_of(each), tree.output); });
  if (one && completes) {
    for (const CandidateVariant& each : tree.outcome == Outcome::any ? whole : endings) {
      symbol.variants.push_back(each.variant);
      auto& indexes = symbol.output.emplace_back();
      for (const FieldPattern& field : tree.output) {
        indexes.push_back(find_field(fields_of(each), field.field).value_or(0));
      }
    }
  }
  if (whole.empty() && !told && !tree.output.empty()) {
    report.error({file, tree.output[0].at, tree.output[0].field.size()}, "unknown-field",
                 "no variant of " + subject + " has all of these fields",
                 "name the variant that is meant, and match its fields alone");
  }
  if (!whole.empty()) endings = std::move(whole);
  if (!one && !endings.empty()) {
    std::erase_if(actions, [&](ActionRef each) {
      return std::ranges::find(endings, each, &CandidateVariant::action) == endings.end();
    });
  }
  if (!one) {
    for (const CandidateVariant& each : endings) symbol.open.emplace_back(each.action, each.variant);
    for (ActionRef each : actions) {
      if (tree.outcome == Outcome::requested) symbol.open.emplace_back(each, std::nullopt);
    }
  }

  // Of what several have under one name, a type for which each may be given.
  auto joined = [&](const FieldPattern& field, const std::vector<const FieldSymbol*>& all, const std::string& what) {
    TypeId type = all.empty() ? kUnknownType : all[0]->type;
    for (const FieldSymbol* each : all) {
      auto both = types.join(type, each->type);
      if (both) {
        type = *both;
        continue;
      }
      if (field.match.op == Expr::Op::wildcard) return kUnknownType;
      std::string_view sort = one ? "variant" : "action";
      report.error({file, field.at, field.field.size()}, "type-mismatch",
                   what + " is " + types.name(type) + " in one " + std::string(sort) + " and " +
                       types.name(each->type) + " in another",
                   "name the " + std::string(sort) + " that is meant");
      return kUnknownType;
    }
    return type;
  };
  auto match_field = [&](const FieldPattern& field, TypeId type, const std::string& what) {
    match(field.match, type, what, In::pattern, false, symbol.concept_.value_or(0));
  };
  for (const FieldPattern& field : tree.input) {
    std::vector<const FieldSymbol*> all;
    for (ActionRef each : actions) {
      const auto& params = symbols.action(each).params;
      if (auto index = find_field(params, field.field)) all.push_back(&params[*index]);
    }
    std::string what = quoted(field.field) + " of " + title;
    match_field(field, joined(field, all, what), what);
  }
  std::list<std::vector<FieldSymbol>> of_engine;  // what `all` points into
  for (const FieldPattern& field : tree.output) {
    std::vector<const FieldSymbol*> all;
    for (const CandidateVariant& each : endings) {
      const auto& fields = fields_of(each);
      if (auto index = find_field(fields, field.field)) all.push_back(&fields[*index]);
    }
    std::string what = quoted(field.field) + " of " + title;
    if (tree.outcome == Outcome::variant && !endings.empty()) what += " => " + tree.variant_text();
    if (known_engine) {
      what = quoted(field.field) + " of engine." + tree.variant_text();
      for (const Name& name : variants) {
        const auto& fields = of_engine.emplace_back(engine_fields(name.text));
        if (auto index = find_field(fields, field.field)) {
          all.push_back(&fields[*index]);
        } else {
          tell_unknown(field, quoted("engine." + name.text) + " has no field " + quoted(field.field), fields);
        }
      }
    }
    match_field(field, joined(field, all, what), what);
  }
  if (tree.as) {
    if (tree.outcome != Outcome::requested) {
      report.error(place_of_variable(file, *tree.as), "bad-answer",
                   quoted("as ?" + tree.as->text) + " names a request: it belongs to a `=> requested` pattern",
                   "write " + quoted("=> requested as ?" + tree.as->text) + ", or leave it out");
    }
    if (!is_bound(tree.as->text)) {
      bind(tree.as->text, Types::of(Kind::request), actions);
      if (!symbol.actions.empty()) each_answered_.insert(tree.as->text);
    } else {
      report.error(place_of_variable(file, *tree.as), "duplicate", quoted("?" + tree.as->text) + " is bound already",
                   "choose another name");
    }
  }
  patterns.emplace_back(&tree, symbol);
  return symbol;
}

}  // namespace sluice::lang
