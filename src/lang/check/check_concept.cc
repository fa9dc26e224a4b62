// Concepts: their names, types and relations, and the clauses of their actions. Fixtures and invariants are walked in
// check_invariant.cc.
#include <algorithm>

#include "lang/check/check_parts.h"
#include "lang/check/relations.h"
#include "lang/codegen/cpp_names.h"
#include "lang/codegen/cpp_types.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

const std::vector<std::string> kPrimitiveNames = {"String",   "Int", "Float",   "Bool",  "Bytes",
                                                  "DateTime", "ID",  "Request", "Sealed"};

std::string line_of(const At& at) { return "line " + std::to_string(at.line); }

// Tells of the second of two equal names. False: it was the second.
class Unique {
 public:
  Unique(Report& report, std::string_view file, std::string what)
      : report_(report), file_(file), what_(std::move(what)) {}

  bool add(const std::string& name, const At& at) { return add(name, at, name); }

  // Actions and variants are types in C++, where `get_it` and `getIt` are one name.
  bool add_type(const std::string& name, const At& at) { return add(name, at, type_word(name)); }

 private:
  bool add(const std::string& name, const At& at, std::string key) {
    auto [first, fresh] = seen_.try_emplace(std::move(key), Name{at, name});
    if (fresh) return true;
    const Name& other = first->second;
    std::string text = "a second " + what_ + " " + quoted(name);
    if (other.text != name) text = quoted(name) + " and " + quoted(other.text) + " are one name in C++";
    report_.error(report_.word(file_, at, name), "duplicate", text,
                  "rename or remove one; the first is at " + line_of(other.at));
    return false;
  }

  Report& report_;
  std::string_view file_;
  std::string what_;
  std::unordered_map<std::string, Name> seen_;
};

class Declarer {
 public:
  Declarer(const Concept& tree, const SuiteConcept* entry, Symbols& symbols, Report& report)
      : tree_(tree), symbols_(symbols), report_(report), cpp_(tree) {
    Unique unique(report, tree.file, "type parameter");
    for (const Name& param : tree.params) {
      unique.add(param.text, param.at);
      if (is_primitive(param.text)) {
        report.error({tree.file, param.at, param.text.size()}, "duplicate",
                     quoted(param.text) + " is a type of the language", "give the type parameter another name");
      }
      std::string tag;
      if (entry != nullptr) {
        for (const SuiteConcept::Param& given : entry->params) {
          if (given.name == param.text) tag = given.as;
        }
      }
      params_[param.text] =
          symbols.types.add({.kind = Kind::parameter, .name = param.text, .owner = tree.name, .tag = tag});
    }
  }

  ConceptSymbol declare() {
    ConceptSymbol symbol{.source = &tree_, .name = tree_.name};
    declare_state(symbol);
    Unique unique(report_, tree_.file, "action");
    for (const Action& action : tree_.actions) {
      unique.add_type(action.name, action.at);
      symbol.actions.push_back(declare_action(action));
    }
    return symbol;
  }

 private:
  TypeId resolve(const Type& type) {
    Types& types = symbols_.types;
    switch (type.kind) {
      case Type::Kind::primitive:
      case Type::Kind::named: {
        if (auto param = params_.find(type.name); param != params_.end()) return param->second;
        auto primitive = std::ranges::find(kPrimitiveNames, type.name);
        if (primitive != kPrimitiveNames.end()) {
          return Types::of(static_cast<Kind>(static_cast<size_t>(Kind::string) +
                                             static_cast<size_t>(primitive - kPrimitiveNames.begin())));
        }
        std::vector<std::string> known = kPrimitiveNames;
        for (const Name& param : tree_.params) known.push_back(param.text);
        std::string hint = near_name(type.name, known);
        report_.error(
            {tree_.file, type.at, type.name.size()}, "unknown-type", "there is no type " + quoted(type.name),
            hint.empty() ? "declare it as a type parameter: " + quoted("concept " + tree_.name + " [" + type.name + "]")
                         : hint);
        return kUnknownType;
      }
      case Type::Kind::set:
      case Type::Kind::list:
      case Type::Kind::option: {
        Kind kind = type.kind == Type::Kind::set    ? Kind::set
                    : type.kind == Type::Kind::list ? Kind::list
                                                    : Kind::option;
        return types.add({.kind = kind, .inner = {resolve(type.inner.at(0))}});
      }
      case Type::Kind::mapping: {
        TypeId from = resolve(type.inner.at(0));
        return types.add({.kind = Kind::mapping, .inner = {from, resolve(type.inner.at(1))}});
      }
      case Type::Kind::names:
      case Type::Kind::literals:
        if (type.literals.size() > Types::kMaxTexts) {
          report_.error({tree_.file, type.at}, "too-many-fields",
                        std::to_string(type.literals.size()) + " texts are too many; a union has at most " +
                            std::to_string(Types::kMaxTexts),
                        "write `String`, and refuse in the handler what is none of them");
          return kUnknownType;
        }
        return types.add({.kind = Kind::literals, .names = type.literals});
      case Type::Kind::record: {
        Shape shape{.kind = Kind::record};
        for (const FieldSymbol& field : fields(type.fields, "field")) {
          shape.names.push_back(field.name);
          shape.inner.push_back(field.type);
        }
        return types.add(std::move(shape));
      }
    }
    return kUnknownType;
  }

