// Compiles the syncs of a kit, and turns matches into follow-ups.
#include "engine/rules/sync_set.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <set>

#include "crypto/sha256.h"
#include "engine/journal/value.h"
#include "engine/rules/compiled_set.h"
#include "lang/format/format.h"

namespace sluice::engine {
namespace {

std::string hex_of(std::string_view text) {
  std::string digest = crypto::to_string(crypto::sha256(text));
  return digest.substr(digest.find(':') + 1);
}

CompiledEffect compile_effect(const lang::Effect& source, const std::vector<lang::TargetSymbol>& targets,
                              Slots& slots) {
  CompiledEffect effect{.is_answer = source.kind == lang::Effect::Kind::answer,
                        .targets = targets,
                        .variant = source.variant.text,
                        .arguments = compile_arguments(source.arguments, slots)};
  if (effect.is_answer) effect.variable = source.request->text;
  if (!effect.is_answer && source.concept_.text.starts_with('?')) effect.variable = source.concept_.text.substr(1);
  if (!effect.variable.empty()) effect.slot = slots.slot(effect.variable);
  return effect;
}

// A sync that listens to everything must not hear what it does itself, or it would never end.
void exclude_own(CompiledSync& sync) {
  std::vector<size_t> own;
  for (const CompiledEffect& effect : sync.then) {
    if (effect.is_answer) continue;
    for (const lang::TargetSymbol& target : effect.targets) own.push_back(target.action.concept_);
  }
  for (const Group& group : sync.when.groups) {
    CompiledPattern& pattern = sync.when.patterns[group.plain];
    if (!pattern.record_class.concept_) pattern.not_of = own;
  }
}

// The slots whose values make two firings of a sync equal. An `as` takes its variable back from what came before it.
std::vector<size_t> told_slots(const When& when) {
  std::set<size_t> slots;
  for (const CompiledPattern& pattern : when.patterns) {
    slots.insert(pattern.slots.begin(), pattern.slots.end());
    if (pattern.as_slot) slots.erase(*pattern.as_slot);
  }
  return {slots.begin(), slots.end()};
}

CompiledSync compile_sync(const lang::Sync& source, const lang::SyncSymbol& symbol, const lang::Symbols& symbols,
                          std::vector<RecordClass>& classes) {
  CompiledSync sync{.name = source.name.text,
                    .title = "sync `" + source.name.text + "`",
                    .eventual = source.eventual,
                    .loop = source.loop};
  for (const lang::VariableSymbol& each : symbol.variables) sync.variables.push_back(each.name);
  for (const lang::Name& each : source.retry_variants) sync.retry_variants.push_back(each.text);
  Slots slots(symbol.variables);
  sync.when = compile_when(source.when, symbol.when, slots, classes);
  sync.plan = plan_joins(sync.when);
  sync.told = told_slots(sync.when);
  sync.where = compile_conditions(source.where, symbol.where, symbols, slots);
  for (size_t i = 0; i < source.then.size(); ++i) {
    CompiledEffect effect = compile_effect(source.then[i], symbol.then[i], slots);
    for (const CompiledArgument& each : effect.arguments) each.value.gather(sync.used);
    if (effect.slot) sync.used.push_back(*effect.slot);
    sync.then.push_back(std::move(effect));
  }
  std::ranges::sort(sync.used);
  auto rest = std::ranges::unique(sync.used);
  sync.used.erase(rest.begin(), rest.end());
  exclude_own(sync);
  sync.slots = slots.size();
  return sync;
}

// Each action learns who listens to it.
void place_patterns(CompiledSet& set) {
  const lang::Symbols& symbols = set.symbols();
  for (const lang::ConceptSymbol& each : symbols.concepts) set.places.emplace_back(each.actions.size());
  auto add = [&](const CompiledPattern& pattern, auto&& put) {
    for (size_t c = 0; c < symbols.concepts.size(); ++c) {
      if (pattern.record_class.concept_ && *pattern.record_class.concept_ != c) continue;
      if (std::ranges::find(pattern.not_of, c) != pattern.not_of.end()) continue;
      for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
        if (pattern.record_class.names({c, a}, symbols)) put(set.places[c][a]);
      }
    }
  };
  for (size_t s = 0; s < set.syncs.size(); ++s) {
    const When& when = set.syncs[s].when;
    for (size_t g = 0; g < when.groups.size(); ++g) {
      add(when.patterns[when.groups[g].plain], [&](auto& places) { places.triggers.push_back({s, g}); });
    }
    for (size_t l = 0; l < when.latest.size(); ++l) {
      add(when.patterns[when.latest[l]], [&](auto& places) { places.latest.push_back({s, l}); });
    }
  }
}

// The ids of one firing's uuid(). Few rules ask for any.
struct FiringIds {
  const CompiledSync& sync;
  const Match& match;
  int64_t now_ms;
  std::function<std::string()> source = nullptr;

