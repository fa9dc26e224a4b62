// The lines of `where` and `require`: queries of rows, conditions, and what names a value or goes through a list.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

using Kind = Shape::Kind;

std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

}  // namespace

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

  any_.clear();
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
      auto inner = types.field(type, part);
      if (!inner) {
        // The path stands in one piece, so its parts can be counted from its start.
        At at{{field.at.line, field.at.column + static_cast<uint32_t>(path.size()) + 1}};
        report.error({file, at, part.size()}, "unknown-field",
                     quoted(path) + " of " + title + " is " + types.name(type) + ", without a field " + quoted(part),
                     did_you_mean(part, types[types.present(type)].names));
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
  switch (tree.kind) {
    case Condition::Kind::query:
      return query(tree.query, false);
    case Condition::Kind::no:
      return query(tree.query, true);
    case Condition::Kind::filter:
    case Condition::Kind::any:
      for (const Expr& expr : tree.exprs) {
        must_hold(expr);
        if (tree.kind == Condition::Kind::filter) narrow(expr);
      }
      return std::nullopt;
    case Condition::Kind::bind: {
      TypeId type = tree.exprs.empty() ? kUnknownType : type_of_named(tree.exprs[0], In::where);
      if (is_bound(tree.name)) {
        report.error({file, tree.at, 4}, "duplicate", quoted("?" + tree.name) + " is bound already",
                     "choose another name");
      } else {
        bool request = types[types.present(type)].kind == Kind::request;
        bind(tree.name, type, request ? answered_actions(std::nullopt) : std::vector<ActionRef>{});
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
