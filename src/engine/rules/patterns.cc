// Patterns on records.
#include "engine/rules/patterns.h"

#include <algorithm>

#include "lang/format/print.h"

namespace sluice::engine {
namespace {

using PatternOutcome = lang::Pattern::Outcome;
using Link = lang::Pattern::Link;

bool is_variable(const lang::Name& name) { return name.text.starts_with('?'); }

// The printed pattern may break at these; here it is one line.
std::string on_one_line(std::string text) {
  std::ranges::replace(text, lang::kSoftBreak, ' ');
  std::ranges::replace(text, lang::kStrongBreak, ' ');
  return text;
}

void sort_unique(std::vector<size_t>& numbers) {
  std::ranges::sort(numbers);
  auto rest = std::ranges::unique(numbers);
  numbers.erase(rest.begin(), rest.end());
}

RecordClass class_of(const lang::Pattern& source, const lang::PatternSymbol& symbol) {
  RecordClass found{.outcome = source.outcome, .concept_ = symbol.concept_};
  for (lang::ActionRef each : symbol.bound()) found.actions.push_back(each.action);
  std::ranges::sort(found.actions);
  for (size_t action : found.actions) {
    auto& variants = found.variants.emplace_back();
    if (symbol.ref()) variants = symbol.variants;
    for (const auto& [ref, variant] : symbol.open) {
      if (ref.action == action && variant) variants.push_back(*variant);
    }
    std::ranges::sort(variants);
  }
  // `=> [ … ]` and a single variant with the same records are the same class.
  if (!found.actions.empty() && found.outcome == PatternOutcome::any) found.outcome = PatternOutcome::variant;
  if (found.actions.empty()) {
    auto texts = [](const std::vector<lang::Name>& names) {
      std::vector<std::string> texts;
      for (const lang::Name& name : names) texts.push_back(name.text);
      std::ranges::sort(texts);
      return texts;
    };
    if (!is_variable(source.action)) found.action_names = texts(source.actions());
    if (source.outcome == PatternOutcome::variant) found.variant_names = texts(source.variants());
    if (source.outcome == PatternOutcome::any) {
      for (const lang::FieldPattern& each : source.output) found.having.push_back(each.field);
      std::ranges::sort(found.having);
    }
  }
  if (source.outcome == PatternOutcome::engine) {
    for (const lang::Name& name : source.variants()) found.engine.push_back(*lang::engine_outcome_named(name.text));
    std::ranges::sort(found.engine);
  }
  return found;
}

}  // namespace

bool RecordClass::names(lang::ActionRef ref, const lang::Symbols& symbols) const {
  if (concept_ && *concept_ != ref.concept_) return false;
  if (!actions.empty()) return std::ranges::binary_search(actions, ref.action);
  return action_names.empty() || std::ranges::binary_search(action_names, symbols.action(ref).name);
}

bool RecordClass::has_outcome(const Record& record, const lang::Symbols& symbols) const {
  if (outcome == PatternOutcome::requested) return record.kind == RecordKind::request;
  if (record.kind != RecordKind::completion) return false;
  if (outcome == PatternOutcome::engine) return record.engine && std::ranges::binary_search(engine, *record.engine);
  if (record.engine || !record.variant) return false;
  if (!actions.empty()) {
    auto place = std::ranges::lower_bound(actions, record.action.action) - actions.begin();
    return std::ranges::binary_search(variants[static_cast<size_t>(place)], *record.variant);
  }
  const lang::VariantSymbol& ended = symbols.action(record.action).variants[*record.variant];
  if (outcome == PatternOutcome::variant) return std::ranges::binary_search(variant_names, ended.name);
  return std::ranges::all_of(
      having, [&](const std::string& field) { return lang::find_field(ended.fields, field).has_value(); });
}

bool CompiledPattern::may_fit(const Record& record, const lang::Symbols& symbols) const {
  auto may = [](const std::vector<FieldMatcher>& fields, const json::object& object) {
    return std::ranges::all_of(fields, [&](const FieldMatcher& each) {
      return !each.matcher.is_literal() || each.matcher.is(member_at(object, each.field));
    });
  };
  return record_class.has(record, symbols) && may(input, record.input) && may(output, record.output);
}

bool CompiledPattern::fits(const Record& record, const lang::Symbols& symbols, Bindings& bindings,
                           std::vector<size_t>& bound) const {
  if (!record_class.has(record, symbols)) return false;
  if (std::ranges::find(not_of, record.action.concept_) != not_of.end()) return false;
  if (!fit_all(input, record.input, bindings, bound) || !fit_all(output, record.output, bindings, bound)) return false;
  auto take = [&](const std::optional<size_t>& slot, const std::string& text) {
    if (!slot) return true;
    json::value value(text);
    return Matcher::variable(*slot).fits(&value, bindings, bound);
  };
  return take(concept_slot, symbols.concepts[record.action.concept_].name) &&
         take(action_slot, symbols.action(record.action).name) &&
         (!as_slot || take(as_slot, sluice::to_string(record.invocation)));
}

CompiledPattern compile_pattern(const lang::Pattern& source, const lang::PatternSymbol& symbol, Slots& slots) {
  CompiledPattern pattern{.link = source.link, .record_class = class_of(source, symbol)};
  if (is_variable(source.concept_)) pattern.concept_slot = slots.slot(source.concept_.text.substr(1));
  if (is_variable(source.action)) pattern.action_slot = slots.slot(source.action.text.substr(1));
  pattern.input = compile_fields(source.input, slots);
  pattern.output = compile_fields(source.output, slots);
  if (source.as) pattern.as_slot = slots.slot(source.as->text);
  for (const auto& slot : {pattern.concept_slot, pattern.action_slot, pattern.as_slot}) {
    if (slot) pattern.slots.push_back(*slot);
  }
  for (const auto* fields : {&pattern.input, &pattern.output}) {
    for (const FieldMatcher& each : *fields) each.matcher.gather(pattern.slots);
  }
  sort_unique(pattern.slots);
  pattern.text = on_one_line(lang::print(source));
  return pattern;
}

When compile_when(const std::vector<lang::Pattern>& source, const std::vector<lang::PatternSymbol>& symbols,
                  Slots& slots, std::vector<RecordClass>& classes) {
  When when;
  for (size_t i = 0; i < source.size(); ++i) {
    CompiledPattern pattern = compile_pattern(source[i], symbols[i], slots);
    switch (pattern.link) {
      case Link::plain:
        when.groups.push_back({.plain = i, .slots = pattern.slots});
        break;
      case Link::caused_by: {
        auto known = std::ranges::find(classes, pattern.record_class);
        pattern.cause = static_cast<size_t>(known - classes.begin());
        if (known == classes.end()) classes.push_back(pattern.record_class);
        Group& above = when.groups.back();
        above.causes.push_back(i);
        above.slots.insert(above.slots.end(), pattern.slots.begin(), pattern.slots.end());
        sort_unique(above.slots);
        break;
      }
      case Link::latest:
        when.latest.push_back(i);
        break;
    }
    when.patterns.push_back(std::move(pattern));
  }
  return when;
}

bool When::fits(const Group& group, const RecordRef& record, const lang::Symbols& symbols, Bindings& bindings,
                std::vector<size_t>& bound, std::vector<RecordRef>& records) const {
  if (!patterns[group.plain].fits(*record, symbols, bindings, bound)) return false;
  records[group.plain] = record;
  for (size_t position : group.causes) {
    const CompiledPattern& pattern = patterns[position];
    if (!record->causes || pattern.cause >= record->causes->size()) return false;
    const RecordRef& cause = (*record->causes)[pattern.cause];
    if (!cause || !pattern.fits(*cause, symbols, bindings, bound)) return false;
    records[position] = cause;
  }
  return true;
}

}  // namespace sluice::engine