  std::string next() {
    if (!source) {
      std::string seed = sync.hash;
      for (const RecordRef& record : match.records) seed += " " + to_string(id_of(*record));
      source = id_source(now_ms, std::move(seed));
    }
    return source();
  }
};

Result<FollowUp> follow_up(const CompiledSync& sync, const CompiledEffect& effect, const Bindings& row,
                           const Moment& moment) {
  FollowUp next{.is_answer = effect.is_answer, .arguments = evaluate(effect.arguments, row, moment)};
  if (!effect.targets.empty()) {
    next.action = effect.targets[0].action;
    next.variant = effect.targets[0].variant;
  }
  if (!effect.is_answer) return next;
  next.variant_name = effect.variant;
  std::string text = text_of(row[*effect.slot]);
  auto request = Ulid::parse(text);
  if (!request) {
    return Error{.code = Code::invalid,
                 .message = sync.title + ": it answers `?" + effect.variable + "`, but \"" + text + "\" is no request"};
  }
  next.request = *request;
  return next;
}

// A dynamic target leads to the candidate of that name.
void choose_target(const CompiledEffect& effect, const lang::Symbols& symbols, const Bindings& row, FollowUp& next) {
  if (effect.is_answer || !effect.slot) return;
  std::string wanted = text_of(row[*effect.slot]);
  auto target = std::ranges::find_if(effect.targets, [&](const lang::TargetSymbol& each) {
    return symbols.concepts[each.action.concept_].name == wanted;
  });
  if (target == effect.targets.end()) {
    next.unavailable = wanted;
  } else {
    next.action = target->action;
  }
}

bool same_row(const CompiledSync& sync, const Bindings& a, const Bindings& b) {
  return std::ranges::all_of(sync.used, [&](size_t slot) { return std::is_eq(order(a[slot], b[slot])); });
}

bool row_before(const CompiledSync& sync, const Bindings& a, const Bindings& b) {
  for (size_t slot : sync.used) {
    if (auto found = order(a[slot], b[slot]); std::is_neq(found)) return std::is_lt(found);
  }
  return false;
}

// A cause is kept without causes of its own: whatever follows from it has them too, and chains of causes would keep
// all that ever happened.
RecordRef without_causes(const RecordRef& record) {
  if (!record->causes) return record;
  auto copy = std::make_shared<Record>(*record);
  copy->causes = nullptr;
  return copy;
}

bool is_newer(const RecordRef& a, const RecordRef& b) {
  return std::tuple(a->seq, id_of(*a)) > std::tuple(b->seq, id_of(*b));
}

}  // namespace

Result<std::shared_ptr<const SyncSet>> SyncSet::compile(std::shared_ptr<const lang::CheckedKit> kit) {
  auto set = std::make_shared<CompiledSet>();
  std::vector<lang::SyncSymbol> symbols = kit->syncs();
  auto tree_of = [&](const lang::SyncSymbol& symbol) -> const lang::Sync& {
    return kit->kit().syncs[symbol.sync].tree;
  };
  auto name_of = [&](const lang::SyncSymbol& symbol) -> const std::string& { return tree_of(symbol).name.text; };
  std::ranges::sort(symbols, {}, name_of);
  if (auto twice = std::ranges::adjacent_find(symbols, {}, name_of); twice != symbols.end()) {
    return Error{.code = Code::invalid, .message = "two active syncs are called `" + name_of(*twice) + "`"};
  }
  for (const lang::SyncSymbol& symbol : symbols) {
    std::string text = lang::format(lang::SyncFile{.rules = {tree_of(symbol)}});
    set->text += (set->text.empty() ? "" : "\n") + text;
    set->syncs.push_back(compile_sync(tree_of(symbol), symbol, kit->symbols(), set->causes));
    set->syncs.back().hash = hex_of(text);
  }
  set->hash = hex_of(set->text);
  set->kit = std::move(kit);
  place_patterns(*set);
  return std::shared_ptr<const SyncSet>(new SyncSet(std::move(set)));
}

SyncSet::SyncSet(std::shared_ptr<const CompiledSet> compiled) : compiled_(std::move(compiled)) {}
SyncSet::~SyncSet() = default;

const std::string& SyncSet::hash() const { return compiled_->hash; }
const std::string& SyncSet::text() const { return compiled_->text; }
const lang::CheckedKit& SyncSet::kit() const { return *compiled_->kit; }
size_t SyncSet::size() const { return compiled_->syncs.size(); }
const std::string& SyncSet::name(size_t sync) const { return compiled_->syncs[sync].name; }
const std::string& SyncSet::hash(size_t sync) const { return compiled_->syncs[sync].hash; }
bool SyncSet::is_eventual(size_t sync) const { return compiled_->syncs[sync].eventual; }
bool SyncSet::is_loop(size_t sync) const { return compiled_->syncs[sync].loop; }
const std::vector<std::string>& SyncSet::variables(size_t sync) const { return compiled_->syncs[sync].variables; }

std::optional<size_t> SyncSet::find(std::string_view name) const {
  auto found = std::ranges::lower_bound(compiled_->syncs, name, {}, &CompiledSync::name);
  if (found == compiled_->syncs.end() || found->name != name) return std::nullopt;
  return static_cast<size_t>(found - compiled_->syncs.begin());
}

