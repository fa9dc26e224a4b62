// Facts are gathered once (who matches, starts and answers what) and then said for people and as JSON.
#include "cli/nouns/kit/kit_show.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/table.h"
#include "lang/format/format.h"

namespace sluice::cli {
namespace {

using lang::ActionRef;
using lang::CheckedKit;
using lang::Effect;
using lang::Pattern;
using lang::Sync;
using lang::SyncSymbol;

std::string pattern_text(const Pattern& pattern) {
  std::string link = pattern.link == Pattern::Link::caused_by ? "caused by "
                     : pattern.link == Pattern::Link::latest  ? "latest "
                                                              : "";
  return link + pattern.concept_.text + "/" + pattern.action_text() + " => " + outcome_text(pattern);
}

// What an effect starts or answers, one line each.
std::vector<std::string> effect_texts(const CheckedKit& kit, const SyncSymbol& symbol, size_t effect) {
  const Sync& sync = kit.kit().syncs[symbol.sync].tree;
  std::set<std::string> lines;
  for (const lang::TargetSymbol& target : symbol.then[effect]) {
    std::string name = kit.symbols().name(target.action);
    bool answers = sync.then[effect].kind == Effect::Kind::answer;
    lines.insert(answers ? "answer " + name + " => " + sync.then[effect].variant.text : name);
  }
  return {lines.begin(), lines.end()};
}

struct Users {
  std::vector<std::string> matched, started, answered, guarded;
};

bool binds(const lang::PatternSymbol& pattern, ActionRef ref) {
  std::vector<ActionRef> bound = pattern.bound();
  return std::ranges::find(bound, ref) != bound.end();
}

Users users_of(const CheckedKit& kit, ActionRef ref) {
  Users users;
  for (const SyncSymbol& symbol : kit.syncs()) {
    const Sync& sync = kit.kit().syncs[symbol.sync].tree;
    for (size_t p = 0; p < symbol.when.size(); ++p) {
      // `caused by` and `latest` look; they are not triggered.
      if (!binds(symbol.when[p], ref) || sync.when[p].link != Pattern::Link::plain) continue;
      users.matched.push_back(sync.name.text + " (" + outcome_text(sync.when[p]) + ")");
    }
    for (size_t e = 0; e < symbol.then.size(); ++e) {
      bool names = std::ranges::any_of(symbol.then[e], [&](const auto& target) { return target.action == ref; });
      if (!names) continue;
      bool answers = sync.then[e].kind == Effect::Kind::answer;
      auto& into = answers ? users.answered : users.started;
      into.push_back(answers ? sync.name.text + " (" + sync.then[e].variant.text + ")" : sync.name.text);
    }
  }
  for (const lang::GuardSymbol& symbol : kit.guards()) {
    if (symbol.before && binds(*symbol.before, ref))
      users.guarded.push_back(kit.kit().guards[symbol.guard].tree.name.text);
  }
  return users;
}

// What a guard stands before, or watches over.
std::string bound_text(const lang::Guard& guard) {
  if (guard.before) return "before " + guard.before->concept_.text + "/" + guard.before->action_text();
  if (!guard.over) return "";
  return "over " + guard.over->concept_.text + (guard.over->relation ? "." + guard.over->relation->text : "");
}

std::string refusal_text(const lang::Guard& guard) { return (guard.engine ? "engine." : "") + guard.variant.text; }

std::string_view runs_name(lang::Runs runs) {
  switch (runs) {
    case lang::Runs::pure:
      return "pure";
    case lang::Runs::query:
      return "query";
    case lang::Runs::effect:
      return "effect";
    case lang::Runs::answered:
      return "answered";
    case lang::Runs::answered_outside:
      return "answered outside";
  }
  return "";
}

std::string fields_text(const lang::Types& types, const std::vector<lang::FieldSymbol>& fields) {
  std::string text;
  for (const lang::FieldSymbol& field : fields)
    text += (text.empty() ? "" : ", ") + field.name + ": " + types.name(field.type);
  return "(" + text + ")";
}

std::string first_sentence(const std::string& prose) {
  std::string text;
  for (char c : prose) {
    bool blank = c == '\n' || c == ' ' || c == '\t';
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ') text += ' ';
    if (text.ends_with(". ")) break;
  }
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text;
}

std::string section(const Terminal& terminal, std::string_view title) {
  return "\n" + terminal.paint(Style::heading, title) + "\n";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

const SyncSymbol* symbol_of(const CheckedKit& kit, size_t sync) {
  auto found = std::ranges::find(kit.syncs(), sync, &SyncSymbol::sync);
  return found == kit.syncs().end() ? nullptr : &*found;
}

// The source lines of a rule: from its own mark to the next rule's, or the end of the file.
std::string rule_text(const CheckedKit& kit, const std::string& file, const lang::At& at_rule) {
  auto source = kit.kit().sources.find(file);
  if (source == kit.kit().sources.end()) return {};
  std::string text;
  uint32_t number = 0;
  size_t at = 0;
  while (at < source->second.size()) {
    size_t end = source->second.find('\n', at);
    std::string line = source->second.substr(at, end - at);
    at = end == std::string::npos ? source->second.size() : end + 1;
    ++number;
    if (number < at_rule.line) continue;
    bool next = number > at_rule.line && (line.starts_with("sync ") || line.starts_with("guard "));
    if (next) break;
    text += line + "\n";
  }
  // Comments and blank lines at the end belong to what follows.
  for (;;) {
    while (text.ends_with("\n\n")) text.pop_back();
    size_t last = text.rfind('\n', text.size() < 2 ? 0 : text.size() - 2);
    size_t start = last == std::string::npos ? 0 : last + 1;
    if (start == 0 || !(text.compare(start, 1, "#") == 0 || text.compare(start, 2, "//") == 0)) return text;
    text.erase(start);
  }
}

}  // namespace

std::string outcome_text(const Pattern& pattern) {
  switch (pattern.outcome) {
    case Pattern::Outcome::variant:
      return pattern.variant_text();
    case Pattern::Outcome::any:
      return "[…]";
    case Pattern::Outcome::requested:
      return "requested";
    case Pattern::Outcome::engine:
      return "engine." + pattern.variant_text();
  }
  return "";
}

// --------------------------------------------------------------------------------------------------------- kit

std::string show_kit(const CheckedKit& checked, const Terminal& terminal) {
  const lang::Kit& kit = checked.kit();
  std::string text = terminal.paint(Style::strong, kit.suite.name) + " " + printable(kit.suite.version) + "\n";
  if (!kit.suite.description.empty()) {
    text += wrap_text(first_sentence(printable(kit.suite.description)), terminal.width) + "\n";
  }

  Table concepts{.columns = {{"CONCEPT"}, {"ACTIONS", Align::right}, {"PURPOSE"}}};
  for (const lang::KitConcept& each : kit.concepts) {
    concepts.rows.push_back({{each.tree.name, Style::strong},
                             {std::to_string(each.tree.actions.size())},
                             {first_sentence(each.tree.purpose)}});
  }
  for (const lang::AbsentConcept& each : kit.absent) {
    concepts.rows.push_back(
        {{each.name, Style::faint}, {"–", Style::faint}, {"not loaded: " + each.why, Style::faint}});
  }
  text += section(terminal, "Concepts") + render(concepts, terminal);

  Table syncs{.columns = {{"SYNC"}, {"ALIAS"}, {"TIER"}, {"STATE"}}, .empty = "No syncs."};
  for (const lang::KitSync& each : kit.syncs) {
    Style style = each.active() ? Style::plain : Style::faint;
    syncs.rows.push_back({{each.tree.name.text, each.active() ? Style::strong : Style::faint},
                          {each.alias == each.tree.name.text ? "" : each.alias, style},
                          {std::string(tier_name(each.tier)), style},
                          {!each.active()          ? "inactive: " + each.inactive
                           : each.derived          ? "active, from provides"
                           : each.replaces.empty() ? "active"
                                                   : "active, replaces the one at " + each.replaces,
                           each.active() ? Style::good : Style::faint}});
  }
  text += section(terminal, "Syncs") + render(syncs, terminal);

  if (!kit.guards.empty()) {
    Table guards{.columns = {{"GUARD"}, {"BINDS"}, {"STATE"}}};
    for (const lang::KitGuard& each : kit.guards) {
      guards.rows.push_back(
          {{each.tree.name.text, Style::strong},
           {bound_text(each.tree)},
           {each.active() ? "active" : "inactive: " + each.inactive, each.active() ? Style::good : Style::faint}});
    }
    text += section(terminal, "Guards") + render(guards, terminal);
  }
  if (!checked.cycles().empty()) {
    text += section(terminal, "Cycles");
    for (const lang::Cycle& cycle : checked.cycles()) {
      std::string kind = cycle.outside ? "from outside at every turn" : cycle.loop ? "[loop]" : "endless";
      text += wrap_text(to_string(cycle, kit, checked.symbols()), terminal.width, 2) + "  " +
              terminal.paint(cycle.outside || cycle.loop ? Style::faint : Style::warning, "(" + kind + ")") + "\n";
    }
  }
  return text;
}

outputs::Kit shown_kit(const CheckedKit& checked) {
  const lang::Kit& kit = checked.kit();
  outputs::Kit shown{.name = kit.suite.name, .version = kit.suite.version, .description = kit.suite.description};
  for (size_t c = 0; c < checked.symbols().concepts.size(); ++c) {
    if (!checked.symbols().concepts[c].built_in) shown.concepts.push_back(shown_concept(checked, c));
  }
  for (const lang::AbsentConcept& each : kit.absent) shown.absent.push_back({each.name, each.why});
  for (size_t s = 0; s < kit.syncs.size(); ++s) shown.syncs.push_back(shown_sync(checked, s));
  for (size_t g = 0; g < kit.guards.size(); ++g) shown.guards.push_back(shown_guard(checked, g));
  for (const lang::Cycle& cycle : checked.cycles()) {
    shown.cycles.push_back({to_string(cycle, kit, checked.symbols()), cycle.outside, cycle.loop});
  }
  return shown;
}

// ----------------------------------------------------------------------------------------------------- concept

std::string show_concept(const CheckedKit& checked, size_t index, const Terminal& terminal) {
  const lang::ConceptSymbol& symbol = checked.symbols().concepts[index];
  const lang::Types& types = checked.symbols().types;
  std::string params;
  for (const lang::Name& param : symbol.source->params) params += (params.empty() ? " [" : ", ") + param.text;
  std::string text = terminal.paint(Style::strong, symbol.name) + (params.empty() ? "" : params + "]") + "\n";
  std::string purpose;
  for (char c : symbol.source->purpose) {
    bool blank = c == '\n' || c == ' ' || c == '\t';
    if (!blank || (!purpose.empty() && purpose.back() != ' ')) purpose += blank ? ' ' : c;
  }
  text += wrap_text(printable(purpose), terminal.width) + "\n";
  for (size_t a = 0; a < symbol.actions.size(); ++a) {
    const lang::ActionSymbol& action = symbol.actions[a];
    text += "\n" + terminal.paint(Style::heading, action.name) + fields_text(types, action.params) + "  " +
            terminal.paint(Style::faint,
                           std::string(runs_name(action.runs)) +
                               (action.callers == lang::Callers::syncs ? ", called by syncs alone" : "") +
                               (action.right.empty() ? "" : ", right " + action.right) +
                               (action.source->impact_at ? ", effect " + std::string(name_of(action.impact)) : "")) +
            "\n";
    for (const lang::VariantSymbol& variant : action.variants) {
      std::string fields = variant.fields.empty() ? "" : fields_text(types, variant.fields);
      text +=
          "  -> " + terminal.paint(variant.name == "ok" ? Style::good : Style::warning, variant.name) + fields + "\n";
    }
    Users users = users_of(checked, {index, a});
    auto line = [&](std::string_view title, const std::vector<std::string>& names) {
      if (!names.empty()) text += "  " + terminal.paint(Style::faint, title) + " " + listed(names) + "\n";
    };
    line("guarded by ", users.guarded);
    line("started by ", users.started);
    line("matched by ", users.matched);
    line("answered by", users.answered);
  }
  return text;
}

outputs::Concept shown_concept(const CheckedKit& checked, size_t index) {
  const lang::ConceptSymbol& symbol = checked.symbols().concepts[index];
  auto fields = [&](const std::vector<lang::FieldSymbol>& all) {
    std::vector<outputs::Field> shown;
    for (const lang::FieldSymbol& each : all) shown.push_back({each.name, checked.symbols().types.name(each.type)});
    return shown;
  };
  outputs::Concept shown{.name = symbol.name, .file = symbol.source->file, .purpose = symbol.source->purpose};
  for (size_t a = 0; a < symbol.actions.size(); ++a) {
    const lang::ActionSymbol& action = symbol.actions[a];
    Users users = users_of(checked, {index, a});
    outputs::Action one{.name = action.name,
                        .runs = std::string(runs_name(action.runs)),
                        .callers = action.callers == lang::Callers::syncs ? "syncs" : "anyone",
                        .params = fields(action.params),
                        .guardedBy = users.guarded,
                        .startedBy = users.started,
                        .matchedBy = users.matched,
                        .answeredBy = users.answered};
    if (!action.right.empty()) one.right = action.right;
    if (action.source->impact_at) one.effect = std::string(name_of(action.impact));
    for (const lang::VariantSymbol& each : action.variants) one.variants.push_back({each.name, fields(each.fields)});
    shown.actions.push_back(std::move(one));
  }
  return shown;
}

// -------------------------------------------------------------------------------------------------------- sync

std::optional<size_t> find_sync(const lang::Kit& kit, std::string_view name) {
  std::optional<size_t> found;
  for (size_t i = 0; i < kit.syncs.size(); ++i) {
    const lang::KitSync& each = kit.syncs[i];
    bool named = each.tree.name.text == name || each.alias == name;
    if (named && (!found || (each.active() && !kit.syncs[*found].active()))) found = i;
  }
  // By the name of one that was replaced its replacement is meant, whatever that is called.
  if (found && kit.syncs[*found].replaced) {
    auto by = std::ranges::find_if(kit.syncs, [&](const lang::KitSync& each) {
      return each.active() && !each.replaces.empty() && each.alias == kit.syncs[*found].alias;
    });
    if (by != kit.syncs.end()) return static_cast<size_t>(by - kit.syncs.begin());
  }
  return found;
}

std::string show_sync(const CheckedKit& checked, size_t index, const Terminal& terminal) {
  const lang::KitSync& each = checked.kit().syncs[index];
  std::string text = terminal.paint(Style::strong, each.tree.name.text) + "  " + std::string(tier_name(each.tier));
  if (each.alias != each.tree.name.text) text += ", known as " + printable(each.alias);
  if (!each.replaces.empty()) text += ", from " + each.tree.file + ", replaces the one at " + each.replaces;
  text += each.active() ? "\n" : terminal.paint(Style::warning, ", inactive: " + each.inactive) + "\n";
  if (!each.tree.purpose.empty()) text += wrap_text(printable(each.tree.purpose), terminal.width) + "\n";
  if (each.derived) {
    text += "It follows from `provides` at " + each.tree.file + ":" + std::to_string(each.tree.at.line) + ".\n";
  }
  text += "\n" + printable(each.derived ? lang::format(lang::SyncFile{.rules = {each.tree}})
                                        : rule_text(checked, each.tree.file, each.tree.at),
                           true);
  const SyncSymbol* symbol = symbol_of(checked, index);
  if (symbol == nullptr) return text;
  text += section(terminal, "Waits for");
  for (const Pattern& pattern : each.tree.when) text += "  " + pattern_text(pattern) + "\n";
  text += section(terminal, "Starts");
  for (size_t e = 0; e < symbol->then.size(); ++e) {
    for (const std::string& line : effect_texts(checked, *symbol, e)) text += "  " + line + "\n";
  }
  return text;
}

outputs::Sync shown_sync(const CheckedKit& checked, size_t index) {
  const lang::KitSync& each = checked.kit().syncs[index];
  outputs::Sync shown{.name = each.tree.name.text,
                      .alias = each.alias,
                      .tier = std::string(tier_name(each.tier)),
                      .kit = each.kit,
                      .file = each.tree.file,
                      .purpose = each.tree.purpose,
                      .eventual = each.tree.eventual,
                      .active = each.active()};
  if (!each.active()) shown.why = each.inactive;
  if (!each.replaces.empty()) shown.replaces = each.replaces;
  if (each.derived) shown.derived = true;
  for (const Pattern& pattern : each.tree.when) shown.waitsFor.push_back(pattern_text(pattern));
  if (const SyncSymbol* symbol = symbol_of(checked, index)) {
    for (size_t e = 0; e < symbol->then.size(); ++e) {
      for (const std::string& line : effect_texts(checked, *symbol, e)) shown.starts.push_back(line);
    }
  }
  return shown;
}

// ------------------------------------------------------------------------------------------------------- guard

std::optional<size_t> find_guard(const lang::Kit& kit, std::string_view name) {
  for (size_t i = 0; i < kit.guards.size(); ++i) {
    if (kit.guards[i].tree.name.text == name) return i;
  }
  return std::nullopt;
}

std::string show_guard(const CheckedKit& checked, size_t index, const Terminal& terminal) {
  const lang::KitGuard& each = checked.kit().guards[index];
  std::string text = terminal.paint(Style::strong, each.tree.name.text) + "  " + bound_text(each.tree);
  text += each.active() ? "\n" : terminal.paint(Style::warning, ", inactive: " + each.inactive) + "\n";
  if (!each.tree.purpose.empty()) text += wrap_text(printable(each.tree.purpose), terminal.width) + "\n";
  return text + "\n" + printable(rule_text(checked, each.tree.file, each.tree.at), true) +
         section(terminal, "Refuses with") + "  " + refusal_text(each.tree) + "\n";
}

outputs::Guard shown_guard(const CheckedKit& checked, size_t index) {
  const lang::KitGuard& each = checked.kit().guards[index];
  outputs::Guard shown{.name = each.tree.name.text,
                       .kit = each.kit,
                       .file = each.tree.file,
                       .purpose = each.tree.purpose,
                       .binds = bound_text(each.tree),
                       .refusesWith = refusal_text(each.tree),
                       .active = each.active()};
  if (!each.active()) shown.why = each.inactive;
  return shown;
}

}  // namespace sluice::cli
