// Matching by trying everything, and random kits and flows.
#include "engine/testing_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "lang/format/print.h"

namespace sluice::engine {

Reference::Reference(const lang::CheckedKit& kit, const std::vector<Node>& nodes)
    : symbols_(kit.symbols()), nodes_(nodes) {}

template <typename Found>
void Reference::choose(const lang::Sync& sync, const std::vector<size_t>& arrived, size_t position, size_t above,
                       std::vector<std::optional<size_t>>& chosen, const Bound& bound, const Found& found) const {
  if (position == sync.when.size()) return found(chosen, bound);
  const lang::Pattern& pattern = sync.when[position];
  if (pattern.link == Link::latest) {
    return choose(sync, arrived, position + 1, above, chosen, bound, found);  // when the others are known
  }
  auto try_one = [&](size_t n, size_t next_above) {
    Bound next = bound;
    bool is_fit = pattern.link == Link::plain ? plain_fits(sync, pattern, *nodes_[n].record, next)
                                              : fits(pattern, *nodes_[n].record, next);
    if (!is_fit) return;
    chosen[position] = n;
    choose(sync, arrived, position + 1, next_above, chosen, next, found);
    chosen[position].reset();
  };
  if (pattern.link == Link::caused_by) {
    if (auto cause = nearest(above, pattern)) try_one(*cause, above);
    return;
  }
  for (size_t n : arrived) {
    if (!is_used(sync, n, chosen)) try_one(n, n);
  }
}

std::vector<std::string> Reference::matches(const lang::Sync& sync, const std::vector<size_t>& arrived) const {
  std::vector<std::string> found;
  std::vector<std::optional<size_t>> chosen(sync.when.size());
  choose(sync, arrived, 0, 0, chosen, {}, [&](const auto& records, const Bound& bound) {
    bool has_last = false;
    for (size_t i = 0; i < records.size(); ++i) {
      has_last = has_last || (sync.when[i].link == Link::plain && records[i] == arrived.back());
    }
    if (!has_last) return;
    auto full = records;
    Bound all = bound;
    for (size_t i = 0; i < full.size(); ++i) {
      if (sync.when[i].link == Link::latest && !newest(sync, i, arrived, full, all)) return;
    }
    found.push_back(text(sync, full, all));
  });
  std::ranges::sort(found);
  return found;
}

bool Reference::is_near(const lang::Sync& sync) const {
  return std::ranges::any_of(sync.when, [&](const lang::Pattern& pattern) {
    if (pattern.link != Link::plain) return false;
    return std::ranges::any_of(nodes_, [&](const Node& node) {
      Bound bound;
      return plain_fits(sync, pattern, *node.record, bound);
    });
  });
}

bool Reference::listens(const lang::Sync& sync, size_t node) const {
  const Record& record = *nodes_[node].record;
  const std::string& owner = symbols_.concepts[record.action.concept_].name;
  auto named = [](const lang::Name& name, const std::string& real) {
    return name.text.starts_with('?') || name.text == real;
  };
  return std::ranges::any_of(sync.when, [&](const lang::Pattern& pattern) {
    if (pattern.link != Link::plain || pattern.outcome == Outcome::requested) return false;
    bool own =
        pattern.concept_.text.starts_with('?') &&
        std::ranges::any_of(sync.then, [&](const lang::Effect& effect) { return effect.concept_.text == owner; });
    return !own && named(pattern.concept_, owner) && named(pattern.action, symbols_.action(record.action).name);
  });
}

size_t Reference::deepest(const lang::Sync& sync, size_t position, size_t above, std::set<size_t> used,
                          const Bound& bound) const {
  if (position == sync.when.size()) return position;
  const lang::Pattern& pattern = sync.when[position];
  size_t best = position;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    Bound next = bound;
    if (pattern.link == Link::caused_by) {
      if (nearest(above, pattern) != n || !fits(pattern, *nodes_[n].record, next)) continue;
      best = std::max(best, deepest(sync, position + 1, above, used, next));
      continue;
    }
    if (used.contains(n)) continue;
    if (pattern.link == Link::latest) {
      if (fits(pattern, *nodes_[n].record, next)) best = std::max(best, deepest(sync, position + 1, above, used, next));
      continue;
    }
    if (!plain_fits(sync, pattern, *nodes_[n].record, next)) continue;
    auto with = used;
    with.insert(n);
    best = std::max(best, deepest(sync, position + 1, n, with, next));
  }
  return best;
}

