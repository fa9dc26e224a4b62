// Conditions one after the other, on all rows of bindings at a time.
#include "engine/rules/where.h"

#include <algorithm>
#include <map>

namespace sluice::engine {
namespace {

using Kind = lang::Condition::Kind;

class Solver {
 public:
  Solver(const StateReader& state, const Moment& moment, const std::string& title)
      : state_(state), moment_(moment), title_(title) {}

  Result<std::vector<Bindings>> apply(const CompiledCondition& condition, std::vector<Bindings> rows) {
    std::vector<Bindings> next;
    for (Bindings& row : rows) {
      if (auto done = extend(condition, row, next); !done) return done.error();
      if (next.size() > kMaxRows) return too_many("its where has more than 10000 rows");
    }
    return next;
  }

 private:
  Result<void> extend(const CompiledCondition& condition, Bindings& row, std::vector<Bindings>& next) {
    switch (condition.kind) {
      case Kind::query: {
        return read(condition.query, row, [&] {
          next.push_back(row);
          return next.size() <= kMaxRows;
        });
      }
      case Kind::no: {
        bool found = false;
        auto done = read(condition.query, row, [&] {
          found = true;
          return false;
        });
        if (done && !found) next.push_back(std::move(row));
        return done;
      }
      case Kind::filter:
        if (std::ranges::all_of(condition.exprs, [&](const auto& each) { return each.holds(row, moment_); })) {
          next.push_back(std::move(row));
        }
        return {};
      case Kind::any:
        if (std::ranges::any_of(condition.exprs, [&](const auto& each) { return each.holds(row, moment_); })) {
          next.push_back(std::move(row));
        }
        return {};
      case Kind::bind: {
        Value value = condition.exprs[0].evaluate(row, moment_);
        row[condition.slot] = value ? std::move(*value) : json::value(nullptr);
        next.push_back(std::move(row));
        return {};
      }
      case Kind::each:
        take_apart(condition, row, next);
        return {};
    }
    return {};
  }

  void take_apart(const CompiledCondition& condition, Bindings& row, std::vector<Bindings>& next) {
    Value list = condition.exprs[0].evaluate(row, moment_);
    if (!list || !list->is_array()) return;
    std::vector<size_t> bound;
    for (const json::value& element : list->get_array()) {
      json::object whole;  // an element that is no record has the one field `value`
      if (!element.is_object()) whole["value"] = element;
      const json::object& object = element.is_object() ? element.get_object() : whole;
      if (fit_all(condition.fields, object, row, bound)) next.push_back(row);
      unbind(row, bound, 0);
      if (next.size() > kMaxRows) return;
    }
  }

  // Calls `visit` with the row extended by each row of state that fits, until it returns false.
  template <typename Visit>
  Result<void> read(const CompiledQuery& query, Bindings& row, const Visit& visit) {
    std::vector<size_t> bound;
    auto look_at = [&](const StateReader::Row& found) {
      bool more = ++looks_ <= kMaxRowsLookedAt;
      if (more && query.fits(found, row, bound)) more = visit();
      unbind(row, bound, 0);
      return more;
    };
    if (query.key_slot && row[*query.key_slot]) {
      const json::value& key = *row[*query.key_slot];
      if (!key.is_string()) return {};
      for (const auto& found : state_.by_key(query.relation, key.get_string())) {
        if (!look_at(found)) break;
      }
      return {};
    }
    for (size_t i : query.indexed) {
      const json::value* wanted = query.fields[i].matcher.wanted(row);
      if (wanted == nullptr) continue;
      auto rows = state_.by_field(query.relation, query.fields[i].field, *wanted);
      if (rows.size() > kMaxRows) return too_many("it reads more than 10000 rows of " + query.relation);
      for (const auto& found : rows) {
        if (!look_at(found)) break;
      }
      return within_looks();
    }
    // The same rows for every row of bindings: read once.
    auto [cached, fresh] = all_.try_emplace(query.relation);
    if (fresh) cached->second = state_.all(query.relation, kMaxRows + 1);
    if (cached->second.size() > kMaxRows) return too_many("it reads more than 10000 rows of " + query.relation);
    for (const auto& found : cached->second) {
      if (!look_at(found)) break;
    }
    return within_looks();
  }

  Result<void> within_looks() const {
    if (looks_ <= kMaxRowsLookedAt) return {};
    return too_many("it looks at more than 1000000 rows");
  }

  Error too_many(const std::string& what) const {
    return {.code = Code::limit,
            .message = title_ + ": " + what,
            .next = "bind the key or an indexed field before the query, or let the concept keep a shorter list"};
  }

  const StateReader& state_;
  const Moment& moment_;
  const std::string& title_;
  std::map<std::string, std::vector<StateReader::Row>> all_;
  size_t looks_ = 0;
};

}  // namespace

bool CompiledQuery::fits(const StateReader::Row& row, Bindings& bindings, std::vector<size_t>& bound) const {
  if (key_slot) {
    json::value key(row.key);
    if (!Matcher::variable(*key_slot).fits(&key, bindings, bound)) return false;
  }
  return fit_all(fields, row.value, bindings, bound);
}

CompiledQuery compile_query(const lang::Query& source, const lang::QuerySymbol& symbol, const lang::Symbols& symbols,
                            Slots& slots) {
  CompiledQuery query{.relation = relation_name(symbols, symbol.concept_, symbol.relation)};
  if (source.key) query.key_slot = slots.slot(source.key->text);
  query.fields = compile_fields(source.fields, slots);
  const lang::RelationSymbol& rows = symbols.concepts[symbol.concept_].relations[symbol.relation];
  for (size_t i = 0; i < query.fields.size(); ++i) {
    auto column = lang::find_field(rows.fields, query.fields[i].field);  // a path leads into a record: no column
    if (column && rows.indexed.contains(*column)) query.indexed.push_back(i);
  }
  return query;
}

std::vector<CompiledCondition> compile_conditions(const std::vector<lang::Condition>& source,
                                                  const std::vector<std::optional<lang::QuerySymbol>>& symbols,
                                                  const lang::Symbols& all, Slots& slots) {
  std::vector<CompiledCondition> conditions;
  for (size_t i = 0; i < source.size(); ++i) {
    CompiledCondition condition{.kind = source[i].kind};
    for (const lang::Expr& expr : source[i].exprs) condition.exprs.emplace_back(expr, slots);
    switch (source[i].kind) {
      case Kind::query:
        condition.query = compile_query(source[i].query, *symbols[i], all, slots);
        break;
      case Kind::no:
        slots.begin_own();
        condition.query = compile_query(source[i].query, *symbols[i], all, slots);
        slots.end_own();
        break;
      case Kind::bind:
        condition.slot = slots.slot(source[i].name);
        break;
      case Kind::each:
        condition.fields = compile_fields(source[i].fields, slots);
        break;
      case Kind::filter:
      case Kind::any:
        break;
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

Result<std::vector<Bindings>> solve(const std::vector<CompiledCondition>& conditions, Bindings start,
                                    const StateReader& state, const Moment& moment, const std::string& title) {
  Solver solver(state, moment, title);
  std::vector<Bindings> rows;
  rows.push_back(std::move(start));
  for (const CompiledCondition& condition : conditions) {
    auto next = solver.apply(condition, std::move(rows));
    if (!next) return next.error();
    rows = std::move(*next);
  }
  return rows;
}

}  // namespace sluice::engine