  std::vector<FieldSymbol> fields(const std::vector<FieldDecl>& declared, const std::string& what) {
    std::vector<FieldSymbol> result;
    Unique unique(report_, tree_.file, what);
    at_most_described(declared, what);
    for (const FieldDecl& field : declared) {
      unique.add(field.name, field.at);
      result.push_back({field.name, resolve(field.type.at(0)), field.at});
    }
    return result;
  }

  // What is described for JSON has so many fields at most.
  void at_most_described(const std::vector<FieldDecl>& declared, const std::string& what) {
    if (declared.size() <= kMaxFields) return;
    const FieldDecl& over = declared[kMaxFields];
    report_.error({tree_.file, over.at, over.name.size()}, "too-many-fields",
                  std::to_string(declared.size()) + " " + what + "s are too many; at most " +
                      std::to_string(kMaxFields) + " stand together",
                  "gather those that belong together in a record: " + quoted("name: { … }"));
  }

  // Fields of an action or a variant, which conceptc must be able to make.
  std::vector<FieldSymbol> members(const std::vector<FieldDecl>& declared, const std::string& what) {
    size_t told = report_.told();
    std::vector<FieldSymbol> result = fields(declared, what);
    if (report_.told() > told) return result;
    for (const FieldDecl& field : declared) tell(cpp_.member(field, ""));
    return result;
  }

  // Types are judged by what makes C++ of them, so that a kit that checks can be built.
  template <typename Made>
  void tell(const Result<Made>& made) {
    if (made || !made.error().position) return;
    const Position& position = *made.error().position;
    report_.error({tree_.file, At{{position.line, position.column}}}, "bad-type", made.error().message,
                  made.error().next);
  }

  TypeId key_of(const std::string& domain) const {
    auto param = params_.find(domain);
    if (param != params_.end()) return param->second;
    return Types::of(domain == "ID" ? Kind::id : Kind::string);
  }

  // The relations are those that the store will have: lang/check/relations.h alone decides what a component becomes.
  void declare_state(ConceptSymbol& symbol) {
    Unique unique(report_, tree_.file, "state field");
    std::unordered_map<std::string, TypeId> kept;  // the type of a component, without its domain
    std::unordered_set<const StateField*> told;
    for (const StateField& field : tree_.state) {
      size_t before = report_.told();
      bool first = unique.add(field.name, field.at);
      TypeId type = resolve(field.type);
      if (symbols_.types[type].kind == Kind::mapping) type = symbols_.types[type].inner[1];
      if (first) kept[field.name] = type;
      if (report_.told() > before) told.insert(&field);
    }
    StateRelations state = read_state(tree_);
    for (const auto& [component, why] : state.unkept) {
      if (told.contains(component)) continue;
      report_.error({tree_.file, component->at, component->name.size()}, "bad-state", why,
                    "a component is `name: D -> T`, `name: set D`, or `name: T` of the concept as a whole");
    }
    for (const Relation& relation : state.relations) {
      RelationSymbol rows{.name = relation.field, .keyed = !relation.domain.empty()};
      if (rows.keyed) rows.key = key_of(relation.domain);
      at_most_described(relation.fields, "field");
      for (const FieldDecl& field : relation.fields) {
        rows.fields.push_back({field.name, kept[field.name], field.at});
        if (told.empty()) tell(cpp_.member(field, ""));
      }
      if (relation.kind != Relation::Kind::rows) {
        TypeId value = symbols_.types[kept[relation.field]].inner[0];
        rows.element = value;
        const Shape& element = symbols_.types[value];
        At at = relation.element[0].at;
        if (element.kind != Kind::record) rows.fields.push_back({"value", value, at});
        for (size_t i = 0; element.kind == Kind::record && i < element.names.size(); ++i) {
          rows.fields.push_back({element.names[i], element.inner[i], at});
        }
        if (told.empty()) tell(cpp_.element_of(relation.element[0], relation.field, ""));
      }
      symbol.relations.push_back(std::move(rows));
    }
    // Rows of the first type parameter come first, so that a query without fields means them.
    if (!tree_.params.empty()) {
      TypeId first = params_[tree_.params[0].text];
      std::stable_partition(symbol.relations.begin(), symbol.relations.end(), [&](const RelationSymbol& each) {
        return each.name.empty() && each.keyed && each.key == first;
      });
    }
  }

