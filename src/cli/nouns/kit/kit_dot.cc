// Rules are drawn one by one; a concept is drawn when one of them names it, or when it is what is looked at.
#include "cli/nouns/kit/kit_dot.h"

#include <set>

#include "cli/nouns/kit/kit_show.h"

namespace sluice::cli {
namespace {

using lang::CheckedKit;
using lang::Condition;
using lang::Effect;
using lang::Pattern;

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// One rule: its node, its edges, and the concepts at their ends.
struct Drawn {
  std::string node, label, shape;
  std::set<std::string> edges;
  std::set<std::string> concepts;

  Drawn(const std::string& kind, const std::string& name, std::string shape)
      : node(dot_quoted(kind + " " + name)), label(dot_quoted(name)), shape(std::move(shape)) {}

  void from(const std::string& concept_, const std::string& label, const std::string& style) {
    concepts.insert(concept_);
    edges.insert("  " + dot_quoted(concept_) + " -> " + node + attributes(label, style));
  }
  void to(const std::string& concept_, const std::string& label, const std::string& style) {
    concepts.insert(concept_);
    edges.insert("  " + node + " -> " + dot_quoted(concept_) + attributes(label, style));
  }
  std::string text() const {
    std::string text = "  " + node + " [shape=" + shape + ", label=" + label + "];\n";
    for (const std::string& edge : edges) text += edge;
    return text;
  }

 private:
  static std::string attributes(const std::string& label, const std::string& style) {
    return " [label=" + dot_quoted(label) + (style.empty() ? "" : ", style=" + style) + "];\n";
  }
};

Drawn drawn(const CheckedKit& checked, const lang::SyncSymbol& symbol) {
  const lang::Sync& sync = checked.kit().syncs[symbol.sync].tree;
  Drawn rule("sync", sync.name.text, "plain");
  for (const Pattern& pattern : sync.when) {
    rule.from(pattern.concept_.text, pattern.action_text() + " " + outcome_text(pattern),
              pattern.link == Pattern::Link::plain ? "" : "dotted");
  }
  for (size_t e = 0; e < symbol.then.size(); ++e) {
    bool answers = sync.then[e].kind == Effect::Kind::answer;
    for (const lang::TargetSymbol& target : symbol.then[e]) {
      rule.to(checked.symbols().concepts[target.action.concept_].name,
              answers ? "answer " + sync.then[e].variant.text : checked.symbols().action(target.action).name,
              sync.eventual ? "dashed"
              : answers     ? "bold"
                            : "");
    }
  }
  return rule;
}

// It stands before what it binds, and looks at rows.
Drawn drawn(const CheckedKit& checked, const lang::GuardSymbol& symbol) {
  const lang::Guard& guard = checked.kit().guards[symbol.guard].tree;
  Drawn rule("guard", guard.name.text, "octagon");
  if (guard.before) rule.to(guard.before->concept_.text, "before " + guard.before->action_text(), "");
  if (guard.over)
    rule.to(guard.over->concept_.text, "over " + (guard.over->relation ? guard.over->relation->text : "rows"), "");
  for (const auto* conditions : {&guard.where, &guard.require}) {
    for (const Condition& each : *conditions) {
      bool rows = each.kind == Condition::Kind::query || each.kind == Condition::Kind::no;
      if (rows) rule.from(each.query.concept_.text, each.query.relation ? each.query.relation->text : "rows", "dotted");
    }
  }
  return rule;
}

}  // namespace

std::string kit_dot(const CheckedKit& checked, const Focus& focus) {
  std::set<std::string> concepts;
  std::string looked_at = focus.concept_ ? checked.symbols().concepts[*focus.concept_].name : "";
  if (focus.concept_) concepts.insert(looked_at);
  for (const lang::ConceptSymbol& symbol : checked.symbols().concepts) {
    if (focus.on_all() && !symbol.built_in) concepts.insert(symbol.name);
  }
  std::string rules;
  auto add = [&](const Drawn& rule, bool meant) {
    if (!focus.on_all() && !meant && !(focus.concept_ && rule.concepts.contains(looked_at))) return;
    if (!focus.on_all()) concepts.insert(rule.concepts.begin(), rule.concepts.end());
    rules += rule.text();
  };
  for (const lang::SyncSymbol& symbol : checked.syncs()) add(drawn(checked, symbol), focus.sync == symbol.sync);
  for (const lang::GuardSymbol& symbol : checked.guards()) add(drawn(checked, symbol), focus.guard == symbol.guard);
  std::string text =
      "digraph " + dot_quoted(checked.kit().suite.name) + " {\n  rankdir=LR;\n  node [fontname=\"Helvetica\"];\n";
  for (const std::string& each : concepts) text += "  " + dot_quoted(each) + " [shape=box, style=rounded];\n";
  return text + rules + "}\n";
}

}  // namespace sluice::cli