std::string Reference::text(const std::string& name, const std::vector<RecordRef>& records, const Bound& bound) {
  std::string line = name + "(";
  for (const RecordRef& record : records) line += to_string(id_of(*record)) + ",";
  line += ")";
  for (const auto& [variable, value] : bound) {
    // 1 and 1.0 are one value.
    line +=
        " " + variable + "=" + (value.is_number() ? std::to_string(value.to_number<double>()) : json::serialize(value));
  }
  return line;
}

bool Reference::is_used(const lang::Sync& sync, size_t n, const std::vector<std::optional<size_t>>& chosen) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (sync.when[i].link == Link::plain && chosen[i] == n) return true;
  }
  return false;
}

bool Reference::newest(const lang::Sync& sync, size_t position, const std::vector<size_t>& arrived,
                       std::vector<std::optional<size_t>>& chosen, Bound& bound) const {
  std::optional<size_t> best;
  for (size_t n : arrived) {
    Bound next = bound;
    if (is_used(sync, n, chosen) || !fits(sync.when[position], *nodes_[n].record, next)) continue;
    if (!best || is_newer(n, *best)) best = n;
  }
  if (!best) return false;
  chosen[position] = best;
  return fits(sync.when[position], *nodes_[*best].record, bound);
}

bool Reference::is_newer(size_t a, size_t b) const {
  auto age = [&](size_t n) { return std::tuple(nodes_[n].record->seq, id_of(*nodes_[n].record)); };
  return age(a) > age(b);
}

std::optional<size_t> Reference::nearest(size_t n, const lang::Pattern& pattern) const {
  if (pattern.outcome == Outcome::requested) {
    auto request = nodes_[n].beneath;
    while (request && !is_of_class(pattern, *nodes_[*request].record)) request = nodes_[*request].beneath;
    return request;
  }
  std::optional<size_t> best;
  for (size_t parent : nodes_[n].parents) {
    std::optional<size_t> found =
        is_of_class(pattern, *nodes_[parent].record) ? std::optional(parent) : nearest(parent, pattern);
    if (found && (!best || is_newer(*found, *best))) best = found;
  }
  return best;
}

bool Reference::is_of_class(const lang::Pattern& pattern, const Record& record) const {
  const lang::ActionSymbol& action = symbols_.action(record.action);
  auto named = [](const lang::Name& name, const std::string& real) {
    return name.text.starts_with('?') || name.text == real;
  };
  if (!named(pattern.concept_, symbols_.concepts[record.action.concept_].name)) return false;
  auto any_of = [&](const std::vector<lang::Name>& names, std::string_view real) {
    return std::ranges::any_of(names, [&](const lang::Name& name) { return named(name, std::string(real)); });
  };
  if (!any_of(pattern.actions(), action.name)) return false;
  bool is_request = record.kind == RecordKind::request;
  switch (pattern.outcome) {
    case Outcome::requested:
      return is_request;
    case Outcome::engine:
      return !is_request && record.engine && any_of(pattern.variants(), lang::name_of(*record.engine));
    case Outcome::variant:
      return !is_request && record.variant && any_of(pattern.variants(), action.variants[*record.variant].name);
    case Outcome::any:
      return !is_request && record.variant && std::ranges::all_of(pattern.output, [&](const lang::FieldPattern& field) {
        return lang::find_field(action.variants[*record.variant].fields, field.field).has_value();
      });
  }
  return false;
}

bool Reference::match(const lang::Expr& expr, const json::value* value, Bound& bound) {
  bool there = value != nullptr && !value->is_null();
  auto same = [](const json::value& a, const json::value& b) {
    if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
    return a == b;
  };
  if (expr.op == lang::Expr::Op::wildcard) return true;
  if (expr.op == lang::Expr::Op::literal) return there ? same(expr.value, *value) : expr.value.is_null();
  if (!there && !expr.maybe) return false;
  auto [known, fresh] = bound.try_emplace(expr.name, there ? *value : json::value());
  return fresh || (there ? same(known->second, *value) : known->second.is_null());
}

