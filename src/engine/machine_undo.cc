// Flow/undo: what completed beneath a request is compensated, newest first and one at a time. Of what stands beneath
// each other only the outermost is: its own reversal takes care of the rest.
#include <algorithm>
#include <boost/json.hpp>

#include "engine/journal/journal_search.h"
#include "engine/machine.h"

namespace sluice::engine {
json::value Machine::plan_undo(const Flow& flow, const json::object& input) {
  auto fail = [](const std::string& reason) { return json::value{{"undo", json::array{}}, {"error", reason}}; };
  const json::value* text = input.if_contains("request");
  auto request = Ulid::parse(text != nullptr && text->is_string() ? std::string_view(text->get_string()) : "");
  if (!request) return fail("Flow/undo needs a request");

  land_or_throw();
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  // The request's flow: an open one, this one, or one that the journal knows.
  Ulid owner = flow.id;
  if (auto open = requests_.find(*request); open != requests_.end()) {
    owner = open->second;
  } else {
    auto begun = find_begin(**snapshot, *request);
    if (!begun) throw UnreadableStore(begun.error());
    if (*begun) owner = (*begun)->flow;
  }
  auto row = (*snapshot)->flow(owner);
  if (!row) throw UnreadableStore(row.error());
  auto steps = steps_from(**snapshot, *row ? (*row)->head : 0);
  if (!steps) throw UnreadableStore(steps.error());
  for (const store::JournalRow& fresh : batch_.journal) {
    if (fresh.flow != owner) continue;
    if (auto step = read_step(fresh.record)) steps->push_back(*std::move(step));
  }

  std::map<Ulid, Invoked> all = invocations_of(*steps);
  if (!all.contains(*request)) return fail("there is no request " + sluice::to_string(*request));
  auto to_undo = [&](const Invoked& done) -> const lang::ReversalSymbol* {
    auto action = actions_.find(done.action);
    if (!action || !done.end) return nullptr;
    const lang::ActionSymbol& symbol = symbols().action(*action);
    if (!symbol.reversal) return nullptr;
    auto variant = lang::find_variant(symbol, done.end->variant);
    bool listed = variant && std::ranges::find(symbol.reversal->variants, *variant) != symbol.reversal->variants.end();
    return done.end->variant == "ok" || listed || done.end->maybe_done ? &*symbol.reversal : nullptr;
  };
  std::vector<std::pair<uint64_t, json::value>> items;
  for (const auto& [id, done] : all) {
    const lang::ReversalSymbol* reversal = to_undo(done);
    if (reversal == nullptr || id == *request || done.compensates) continue;
    bool beneath = false;
    bool outermost = true;
    for (Ulid above = done.beneath; above != Ulid{}; above = all[above].beneath) {
      if (above == *request) {
        beneath = true;
        break;
      }
      outermost = outermost && to_undo(all[above]) == nullptr;
    }
    if (!beneath || !outermost) continue;
    lang::ActionRef action{actions_.find(done.action)->concept_, reversal->action};
    json::object arguments;
    for (const lang::FieldSymbol& param : symbols().action(action).params) {
      const json::value* value = done.end->fields.if_contains(param.name);
      if (value == nullptr) value = done.input.if_contains(param.name);
      if (value != nullptr) arguments[param.name] = *value;
    }
    items.emplace_back(done.seq, json::value{{"of", done.action + " " + sluice::to_string(id)},
                                             {"action", actions_.name(action)},
                                             {"input", std::move(arguments)}});
  }
  std::ranges::sort(items, std::ranges::greater(), [](const auto& item) { return item.first; });
  json::array list;
  for (auto& [seq, item] : items) list.push_back(std::move(item));
  return json::value{{"undo", std::move(list)}};
}

void Machine::open_undo(Flow& flow, Invocation& undo, const json::value& work) {
  undo.undo = Undo{.items = compensations_of(undo.id, work)};
  if (const json::value* error = work.as_object().if_contains("error")) {
    return answer_undo(flow, undo, std::string(error->as_string()));
  }
  next_compensation(flow, undo);
}

void Machine::next_compensation(Flow& flow, Invocation& undo) {
  if (undo.undo->next == undo.undo->items.size()) return answer_undo(flow, undo, "");
  const Compensation& next = undo.undo->items[undo.undo->next];
  Planned planned{.id = next.id, .action = next.action, .fields = next.input};
  Invocation* invocation =
      invoke(flow, planned, &undo, flow.set->causes_of({undo.request}, undo.request), Origin::outside());
  if (invocation != nullptr) invocation->compensates = true;
}

void Machine::compensation_ended(Flow& flow, Invocation& undo, const End& end) {
  if (!undo.undo || !undo.answers.empty()) return;
  if (end.variant == "ok") {
    ++undo.undo->next;
    return next_compensation(flow, undo);
  }
  std::string reason = undo.undo->items[undo.undo->next].action + " => " + end.variant;
  if (const json::value* message = end.fields.if_contains("message"); message != nullptr && message->is_string()) {
    reason += ": " + std::string(message->get_string());
  }
  answer_undo(flow, undo, reason);
}

// Without a reason all is undone.
void Machine::answer_undo(Flow& flow, Invocation& undo, const std::string& reason) {
  json::array undone, stuck;
  for (size_t i = 0; i < undo.undo->items.size(); ++i) {
    (i < undo.undo->next ? undone : stuck).emplace_back(undo.undo->items[i].of);
  }
  json::object fields{{"undone", std::move(undone)}};
  if (!reason.empty()) {
    fields["stuck"] = std::move(stuck);
    fields["reason"] = reason;
  }
  undo.answers.push_back(undo.origin);
  flow.work.emplace_back(Answer{undo.id, flow.id, reason.empty() ? "ok" : "stuck", std::move(fields)});
}

}  // namespace sluice::engine
