// The order of the passes, and the small things that all of them use.
#include "lang/check/check.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cassert>
#include <charconv>
#include <tuple>

#include "base/nearest.h"
#include "lang/check/check_kinds.h"
#include "lang/check/check_parts.h"
#include "lang/check/provided_rules.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace {

constexpr std::string_view kEngineConcepts[] = {
    R"(concept Timer [T] {
  purpose { A durable pause. A second wait of the same name beneath the same request supersedes the first. }
  actions {
    action wait(name: String, seconds: Int) {
      runs: effect
      -> ok(at: DateTime)
      -> superseded
    }
  }
})",
    R"(concept Flow [F] {
  purpose { Undoes what completed beneath a request, newest first. }
  actions {
    action undo(request: Request) {
      runs: answered
      -> ok(undone: list String)
      -> stuck(undone: list String, stuck: list String, reason: String)
    }
  }
})",
};

constexpr std::string_view kEngineOutcomes[] = {"fault",      "unavailable", "timeout",       "unknown",
                                                "unanswered", "refused",     "denied",        "conflict",
                                                "cancelled",  "limit",       "needsMigration"};

// Whether a rule names a concept whose file did not parse: what it says cannot be judged.
bool names_any(const Sync& sync, const std::unordered_set<std::string>& names) {
  auto any = [&](const Name& name) { return names.contains(name.text); };
  auto queried = [&](const Condition& condition) { return names.contains(condition.query.concept_.text); };
  return std::ranges::any_of(sync.when, any, &Pattern::concept_) || std::ranges::any_of(sync.where, queried) ||
         std::ranges::any_of(sync.then, [&](const Effect& effect) {
           return any(effect.concept_) || std::ranges::any_of(effect.candidates, any);
         });
}

bool names_any(const Guard& guard, const std::unordered_set<std::string>& names) {
  auto queried = [&](const Condition& condition) { return names.contains(condition.query.concept_.text); };
  return (guard.before && names.contains(guard.before->concept_.text)) ||
         (guard.over && names.contains(guard.over->concept_.text)) || std::ranges::any_of(guard.where, queried) ||
         std::ranges::any_of(guard.require, queried);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------ report

void Report::add(Diagnostic::Severity severity, const Place& place, std::string_view rule, std::string text,
                 std::string hint) {
  std::string key = std::string(place.file) + ":" + std::to_string(place.at.line) + ":" +
                    std::to_string(place.at.column) + ":" + text;
  if (told_.contains(key)) return;
  if (told_.size() < kRemembered) told_.insert(std::move(key));
  found.add({.severity = severity,
             .file = std::string(place.file),
             .mark = place.at,
             .length = static_cast<uint32_t>(std::max<size_t>(place.length, 1)),
             .text = std::move(text),
             .hint = std::move(hint),
             .rule = std::string(rule)});
}

void Report::error(const Place& place, std::string_view rule, std::string text, std::string hint) {
  add(Diagnostic::Severity::error, place, rule, std::move(text), std::move(hint));
}

void Report::warning(const Place& place, std::string_view rule, std::string text, std::string hint) {
  add(Diagnostic::Severity::warning, place, rule, std::move(text), std::move(hint));
}

void Report::misaligned(const Place& place, std::string text) {
  add(strict_ ? Diagnostic::Severity::error : Diagnostic::Severity::warning, place, "alignment", std::move(text),
      "the suite tags them as ids of different things: give the id that is meant here, or one tag to both under "
      "`params` in suite.yaml");
}

std::string_view Report::line(std::string_view file, uint32_t number) const {
  auto source = sources_.find(std::string(file));
  if (source == sources_.end()) return {};
  std::string_view text = source->second;
  auto [known, fresh] = lines_.try_emplace(std::string(file));
  std::vector<size_t>& starts = known->second;
  if (fresh) {
    starts.push_back(0);
    for (size_t end; (end = text.find('\n', starts.back())) != std::string_view::npos;) starts.push_back(end + 1);
  }
  if (number == 0 || number > starts.size()) return {};
  size_t begin = starts[number - 1], end = number < starts.size() ? starts[number] - 1 : text.size();
  return text.substr(begin, end - begin);
}

Place Report::word(std::string_view file, const At& at, std::string_view word) const {
  std::string_view text = line(file, at.line);
  auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  // Columns count code points; what stands before the mark may hold wider ones. What is further on in the line that was
  // last looked at is counted from there: a line may be as long as a file.
  bool further = walked_.file == file && walked_.line == at.line && walked_.column <= at.column;
  size_t byte = further ? walked_.byte : 0;
  uint32_t column = further ? walked_.column : 1;
  auto step = [&] {
    ++byte;
    while (byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80) ++byte;
    ++column;
  };
  while (byte < text.size() && column < at.column) step();
  walked_ = {std::string(file), at.line, column, byte};
  for (; byte < text.size(); step()) {
    if (text.compare(byte, word.size(), word) != 0) continue;
    bool whole = (byte == 0 || !is_part(text[byte - 1])) &&
                 (byte + word.size() >= text.size() || !is_part(text[byte + word.size()]));
    if (whole) return {file, At{{at.line, column}}, word.size()};
  }
  return {file, at, word.size()};
}

std::string literal_text(const json::value& value) {
  if (!value.is_double()) return json::serialize(value);
  std::array<char, 32> text;
  auto end = std::to_chars(text.begin(), text.end(), value.get_double()).ptr;
  std::string written(text.begin(), end);
  return written.find_first_of(".e") == std::string::npos ? written + ".0" : written;
}

std::string near_name(std::string_view word, const std::vector<std::string>& names) {
  auto found = nearest(word, std::span<const std::string>(names));
  return found ? "did you mean " + quoted(*found) + "?" : "";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string near = near_name(word, names);
  if (!near.empty()) return near;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (std::ranges::find(shown, quoted(name)) == shown.end()) shown.push_back(quoted(name));
  }
  if (shown.empty()) return "there is none: leave it out";
  if (shown.size() <= kMost) return "there is " + join(shown);
  size_t more = shown.size() - kMost;
  shown.resize(kMost);
  shown.push_back(std::to_string(more) + " more");
  return "there is " + join(shown);
}