bool Reference::fits(const lang::Pattern& pattern, const Record& record, Bound& bound) const {
  if (!is_of_class(pattern, record)) return false;
  for (const lang::FieldPattern& field : pattern.input) {
    if (!match(field.match, record.input.if_contains(field.field), bound)) return false;
  }
  for (const lang::FieldPattern& field : pattern.output) {
    if (!match(field.match, record.output.if_contains(field.field), bound)) return false;
  }
  auto take = [&](const std::string& variable, const std::string& text) {
    json::value value(text);
    return match({.op = lang::Expr::Op::variable, .name = variable}, &value, bound);
  };
  if (pattern.concept_.text.starts_with('?') &&
      !take(pattern.concept_.text.substr(1), symbols_.concepts[record.action.concept_].name)) {
    return false;
  }
  if (pattern.action.text.starts_with('?') &&
      !take(pattern.action.text.substr(1), symbols_.action(record.action).name)) {
    return false;
  }
  return !pattern.as || take(pattern.as->text, sluice::to_string(record.invocation));
}

bool Reference::plain_fits(const lang::Sync& sync, const lang::Pattern& pattern, const Record& record,
                           Bound& bound) const {
  if (pattern.concept_.text.starts_with('?')) {
    for (const lang::Effect& effect : sync.then) {
      if (effect.concept_.text == symbols_.concepts[record.action.concept_].name) return false;
    }
  }
  return fits(pattern, record, bound);
}

std::string Reference::text(const lang::Sync& sync, const std::vector<std::optional<size_t>>& chosen,
                            const Bound& bound) const {
  std::vector<RecordRef> records;
  for (const auto& n : chosen) records.push_back(nodes_[n.value()].record);
  return text(sync.name.text, records, bound);
}

std::string reference_text(const SyncSet& set, const Match& match) {
  Reference::Bound bound;
  for (const lang::SyncSymbol& symbol : set.kit().syncs()) {
    if (set.kit().kit().syncs[symbol.sync].tree.name.text != set.name(match.sync)) continue;
    for (size_t slot = 0; slot < symbol.variables.size(); ++slot) {
      if (match.bindings[slot]) bound[symbol.variables[slot].name] = *match.bindings[slot];
    }
  }
  return Reference::text(set.name(match.sync), match.records, bound);
}

std::vector<std::string> reference_near_misses(const SyncSet& set, const std::vector<Node>& nodes,
                                               const std::set<size_t>& dead_ends) {
  Reference reference(set.kit(), nodes);
  std::vector<size_t> arrived;
  std::set<std::string> fired;
  for (size_t n = 0; n < nodes.size(); ++n) {
    arrived.push_back(n);
    for (const lang::KitSync& sync : set.kit().kit().syncs) {
      if (!reference.matches(sync.tree, arrived).empty()) fired.insert(sync.tree.name.text);
    }
  }
  std::vector<std::string> missed;
  for (const lang::KitSync& sync : set.kit().kit().syncs) {
    bool near = reference.is_near(sync.tree) ||
                std::ranges::any_of(dead_ends, [&](size_t node) { return reference.listens(sync.tree, node); });
    if (fired.contains(sync.tree.name.text) || !near) continue;
    size_t depth = reference.deepest(sync.tree, 0, 0, {}, {});
    const auto& when = sync.tree.when;
    if (depth == when.size()) {
      auto latest = std::ranges::find(when, lang::Pattern::Link::latest, &lang::Pattern::link);
      EXPECT_NE(latest, when.end());
      depth = static_cast<size_t>(latest - when.begin());
    }
    std::string text = lang::print(when[depth]);
    for (char& c : text) {
      if (c == lang::kSoftBreak || c == lang::kStrongBreak) c = ' ';
    }
    missed.push_back(sync.tree.name.text + " misses " + text);
  }
  std::ranges::sort(missed);
  return missed;
}

// ------------------------------------------------------------------------------------------------- random input

Dice::Dice(uint64_t seed) : engine_(seed) {}

size_t Dice::below(size_t count) { return engine_() % count; }

bool Dice::one_in(size_t count) { return below(count) == 0; }

const char* Dice::of(std::initializer_list<const char*> words) { return words.begin()[below(words.size())]; }

std::string Dice::rules(size_t syncs) {
  std::string text;
  for (size_t s = 0; s < syncs; ++s) text += sync("S" + std::to_string(s)) + "\n";
  return text;
}

