// Read from their steps.
#include "host/flows/testing_flow_views.h"

#include <boost/json.hpp>

#include "engine/journal/journal_search.h"

namespace sluice::host {

FlowView undo_view() {
  using engine::Step;
  const json::object item{
      {"of", "Stock/reserve " + to_string(id(7))}, {"action", "Stock/release"}, {"input", json::object{{"item", "p"}}}};
  const json::value work = json::object{{"undo", json::array{item}}};
  std::vector<Step> steps = {
      {.seq = 1,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(1),
       .action = "Stock/add",
       .caller = {.name = "uid:1000"},
       .root = engine::Root{.sync_set = "abc"},
       .end = engine::End{.variant = "ok"},
       .fired = {{.sync = "UndoIt", .matched = {completion(1)}, .rows = 1, .then = {invoke(2, "Flow/undo")}}}},
      {.seq = 2,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(2),
       .kind = Step::Kind::begin,
       .action = "Flow/undo",
       .work = work},
      {.seq = 3,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = engine::compensations_of(id(2), work)[0].id,
       .action = "Stock/release",
       .end = engine::End{.variant = "ok"}},
      {.seq = 4,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(2),
       .kind = Step::Kind::finish,
       .action = "Flow/undo",
       .end = engine::End{.variant = "ok"},
       .by = "answer"}};
  return {.row = {.id = id(1), .status = store::FlowStatus::settled_ok}, .history = engine::history_of(steps)};
}

FlowView order_view(size_t count) {
  std::vector<engine::Step> steps = order_steps();
  steps.resize(count);
  FlowView flow{.row = {.id = id(1), .status = store::FlowStatus::running}, .history = engine::history_of(steps)};
  flow.follow_ups = {{id(9), "running"}};
  flow.pending = 1;
  if (count == 6) flow.row.status = store::FlowStatus::settled_failed;
  return flow;
}

}  // namespace sluice::host
