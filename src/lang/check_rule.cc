// Rule: the variables of one sync or guard, and what binds, matches, compares and receives them. Every message says
// what was written, what was expected, and where possible what to write instead.
#include <algorithm>

#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

}  // namespace

// ------------------------------------------------------------------------------------------------------- names

std::optional<size_t> Rule::concept_named(const Name& name) {
  if (auto found = symbols.find_concept(name.text)) return found;
  std::vector<std::string> names;
  for (const ConceptSymbol& each : symbols.concepts) names.push_back(each.name);
  if (absent.contains(name.text)) {
    report.error(place_of(file, name), "unknown-concept", "the concept " + quoted(name.text) + " is not loaded",
                 "load it, or leave this rule out");
  } else {
    report.error(place_of(file, name), "unknown-concept", "there is no concept " + quoted(name.text),
                 did_you_mean(name.text, names));
  }
  return std::nullopt;
}

std::optional<size_t> Rule::action_named(size_t concept_, const Name& name) {
  if (auto found = symbols.find_action(concept_, name.text)) return found;
  const ConceptSymbol& owner = symbols.concepts[concept_];
  report.error(place_of(file, name), "unknown-action", quoted(owner.name) + " has no action " + quoted(name.text),
               did_you_mean(name.text, names_of(owner.actions)));
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------- variables

void Rule::bind(const std::string& name, TypeId type, std::vector<ActionRef> requests) {
  bound_[name] = {variables.size(), std::move(requests)};
  variables.push_back({name, type});
}

void Rule::adopt(const std::vector<VariableSymbol>& bound) {
  for (const VariableSymbol& variable : bound) bind(variable.name, variable.type, {});
}

TypeId Rule::variable_type(const std::string& name) const {
  auto found = bound_.find(name);
  return found == bound_.end() ? kUnknownType : variables[found->second.variable].type;
}

const std::vector<ActionRef>* Rule::requests(const std::string& name) const {
  auto found = bound_.find(name);
  return found == bound_.end() ? nullptr : &found->second.requests;
}

std::vector<ActionRef> Rule::answered_actions(std::optional<size_t> concept_) const {
  std::vector<ActionRef> found;
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    if (concept_ && *concept_ != c) continue;
    for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
      if (symbols.concepts[c].actions[a].is_answered()) found.push_back({c, a});
    }
  }
  return found;
}

void Rule::unbound(const Place& place, const std::string& name, TypeId wanted, std::string_view field,
                   std::string_view answers) {
  report.error(
      place, "unbound-variable",
      label + ": " + quoted("?" + name) + " in " + std::string(clause) + " is not bound by any pattern or query",
      binders(name, wanted, field, answers));
  bind(name, kUnknownType, {});  // told once
}

// What could bind a request: a pattern of this rule, a row that keeps one, then any action that can end so.
std::vector<std::string> Rule::request_binders(const std::string& name, std::string_view answers) const {
  std::vector<std::string> found;
  auto can_end_so = [&](const ActionSymbol& action) {
    return action.is_answered() && (answers.empty() || find_variant(action, answers));
  };
  bool may_match = opening == "when";
  for (const auto& [tree, symbol] : patterns) {
    if (!may_match || !symbol.ref() || tree->outcome != Pattern::Outcome::requested || tree->as) continue;
    if (!can_end_so(symbols.action(*symbol.ref()))) continue;
    found.push_back(quoted(symbols.name(*symbol.ref()) + ": […] => requested as ?" + name) + " in when");
  }
  for (const ConceptSymbol& owner : symbols.concepts) {
    for (const RelationSymbol& relation : owner.relations) {
      for (const FieldSymbol& column : relation.fields) {
        if (symbols.types[symbols.types.present(column.type)].kind != Kind::request) continue;
        std::string title = owner.name + (relation.name.empty() ? "" : "." + relation.name);
        found.push_back(quoted(title + ": { " + column.name + ": ?" + name + " }") + " in where");
      }
    }
  }
  for (const ConceptSymbol& owner : symbols.concepts) {
    for (const ActionSymbol& action : owner.actions) {
      if (!may_match || owner.built_in || !can_end_so(action)) continue;
      bool here = std::ranges::any_of(patterns, [&](const auto& each) {
        return each.second.ref() && &symbols.action(*each.second.ref()) == &action;
      });
      if (here) continue;
      found.push_back(quoted("caused by " + owner.name + "/" + action.name + ": [] => requested as ?" + name) +
                      " in when");
    }
  }
  return found;
}