std::vector<Node> Dice::flow(const SyncSet& set, size_t count) {
  std::vector<Node> nodes;
  std::vector<size_t> open;  // requests without a completion
  RecordOf record{set};
  for (size_t i = 0; i < count; ++i) {
    if (!open.empty() && one_in(3)) {
      size_t asked = open[below(open.size())];
      std::erase(open, asked);
      const Node& request = nodes[asked];
      bool ok = one_in(2);
      auto id = static_cast<uint64_t>(request.record->invocation.wall_ms());
      RecordRef done = record.make(id, 100 + i, set.kit().symbols().name(request.record->action),
                                   json::serialize(request.record->input), ok ? "ok" : "no", ok ? output() : "{}",
                                   request.record->causes);
      nodes.push_back({done, request.parents, request.beneath});
      continue;
    }
    Node node;
    for (size_t p = below(3); p > 0 && i > 0; --p) node.parents.push_back(below(i));
    std::vector<RecordRef> matched;
    for (size_t parent : node.parents) matched.push_back(nodes[parent].record);
    for (size_t n = 0; n < i; ++n) {
      if (nodes[n].record->kind == RecordKind::request && one_in(2)) node.beneath = n;
    }
    Causes causes = set.causes_of(matched, node.beneath ? nodes[*node.beneath].record : nullptr);
    std::string owner = of({"A", "A", "B", "B", "C"});
    if (one_in(9)) {
      node.record = record.make(i + 1, 100 + i, "Sink/put", "{}", "ok", output(), causes);
    } else if (one_in(3)) {
      node.record = record.make(i + 1, 100 + i, owner + "/ask", input(), "requested", "{}", causes);
      open.push_back(i);
    } else {
      node.record = record.make(i + 1, 100 + i, owner + "/go", input(), of({"ok", "ok", "ok", "bad", "engine.fault"}),
                                output(), causes);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::string Dice::input() {
  return std::string("{\"k\":") + of({"\"u\"", "\"v\""}) + ",\"n\":" + of({"0", "1", "1.0", "null"}) + "}";
}

std::string Dice::output() {
  std::string m = one_in(3) ? "" : std::string(",\"m\":") + of({"\"u\"", "\"v\""});
  return std::string("{\"k\":") + of({"\"u\"", "\"v\""}) + ",\"n\":" + of({"0", "1", "1.0"}) + m + "}";
}

std::string Dice::word() { return of({"\"u\"", "?a", "?a", "?b", "_"}); }

std::string Dice::number() { return of({"1", "?p", "?p", "?q", "_"}); }

std::string Dice::fields(std::initializer_list<const char*> names) {
  std::string text;
  for (std::string name : names) {
    if (!one_in(3)) continue;
    text += (text.empty() ? " " : "; ") + name + ": " + (name == "n" ? number() : word());
  }
  return "[" + text + (text.empty() ? "]" : " ]");
}

std::string Dice::pattern(size_t number) {
  if (one_in(10)) return std::string("?c/?w: ") + fields({"k"}) + " => " + of({"ok", "", "no"}) + fields({"k"});
  std::string owner = of({"A", "A", "B", "B", "C"});
  if (one_in(10)) return owner + "/?w: [] => " + fields({"k"});
  if (one_in(3)) {
    std::string head = owner + "/ask: " + fields({"k"}) + " => ";
    switch (below(3)) {
      case 0:
        return head + "requested as ?r" + std::to_string(number);
      case 1:
        return head + "ok" + fields({"k", "n"});
      default:
        return head + fields({"k"});
    }
  }
  std::string head = owner + "/go: " + fields({"k", "n"}) + " => ";
  switch (below(9)) {
    case 0:
      return head + "bad" + fields({"k"});
    case 1:
      return head + fields({"k"});
    case 2:
      return head + "engine.fault[]";
    default:
      return head + "ok" + fields({"k", "n", "m"});
  }
}

std::string Dice::sync(const std::string& name) {
  std::string text = "sync " + name + " when {";
  size_t number = 0;
  for (size_t p = below(3); p < 3; ++p) {
    text += " " + pattern(number++);
    for (size_t c = below(5); c > 3; --c) text += " caused by " + pattern(number++);
    if (one_in(9)) text += " latest " + pattern(number++);
  }
  return text + " } then { Sink/put: [] }";
}

}  // namespace sluice::engine