bool SyncSet::retries_on(size_t sync, std::string_view variant) const {
  const auto& variants = compiled_->syncs[sync].retry_variants;
  return std::ranges::find(variants, variant) != variants.end();
}

Causes SyncSet::causes_of(const std::vector<RecordRef>& matched, const RecordRef& beneath) const {
  const std::vector<RecordClass>& classes = compiled_->causes;
  const lang::Symbols& symbols = compiled_->symbols();
  auto nearest = [&](const RecordRef& record, size_t number) -> const RecordRef* {
    if (!record) return nullptr;
    if (classes[number].has(*record, symbols)) return &record;
    if (!record->causes || number >= record->causes->size() || !(*record->causes)[number]) return nullptr;
    return &(*record->causes)[number];
  };
  if (classes.empty()) return nullptr;
  std::vector<RecordRef> found(classes.size());
  for (size_t number = 0; number < classes.size(); ++number) {
    if (classes[number].outcome == lang::Pattern::Outcome::requested) {
      if (const RecordRef* request = nearest(beneath, number)) found[number] = *request;
      continue;
    }
    for (const RecordRef& record : matched) {
      const RecordRef* ancestor = nearest(record, number);
      if (ancestor != nullptr && (!found[number] || is_newer(*ancestor, found[number]))) found[number] = *ancestor;
    }
  }
  for (const RecordRef& record : matched) {
    if (record && record->causes && *record->causes == found) return record->causes;
  }
  for (RecordRef& cause : found) {
    if (cause) cause = without_causes(cause);
  }
  return std::make_shared<const std::vector<RecordRef>>(std::move(found));
}

size_t SyncSet::binding_of(size_t sync, const Bindings& bindings) const {
  const CompiledSync& compiled = compiled_->syncs[sync];
  if (compiled.loop) return 0;
  size_t hash = compiled.told.size();
  for (size_t slot : compiled.told) hash = combine(hash, bindings[slot] ? hash_of(*bindings[slot]) : 0);
  return hash;
}

size_t SyncSet::binding_of(size_t sync, const std::vector<RecordRef>& records) const {
  const CompiledSync& compiled = compiled_->syncs[sync];
  if (compiled.loop) return 0;
  Bindings bindings(compiled.slots);
  std::vector<size_t> bound;
  for (size_t i = 0; i < records.size() && i < compiled.when.patterns.size(); ++i) {
    const CompiledPattern& pattern = compiled.when.patterns[i];
    if (records[i]) (void)pattern.fits(*records[i], compiled_->symbols(), bindings, bound);
    if (pattern.as_slot) bindings[*pattern.as_slot].reset();
  }
  return binding_of(sync, bindings);
}

namespace {

Error asks_too_much(const CompiledSync& sync, size_t most) {
  return {.code = Code::limit,
          .message = sync.title + ": what it asks for has more than " + std::to_string(most) + " bytes",
          .next = "pass on what is large as a blob's digest"};
}

}  // namespace

Result<std::vector<FollowUp>> SyncSet::follow_ups(const Match& match, const StateReader& state, size_t* rows,
                                                  AskRoom* room) const {
  const CompiledSync& sync = compiled_->syncs[match.sync];
  FiringIds ids{sync, match, state.now_ms()};
  Moment moment{state.now_ms(), [&ids] { return ids.next(); }};
  Bindings start = match.bindings;
  start.resize(sync.slots);
  auto solved = solve(sync.where, std::move(start), state, moment, sync.title);
  if (!solved) return solved.error();
  if (solved->size() > 1) {
    std::ranges::stable_sort(*solved, [&](const Bindings& a, const Bindings& b) { return row_before(sync, a, b); });
    auto same = [&](const Bindings& a, const Bindings& b) { return same_row(sync, a, b); };
    auto rest = std::ranges::unique(*solved, same);
    solved->erase(rest.begin(), rest.end());
  }
  if (rows != nullptr) *rows = solved->size();

  size_t used = room == nullptr ? 0 : room->used;
  std::vector<FollowUp> follow_ups;
  for (size_t r = 0; r < solved->size(); ++r) {
    for (size_t place = 0; place < sync.then.size(); ++place) {
      auto next = follow_up(sync, sync.then[place], (*solved)[r], moment);
      if (!next) return next.error();
      if (room != nullptr) {
        size_t bytes = text_bytes(next->arguments, room->one);
        if (bytes > room->one) return asks_too_much(sync, room->one);
        used += bytes;
        if (used > room->all) return asks_too_much(sync, room->all);
      }
      choose_target(sync.then[place], compiled_->symbols(), (*solved)[r], *next);
      next->row = r;
      next->place = place;
      follow_ups.push_back(std::move(*next));
    }
  }
  if (room != nullptr) room->used = used;
  return follow_ups;
}

std::unique_ptr<SyncSet::Memory> SyncSet::new_memory() const { return std::make_unique<Memory>(compiled_); }

}  // namespace sluice::engine