// What could bind a variable: fields of this rule's patterns, then rows, then other completions; by name, or by type
// when an id is wanted; and if there is nothing of that name, fields of this rule's patterns that have the type.
std::string Rule::binders(const std::string& name, TypeId wanted, std::string_view field,
                          std::string_view answers) const {
  constexpr size_t kMost = 3;
  std::vector<std::string> found;
  const Types& types = symbols.types;
  Kind kind = types[types.present(wanted)].kind;
  bool id_wanted = kind == Kind::parameter;
  bool is_sync = opening == "when";
  auto by_name = [&](const FieldSymbol& candidate) { return candidate.name == name || candidate.name == field; };
  auto has_type = [&](const FieldSymbol& candidate) {
    return types.assignable(types.present(candidate.type), wanted) == Fit::yes;
  };
  auto fits = [&](const FieldSymbol& candidate) {
    if (id_wanted) return types.present(candidate.type) == types.present(wanted);
    return by_name(candidate) && has_type(candidate);
  };
  auto note = [&](std::string text) {
    if (found.size() < kMost && std::ranges::find(found, text) == found.end()) found.push_back(std::move(text));
  };
  auto note_patterns = [&](auto&& suits) {
    for (const auto& [tree, symbol] : patterns) {
      if (!symbol.ref()) continue;
      const ActionSymbol& action = symbols.action(*symbol.ref());
      std::string title = symbols.name(*symbol.ref()) + ": [";
      for (const FieldSymbol& param : action.params) {
        if (suits(param)) note("`" + title + " " + param.name + ": ?" + name + " ]` in " + std::string(opening));
      }
      for (size_t variant : symbol.variants) {
        if (!is_sync) break;  // a guard looks at arguments alone
        for (const FieldSymbol& out : action.variants[variant].fields) {
          if (!suits(out)) continue;
          note("`" + title + "] => " + action.variants[variant].name + "[ " + out.name + ": ?" + name + " ]` in when");
        }
      }
    }
  };
  if (kind == Kind::request) {
    for (std::string& each : request_binders(name, answers)) note(std::move(each));
  }
  note_patterns(fits);
  for (const ConceptSymbol& owner : symbols.concepts) {
    if (found.size() >= kMost) break;
    for (const RelationSymbol& relation : owner.relations) {
      bool looked_at = over && &symbols.concepts[over->concept_].relations[over->relation] == &relation;
      std::string place = looked_at ? "in over" : "in where";
      std::string title = owner.name + (relation.name.empty() ? "" : "." + relation.name) + ": {";
      if (id_wanted && relation.keyed && relation.name.empty() && relation.key == types.present(wanted)) {
        note("`" + title + " ?" + name + " … }` " + place);
      }
      for (const FieldSymbol& column : relation.fields) {
        if (fits(column)) note("`" + title + " " + column.name + ": ?" + name + " }` " + place);
      }
    }
  }
  for (const ConceptSymbol& owner : symbols.concepts) {
    if (!is_sync || !id_wanted || found.size() >= kMost) break;
    for (const ActionSymbol& action : owner.actions) {
      if (action.runs == Runs::query || action.variants.empty()) continue;
      for (const FieldSymbol& out : action.variants[0].fields) {
        if (!fits(out)) continue;
        note("`caused by " + owner.name + "/" + action.name + ": [] => " + action.variants[0].name + "[ " + out.name +
             ": ?" + name + " ]` in when");
      }
    }
  }
  if (!found.empty()) return "it could be bound by " + join(found, "or");
  std::string none = "no field of this kit has that name";
  if (wanted != kUnknownType) note_patterns(has_type);
  if (!found.empty()) return none + "; of its type there is " + join(found, "and");
  return none + "; write a value, or bind it in " + std::string(opening) + " or where";
}

// ------------------------------------------------------------------------------------------------- second names

void Rule::once_each(const std::vector<Argument>& arguments, std::string_view kind) {
  std::unordered_set<std::string_view> seen;
  for (const Argument& each : arguments) {
    if (seen.insert(each.name).second) continue;
    report.error(report.word(file, each.at, each.name), "duplicate",
                 "a second " + std::string(kind) + " " + quoted(each.name), "keep one");
  }
}

