// Rule: the names and variables of one sync or guard, and what a field is matched with. Every message says what was
// written, what was expected, and where possible what to write instead.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

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
        if (types[types.present(column.type)].kind != Kind::request) continue;
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
      TypeId before = variable_type(match.name);
      if (match.maybe && is_bound(match.name)) {
        report.error(place_of(file, match), "duplicate", quoted("?" + match.name) + " is bound already",
                     "write " + quoted("?" + match.name + "?") + " where it is bound, once, or choose another name");
        return;
      }
      if (!is_bound(match.name) && negated) {
        // A variable of its own: any value, but the same wherever it stands.
        auto [own, fresh] = any_.try_emplace(match.name, types.present(type));
        if (fresh) return;
        before = own->second;
      } else if (!is_bound(match.name)) {
        TypeId present = types.present(type);
        if (match.maybe && types[type].kind == Kind::option) present = type;
        std::vector<ActionRef> requests;
        if (types[present].kind == Kind::request)
          requests = answered_actions(in == In::where ? std::optional(owner) : std::nullopt);
        bind(match.name, present, std::move(requests));
        return;
      }
      if (types.holds_sealed(type)) {
        report.error(place_of(file, match), "sealed",
                     what + " is Sealed: two handles cannot be compared, so " + quoted("?" + match.name) +
                         " cannot stand here again",
                     "match it with `_`, or give it another name");
        return;
      }
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
      Kind kind = types[types.present(type)].kind;
      if (match.keys.empty() && kind != Kind::record && kind != Kind::unknown && kind != Kind::mapping) {
        report.error(place_of(file, match), "type-mismatch", what + " is " + types.name(type) + ", not a record",
                     "match a value of that type, or leave the field out");
      }
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

// -------------------------------------------------------------------------------------------------------- giving

std::vector<size_t> give_each(Rule& rule, const std::vector<Argument>& given, const std::vector<FieldSymbol>& fields,
                              const std::string& title, std::string_view kind, std::vector<std::string>& unknown) {
  std::vector<size_t> numbers;
  for (const Argument& argument : given) {
    auto field = find_field(fields, argument.name);
    numbers.push_back(field.value_or(0));
    if (!field) {
      unknown.push_back(argument.name);
      rule.report.error({rule.file, argument.at, argument.name.size()}, "unknown-field",
                        quoted(title) + " has no " + std::string(kind) + " " + quoted(argument.name),
                        did_you_mean(argument.name, names_of(fields)));
    }
    rule.give(argument.value, field ? fields[*field].type : kUnknownType, quoted(argument.name) + " of " + title,
              argument.name);
  }
  return numbers;
}

}  // namespace sluice::lang