  ActionSymbol declare_action(const Action& action) {
    ActionSymbol symbol{.source = &action,
                        .name = action.name,
                        .runs = action.runs,
                        .callers = action.callers,
                        .right = action.right,
                        .impact = action.impact};
    symbol.params = members(action.params, "argument");
    Unique unique(report_, tree_.file, "variant");
    for (const Variant& variant : action.variants) {
      unique.add_type(variant.name, variant.at);
      VariantSymbol result{.name = variant.name, .fields = members(variant.fields, "field")};
      if (variant.code) {
        result.code = code_named(variant.code->text);
        if (!result.code) {
          std::vector<std::string> known;
          for (const CodeEntry& row : code_table()) known.emplace_back(row.name);
          report_.error(place_of(tree_.file, *variant.code), "unknown-code",
                        "there is no outcome code " + quoted(variant.code->text),
                        did_you_mean(variant.code->text, known));
        }
      }
      symbol.variants.push_back(std::move(result));
    }
    bool effect = action.runs == Runs::effect;
    check_sealed(action, symbol);
    if (action.retry_at && !effect) {
      report_.error({tree_.file, *action.retry_at, 5}, "not-an-effect",
                    "only an effect is repeated: `retry:` has no meaning for " + quoted(action.name),
                    "declare it `runs: effect`, or leave `retry:` out");
    }
    if (action.deadline_at && !effect) {
      report_.error({tree_.file, *action.deadline_at, 8}, "not-an-effect",
                    "only an effect has a deadline: `deadline:` has no meaning for " + quoted(action.name),
                    "declare it `runs: effect`, or leave `deadline:` out");
    }
    if (action.callers_at && action.runs == Runs::query) {
      report_.error(
          {tree_.file, *action.callers_at, 7}, "query-callers",
          "a query changes nothing, and no sync asks one: `callers:` has no meaning for " + quoted(action.name),
          "leave `callers:` out");
    }
    if (action.impact_at && action.impact != Impact::none && action.runs == Runs::query) {
      report_.error({tree_.file, *action.impact_at, 6}, "query-effect",
                    "a query changes nothing: the effect of " + quoted(action.name) + " is none",
                    "write `effect: none`");
    }
    if (action.right_at && action.callers == Callers::syncs) {
      report_.error({tree_.file, *action.right_at, 5}, "syncs-right",
                    "only syncs start " + quoted(action.name) + ", so no caller needs a right for it",
                    "leave `right:` out");
    }
    return symbol;
  }

  // A Sealed value is gone at restart; the effect that made it is then repeated.
  void check_sealed(const Action& action, const ActionSymbol& symbol) {
    if (action.runs != Runs::effect || action.retry == Retry::safe) return;
    for (size_t v = 0; v < symbol.variants.size(); ++v) {
      for (const FieldSymbol& field : symbol.variants[v].fields) {
        if (!symbols_.types.holds_sealed(field.type)) continue;
        report_.error({tree_.file, field.at, field.name.size()}, "sealed",
                      quoted(field.name) + " is Sealed, so when the value is lost " + quoted(action.name) +
                          " is repeated, but it is not `retry: safe`",
                      "declare " + quoted(action.name) + " `retry: safe`");
      }
    }
  }

  const Concept& tree_;
  Symbols& symbols_;
  Report& report_;
  CppTypes cpp_;
  std::unordered_map<std::string, TypeId> params_;
};

}  // namespace

Symbols declare(const Kit& kit, Report& report) {
  Symbols symbols;
  auto add = [&](const Concept& tree, const SuiteConcept* entry, bool built_in) {
    if (symbols.by_name.contains(tree.name)) return;  // told by the loader
    symbols.by_name[tree.name] = symbols.concepts.size();
    ConceptSymbol symbol = Declarer(tree, entry, symbols, report).declare();
    symbol.built_in = built_in;
    symbols.concepts.push_back(std::move(symbol));
  };
  for (const KitConcept& each : kit.concepts) {
    bool taken = std::ranges::any_of(engine_concepts(), [&](const Concept& own) { return own.name == each.tree.name; });
    if (taken) {
      report.error(report.word(each.tree.file, each.tree.at, each.tree.name), "duplicate",
                   quoted(each.tree.name) + " is the engine's own concept", "give this one another name");
      continue;
    }
    if (!each.outside) add(each.tree, &each.entry, false);
  }
  for (const Concept& own : engine_concepts()) add(own, nullptr, true);
  // Last, so that the numbers of all others stay what they are when one more is loaded.
  for (const KitConcept& each : kit.concepts) {
    if (each.outside) add(each.tree, &each.entry, false);
  }
  return symbols;
}

std::vector<Diagnostic> check_concept(Concept tree, std::string_view source) {
  Kit kit;
  kit.sources[tree.file] = source;
  kit.concepts.push_back({.tree = std::move(tree)});
  Report report(false, kit.sources);
  Symbols symbols = declare(kit, report);
  check_concepts(kit, symbols, report);
  return report.found.all();
}

std::vector<Diagnostic> check_parts(Concept parts, std::string_view source) {
  if (parts.name.empty()) return {};
  Kit kit;
  kit.sources[parts.file] = source;
  kit.concepts.push_back({.tree = std::move(parts)});
  Report report(false, kit.sources);
  declare(kit, report);
  return report.found.all();
}

void check_concepts(const Kit& kit, Symbols& symbols, Report& report) {
  (void)kit;
  for (ConceptSymbol& owner : symbols.concepts) {
    for (ActionSymbol& action : owner.actions) check_reversal(owner, action, symbols, report);
    check_fixtures(owner, symbols, report);
    check_invariants(owner, symbols, report);
  }
}

}  // namespace sluice::lang