void Rule::once_each(const std::vector<FieldPattern>& fields, std::string_view kind) {
  std::unordered_set<std::string_view> seen;
  for (const FieldPattern& each : fields) {
    if (seen.insert(each.field).second) continue;
    report.error(report.word(file, each.at, each.field), "duplicate",
                 "a second " + std::string(kind) + " " + quoted(each.field), "keep one");
  }
}

// The keys of a record have no marks of their own: its value is pointed at.
void Rule::once_each_key(const Expr& record) {
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < record.keys.size(); ++i) {
    if (seen.insert(record.keys[i]).second) continue;
    report.error(place_of(file, record.args[i]), "duplicate", "a second field " + quoted(record.keys[i]), "keep one");
  }
}

// --------------------------------------------------------------------------------------------- patterns, queries

void Rule::match(const Expr& match, TypeId type, const std::string& what, In in, bool negated, size_t owner) {
  const Types& types = symbols.types;
  if (in == In::where && types.holds_sealed(type) && match.op != Expr::Op::wildcard) {
    report.error(place_of(file, match), "sealed", what + " is Sealed: no where, filter or template may use it",
                 "match it with `_`, or leave it out");
    if (match.op == Expr::Op::variable && !is_bound(match.name)) bind(match.name, type, {});
    return;
  }
  switch (match.op) {
    case Expr::Op::wildcard:
      return;
    case Expr::Op::literal: {
      if (types.literal_fits(match.value, type) == Fit::yes) return;
      TypeId present = types.present(type);
      if (types[present].kind == Kind::literals && match.value.is_string()) {
        report.warning(place_of(file, match), "never-fires",
                       what + " is never " + literal_text(match.value) + ", so this can never match",
                       "it is one of " + types.name(present));
        return;
      }
      report.error(place_of(file, match), "type-mismatch",
                   what + " is " + types.name(type) + ", never " + literal_text(match.value),
                   types.literal_form(match.value, type));
      return;
    }
    case Expr::Op::variable: {
      if (!is_bound(match.name)) {
        if (negated) return;  // a variable of its own: any value
        TypeId present = types.present(type);
        std::vector<ActionRef> requests;
        if (types[present].kind == Kind::request)
          requests = answered_actions(in == In::where ? std::optional(owner) : std::nullopt);
        bind(match.name, present, std::move(requests));
        return;
      }
      TypeId before = variable_type(match.name);
      Fit fit = types.comparable(before, type);
      if (fit == Fit::no) {
        report.error(place_of(file, match), "type-mismatch",
                     quoted("?" + match.name) + " is " + types.name(before) + ", but " + what + " is " +
                         types.name(type) + ": they are never equal",
                     "give one of them another name");
      } else if (fit == Fit::misaligned) {
        report.misaligned(place_of(file, match), quoted("?" + match.name) + " is " + types.name(before) + ", but " +
                                                     what + " is " + types.name(types.present(type)));
      }
      return;
    }
    case Expr::Op::record: {
      once_each_key(match);
      for (size_t i = 0; i < match.keys.size(); ++i) {
        if (auto field = types.field(type, match.keys[i])) {
          this->match(match.args[i], *field, quoted(match.keys[i]) + " of " + what, in, negated, owner);
        } else {
          report.error(place_of(file, match.args[i]), "unknown-field",
                       what + " is " + types.name(type) + ", without a field " + quoted(match.keys[i]),
                       did_you_mean(match.keys[i], types[types.present(type)].names));
        }
      }
      return;
    }
    default:
      return;  // the parser lets nothing else into a pattern
  }
}

// `field: ?v as ?x` matches the value under both names.
void Rule::second_name(const Name& name, TypeId type, const std::string& what, bool negated, size_t owner) {
  match({.at = name.at, .op = Expr::Op::variable, .name = name.text}, type, what, In::where, negated, owner);
}