std::vector<std::string> without_misspelt(std::vector<std::string> missing, const std::vector<std::string>& unknown) {
  if (missing.size() == 1 && unknown.size() == 1) return {};
  for (const std::string& each : unknown) {
    if (auto meant = nearest(each, std::span<const std::string>(missing))) std::erase(missing, *meant);
  }
  return missing;
}

std::vector<std::string> names_of(const std::vector<FieldSymbol>& fields) {
  std::vector<std::string> names;
  for (const FieldSymbol& each : fields) names.push_back(each.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<VariantSymbol>& variants) {
  std::vector<std::string> names;
  for (const VariantSymbol& each : variants) names.push_back(each.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<ActionSymbol>& actions) {
  std::vector<std::string> names;
  for (const ActionSymbol& each : actions) names.push_back(each.name);
  return names;
}

std::string join(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    text += words[i];
  }
  return text;
}

Place place_of(std::string_view file, const Name& name) { return {file, name.at, name.text.size()}; }
Place place_of_variable(std::string_view file, const Name& name) { return {file, name.at, name.text.size() + 1}; }

Place place_of(std::string_view file, const Expr& expr) {
  switch (expr.op) {
    case Expr::Op::variable:
      return {file, expr.at, expr.name.size() + 1};
    case Expr::Op::literal:
      return {file, expr.at, literal_text(expr.value).size()};
    default:
      return {file, expr.at, 1};
  }
}

bool is_engine_outcome(std::string_view name) {
  return std::ranges::find(kEngineOutcomes, name) != std::end(kEngineOutcomes);
}

const std::vector<Concept>& engine_concepts() {
  static const std::vector<Concept> kParsed = [] {
    std::vector<Concept> parsed;
    for (std::string_view text : kEngineConcepts) {
      Diagnostics found;
      auto tree = parse_concept(text, "(engine)", found);
      assert(tree && "the engine's own concepts parse");
      parsed.push_back(std::move(*tree));
    }
    return parsed;
  }();
  return kParsed;
}

// ------------------------------------------------------------------------------------------------------- check

namespace {

// Whether each name that says what a sync waits for and what it starts has led somewhere.
bool is_resolved(const Sync& sync, const SyncSymbol& symbol) {
  auto named = [](const Name& name) { return !name.text.starts_with('?'); };
  for (size_t p = 0; p < sync.when.size(); ++p) {
    const Pattern& pattern = sync.when[p];
    const PatternSymbol& found = symbol.when[p];
    if ((named(pattern.concept_) && !found.concept_) ||
        (named(pattern.action) && found.bound().empty() && found.open.empty())) {
      return false;
    }
    bool variants = pattern.outcome == Pattern::Outcome::variant || pattern.outcome == Pattern::Outcome::any;
    if (found.ref() && variants && found.variants.empty()) return false;
  }
  return std::ranges::none_of(symbol.then, [](const auto& targets) { return targets.empty(); });
}

}  // namespace

struct Checker {
  static Checked run(Kit given, const CheckOptions& options) {
    CheckedKit checked;
    auto whole_kit = std::make_unique<Kit>(std::move(given));
    Report report(options.strict, whole_kit->sources);
    report.found = whole_kit->found;

    checked.symbols_ = declare(*whole_kit, report);
    check_concepts(*whole_kit, checked.symbols_, report);
    check_suite(*whole_kit, checked.symbols_, report);
    if (std::exchange(whole_kit->derives, false)) add_provided_rules(*whole_kit, checked.symbols_, report);
    checked.kit_ = std::move(whole_kit);
    const Kit& kit = *checked.kit_;

    std::unordered_set<std::string> absent, broken(kit.broken.begin(), kit.broken.end());
    for (const AbsentConcept& each : kit.absent) absent.insert(each.name);
    check_next_of_variants(kit, checked.symbols_, absent, report);
    // What a sync that did not load or resolve would lead to, would be told as missing.
    bool whole = !kit.incomplete;
    for (size_t i = 0; i < kit.syncs.size(); ++i) {
      if (!kit.syncs[i].active() || names_any(kit.syncs[i].tree, broken)) continue;
      checked.syncs_.push_back(check_sync(kit, i, checked.symbols_, absent, report));
      whole = whole && is_resolved(kit.syncs[i].tree, checked.syncs_.back());
    }
    for (size_t i = 0; i < kit.guards.size(); ++i) {
      if (!kit.guards[i].active() || names_any(kit.guards[i].tree, broken)) continue;
      checked.guards_.push_back(check_guard(kit, i, checked.symbols_, absent, report));
    }
    mark_indexed(kit, checked.syncs_, checked.guards_, checked.symbols_);
    size_t unlisted = 0;
    checked.cycles_ = find_cycles(kit, checked.symbols_, checked.syncs_, unlisted);
    if (whole) {
      Kinds kinds(kit, checked.symbols_, checked.syncs_);
      check_flow(kit, checked.symbols_, checked.syncs_, kinds, checked.cycles_, unlisted, report);
      check_causes(kit, checked.symbols_, checked.syncs_, kinds, report);
    }

    Checked result{.sources = kit.sources,
                   .concepts = kit.concepts.size(),
                   .syncs = static_cast<size_t>(std::ranges::count_if(kit.syncs, &KitSync::is_there)),
                   .guards = kit.guards.size()};
    result.diagnostics = report.found.all();
    result.errors = report.found.errors();
    result.warnings = report.found.warnings();
    result.rest = report.found.rest();
    std::ranges::stable_sort(result.diagnostics, {}, [](const Diagnostic& each) {
      return std::tuple<const std::string&, uint32_t, uint32_t>(each.file, each.mark.line, each.mark.column);
    });
    bool failed = report.found.failed();
    if (!failed) result.kit = std::move(checked);
    return result;
  }
};

Checked check(Kit kit, const CheckOptions& options) { return Checker::run(std::move(kit), options); }

}  // namespace sluice::lang