PatternSymbol Rule::pattern(const Pattern& tree) {
  PatternSymbol symbol;
  once_each(tree.input, "argument");
  once_each(tree.output, "field");
  auto any_name = [](const Name& name) { return name.text.starts_with('?'); };
  if (any_name(tree.concept_)) {
    std::string name = tree.concept_.text.substr(1);
    if (!is_bound(name)) bind(name, Types::of(Kind::string), {});
  } else {
    symbol.concept_ = concept_named(tree.concept_);
  }
  if (any_name(tree.action)) {
    std::string name = tree.action.text.substr(1);
    if (!is_bound(name)) bind(name, Types::of(Kind::string), {});
  } else if (symbol.concept_) {
    symbol.action = action_named(*symbol.concept_, tree.action);
  }
  if (tree.outcome == Pattern::Outcome::engine && !is_engine_outcome(tree.variant.text)) {
    report.error(place_of(file, tree.variant), "unknown-engine-outcome",
                 "there is no engine outcome " + quoted(tree.variant.text),
                 "it is one of fault, unavailable, timeout, unknown, unanswered, refused, denied, conflict, cancelled, "
                 "limit, needsMigration");
  }
  if (!symbol.ref()) {
    for (const auto* fields : {&tree.input, &tree.output}) {
      for (const FieldPattern& field : *fields)
        match(field.match, kUnknownType, quoted(field.field), In::pattern, false, 0);
    }
    if (tree.as && !is_bound(tree.as->text))
      bind(tree.as->text, Types::of(Kind::request), answered_actions(std::nullopt));
    patterns.emplace_back(&tree, symbol);
    return symbol;
  }

  const ActionSymbol& action = symbols.action(*symbol.ref());
  std::string title = symbols.name(*symbol.ref());
  if (action.runs == Runs::query) {
    report.error(place_of(file, tree.action), "query-matched",
                 quoted(title) + " is a query: it leaves no record, so no sync can match it",
                 "match an action that changes something, or read the rows themselves in where");
  }
  for (const FieldPattern& field : tree.input) {
    auto index = find_field(action.params, field.field);
    symbol.input.push_back(index.value_or(0));
    if (!index) {
      report.error({file, field.at, field.field.size()}, "unknown-field",
                   quoted(title) + " has no argument " + quoted(field.field),
                   did_you_mean(field.field, names_of(action.params)));
    }
    match(field.match, index ? action.params[*index].type : kUnknownType, quoted(field.field) + " of " + title,
          In::pattern, false, symbol.concept_.value_or(0));
  }

  switch (tree.outcome) {
    case Pattern::Outcome::variant: {
      auto variant = find_variant(action, tree.variant.text);
      if (!variant) {
        report.error(place_of(file, tree.variant), "unknown-variant",
                     quoted(title) + " has no variant " + quoted(tree.variant.text),
                     did_you_mean(tree.variant.text, names_of(action.variants)));
      } else {
        symbol.variants = {*variant};
      }
      break;
    }
    case Pattern::Outcome::any:
      for (size_t v = 0; v < action.variants.size(); ++v) {
        bool has_all = std::ranges::all_of(tree.output, [&](const FieldPattern& field) {
          return find_field(action.variants[v].fields, field.field).has_value();
        });
        if (has_all) symbol.variants.push_back(v);
      }
      break;
    case Pattern::Outcome::requested:
      if (!action.is_answered()) {
        report.error(place_of(file, tree.action), "not-answered",
                     quoted(title) + " is not answered, so it is never requested: it runs and completes",
                     "match a variant of it, or declare it `runs: answered`");
      }
      break;
    case Pattern::Outcome::engine:
      break;
  }

  symbol.output.resize(symbol.variants.size());
  for (const FieldPattern& field : tree.output) {
    TypeId type = kUnknownType;
    std::string what = quoted(field.field) + " of " + title;
    if (tree.outcome == Pattern::Outcome::variant && !symbol.variants.empty()) {
      const VariantSymbol& variant = action.variants[symbol.variants[0]];
      what += " => " + variant.name;
      if (auto index = find_field(variant.fields, field.field)) {
        type = variant.fields[*index].type;
        symbol.output[0].push_back(*index);
      } else {
        symbol.output[0].push_back(0);
        report.error({file, field.at, field.field.size()}, "unknown-field",
                     quoted(title + " => " + variant.name) + " has no field " + quoted(field.field),
                     did_you_mean(field.field, names_of(variant.fields)));
      }
    } else if (tree.outcome == Pattern::Outcome::any) {
      std::vector<std::string> known;
      bool told = false;
      for (size_t i = 0; i < symbol.variants.size(); ++i) {
        const VariantSymbol& variant = action.variants[symbol.variants[i]];
        size_t index = *find_field(variant.fields, field.field);
        symbol.output[i].push_back(index);
        if (i == 0) type = variant.fields[index].type;
        if (!told && symbols.types.comparable(type, variant.fields[index].type) == Fit::no) {
          told = true;
          report.error({file, field.at, field.field.size()}, "type-mismatch",
                       what + " is " + symbols.types.name(type) + " in one variant and " +
                           symbols.types.name(variant.fields[index].type) + " in another",
                       "name the variant that is meant");
        }
      }
      bool anywhere = false;
      for (const VariantSymbol& variant : action.variants) {
        anywhere = anywhere || find_field(variant.fields, field.field);
        for (const FieldSymbol& each : variant.fields) known.push_back(each.name);
      }
      if (!anywhere) {
        report.error({file, field.at, field.field.size()}, "unknown-field",
                     "no variant of " + quoted(title) + " has a field " + quoted(field.field),
                     did_you_mean(field.field, known));
      } else if (symbol.variants.empty() && &field == &tree.output.front()) {
        report.error({file, field.at, field.field.size()}, "unknown-field",
                     "no variant of " + quoted(title) + " has all of these fields",
                     "name the variant that is meant, and match its fields alone");
      }
    } else if (tree.outcome == Pattern::Outcome::engine) {
      static const std::vector<std::string> kFields = {"message", "cause", "expected", "actual",
                                                       "by",      "at",    "current",  "required"};
      if (std::ranges::find(kFields, field.field) == kFields.end()) {
        report.error({file, field.at, field.field.size()}, "unknown-field",
                     "no engine outcome has a field " + quoted(field.field), did_you_mean(field.field, kFields));
      }
    }
    match(field.match, type, what, In::pattern, false, symbol.concept_.value_or(0));
  }
  if (tree.as) {
    if (tree.outcome != Pattern::Outcome::requested) {
      report.error(place_of_variable(file, *tree.as), "bad-answer",
                   quoted("as ?" + tree.as->text) + " names a request: it belongs to a `=> requested` pattern",
                   "write " + quoted("=> requested as ?" + tree.as->text) + ", or leave it out");
    }
    if (!is_bound(tree.as->text)) {
      bind(tree.as->text, Types::of(Kind::request), {*symbol.ref()});
    } else {
      report.error(place_of_variable(file, *tree.as), "duplicate", quoted("?" + tree.as->text) + " is bound already",
                   "choose another name");
    }
  }
  patterns.emplace_back(&tree, symbol);
  return symbol;
}

std::optional<QuerySymbol> Rule::query(const Query& tree, bool negated) {
  once_each(tree.fields, "field");
  auto bind_all = [&] {  // after an error: what it would have bound is not told as unbound
    if (tree.key && !is_bound(tree.key->text)) bind(tree.key->text, kUnknownType, {});
    for (const FieldPattern& field : tree.fields) match(field.match, kUnknownType, {}, In::where, negated, 0);
  };
  auto owner = concept_named(tree.concept_);
  if (!owner) {
    bind_all();
    return std::nullopt;
  }
  const ConceptSymbol& symbol = symbols.concepts[*owner];
  std::optional<size_t> relation;
  if (tree.relation) {
    std::vector<std::string> names;
    for (size_t r = 0; r < symbol.relations.size(); ++r) {
      if (symbol.relations[r].name.empty()) continue;
      names.push_back(symbol.relations[r].name);
      if (symbol.relations[r].name == tree.relation->text) relation = r;
    }
    if (!relation) {
      report.error(place_of(file, *tree.relation), "unknown-field",
                   quoted(symbol.name) + " has no list or set " + quoted(tree.relation->text),
                   did_you_mean(tree.relation->text, names));
    }
  } else {
    // A concept with several domain types has several kinds of rows: the fields say which is meant.
    for (size_t r = 0; r < symbol.relations.size() && !relation; ++r) {
      if (!symbol.relations[r].name.empty()) continue;
      bool has = tree.fields.empty() || find_field(symbol.relations[r].fields, first_part(tree.fields[0].field));
      if (has) relation = r;
    }
    for (size_t r = 0; r < symbol.relations.size() && !relation; ++r) {
      if (symbol.relations[r].name.empty()) relation = r;
    }
    if (!relation) {
      report.error(place_of(file, tree.concept_), "unknown-field",
                   quoted(symbol.name) + " keeps no rows that a query could read",
                   "match one of its actions in " + std::string(opening) + " instead");
    }
  }
  if (!relation) {
    bind_all();
    return std::nullopt;
  }

  const RelationSymbol& rows = symbol.relations[*relation];
  std::string title = symbol.name + (rows.name.empty() ? "" : "." + rows.name);
  if (tree.key) {
    Expr key{.at = tree.key->at, .op = Expr::Op::variable, .name = tree.key->text};
    if (!rows.keyed) {
      report.error(place_of_variable(file, *tree.key), "unknown-field", quoted(title) + " has no key",
                   "leave " + quoted("?" + tree.key->text) + " out: there is one row");
    }
    match(key, rows.keyed ? rows.key : kUnknownType, "the key of " + title, In::where, negated, *owner);
  }
  QuerySymbol result{.concept_ = *owner, .relation = *relation};
  for (const FieldPattern& field : tree.fields) {
    std::string column = first_part(field.field);
    auto index = find_field(rows.fields, column);
    result.fields.push_back(index.value_or(0));
    TypeId type = index ? rows.fields[*index].type : kUnknownType;
    if (!index) {
      std::string hint = did_you_mean(column, names_of(rows.fields));
      for (const RelationSymbol& child : symbol.relations) {
        if (!rows.name.empty() || child.name != column) continue;
        std::string element = child.fields.empty() ? "value" : child.fields[0].name;
        hint = "it is a list: query its elements with " +
               quoted(symbol.name + "." + column + ": { " + (tree.key ? "?" + tree.key->text + " " : "") + element +
                      ": ?" + element + " }");
      }
      report.error({file, field.at, column.size()}, "unknown-field",
                   "a row of " + quoted(title) + " has no field " + quoted(column), hint);
    }
    std::string path = column;
    while (index && path.size() < field.field.size()) {
      size_t end = field.field.find('.', path.size() + 1);
      std::string part = field.field.substr(path.size() + 1, end == std::string::npos ? end : end - path.size() - 1);
      auto inner = symbols.types.field(type, part);
      if (!inner) {
        // The path stands in one piece, so its parts can be counted from its start.
        At at{{field.at.line, field.at.column + static_cast<uint32_t>(path.size()) + 1}};
        report.error(
            {file, at, part.size()}, "unknown-field",
            quoted(path) + " of " + title + " is " + symbols.types.name(type) + ", without a field " + quoted(part),
            did_you_mean(part, symbols.types[symbols.types.present(type)].names));
      }
      type = inner.value_or(kUnknownType);
      path += "." + part;
    }
    match(field.match, type, quoted(field.field) + " of " + title, In::where, negated, *owner);
    if (field.as) second_name(*field.as, type, quoted(field.field) + " of " + title, negated, *owner);
  }
  return result;
}

std::optional<QuerySymbol> Rule::condition(const Condition& tree) {
  const Types& types = symbols.types;
  switch (tree.kind) {
    case Condition::Kind::query:
      return query(tree.query, false);
    case Condition::Kind::no:
      return query(tree.query, true);
    case Condition::Kind::filter:
    case Condition::Kind::any:
      for (const Expr& expr : tree.exprs) must_hold(expr);
      return std::nullopt;
    case Condition::Kind::bind: {
      TypeId type = tree.exprs.empty() ? kUnknownType : type_of(tree.exprs[0], In::where);
      if (is_bound(tree.name)) {
        report.error({file, tree.at, 4}, "duplicate", quoted("?" + tree.name) + " is bound already",
                     "choose another name");
      } else {
        bind(tree.name, types.present(type), {});
      }
      return std::nullopt;
    }
    case Condition::Kind::each: {
      if (tree.exprs.empty()) return std::nullopt;
      once_each(tree.fields, "field");
      TypeId type = type_of(tree.exprs[0], In::where);
      Kind kind = types[types.present(type)].kind;
      TypeId element = types.element(type);
      if (kind != Kind::unknown && kind != Kind::list && kind != Kind::set) {
        report.error(place_of(file, tree.exprs[0]), "type-mismatch",
                     "each takes a list or a set, not " + types.name(type), "use the value as it is, without `each`");
      }
      for (const FieldPattern& field : tree.fields) {
        auto inner = types.field(element, field.field);
        if (!inner && field.field == "value" && types[element].kind != Kind::record) inner = element;
        if (!inner) {
          report.error({file, field.at, field.field.size()}, "unknown-field",
                       "an element is " + types.name(element) + ", without a field " + quoted(field.field),
                       types[element].kind == Kind::record ? did_you_mean(field.field, types[element].names)
                                                           : "the element itself is `value`");
        }
        match(field.match, inner.value_or(kUnknownType), quoted(field.field) + " of an element", In::where, false, 0);
        if (field.as)
          second_name(*field.as, inner.value_or(kUnknownType), quoted(field.field) + " of an element", false, 0);
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::lang
