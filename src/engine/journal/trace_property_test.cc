// Random kits run by the machine: what a trace says did not fire, read from the journal, is what the plainest reading
// of the same journal gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "crypto/sha256.h"
#include "engine/journal/history.h"
#include "engine/journal/retention.h"
#include "engine/rules/near_miss.h"
#include "engine/testing_machine.h"
#include "engine/testing_reference.h"

namespace sluice::engine {
namespace trace_property_test {

// Syncs that make something happen: each level of go leads to the next, and asks are answered now and then.
std::string drivers(Dice& dice) {
  std::string rules;
  int number = 0;
  auto rule = [&](const std::string& when, const std::string& then) {
    rules += "sync D" + std::to_string(number++) + " when { " + when + " } then { " + then + " }\n";
  };
  for (const std::string owner : {"A", "B", "C"}) {
    for (int level = 0; level < 2; ++level) {
      std::string next = std::to_string(level + 1);
      rule(owner + "/go: [ n: " + std::to_string(level) + " ] => ok[ k: ?k ]",
           std::string(dice.of({"A", "B", "C"})) + "/go: [ k: ?k; n: " + next + " ]  " + dice.of({"A", "B", "C"}) +
               "/ask: [ k: ?k ]");
    }
    if (!dice.one_in(4)) {
      rule(owner + "/ask: [ k: ?k ] => requested", std::string(dice.of({"A", "B", "C"})) + "/go: [ k: ?k; n: 5 ]");
    }
  }
  for (const std::string owner : {"A", "B", "C"}) {
    if (dice.one_in(2)) continue;
    rule(std::string(dice.of({"A", "B", "C"})) + "/go: [ n: 5 ] => ok[ k: ?k ] caused by " + owner +
             "/ask: [] => requested as ?r",
         std::string("answer ?r => ") + dice.of({"ok[ k: ?k; n: 1 ]", "no[ k: ?k ]"}));
  }
  // What was done for an ask is undone now and then, and something may follow from that.
  for (const std::string owner : {"A", "B", "C"}) {
    if (dice.one_in(3)) continue;
    for (const std::string other : {"A", "B", "C"}) {
      rule(other + "/go: [ n: 5 ] => ok[] caused by " + owner + "/ask: [] => requested as ?r",
           "Flow/undo: [ request: ?r ]");
    }
    rule(owner + "/back: [ k: ?k ] => ok[] caused by Flow/undo: [] => requested", "Sink/put: [ k: ?k ]");
    rule(owner + "/back: [ k: ?k ] => ok[]  Flow/undo: [] => ok[]", "Sink/put: [ k: ?k ]");
  }
  return rules;
}

// The flow's records as the journal has them, with no help from what traces use.
std::vector<Node> nodes_in(const std::vector<Step>& steps, const lang::Symbols& symbols) {
  struct Asked {
    json::object input;
    std::vector<RecordId> parents;
    std::optional<RecordId> beneath;
  };
  std::map<Ulid, Asked> asked;
  std::map<RecordId, size_t> places;
  std::vector<Node> nodes;
  for (const Step& step : steps) {
    if (step.root) asked[step.invocation].input = step.root->input;
    if (step.action == "Flow/undo" && step.kind == Step::Kind::begin) {
      // Compensations are asked for by the undo's work alone; docs/internals/engine.md has their ids.
      const RecordId undo{step.invocation, RecordKind::request};
      const json::array& items = step.work->at("undo").as_array();
      for (size_t i = 0; i < items.size(); ++i) {
        auto digest = crypto::sha256(sluice::to_string(step.invocation) + "/undo/" + std::to_string(i));
        Ulid id = Ulid::from(step.invocation.wall_ms(), std::span(digest).first<Ulid::kRandomBytes>());
        asked[id] = {items[i].at("input").as_object(), {undo}, undo};
      }
    }
    const Asked& own = asked[step.invocation];
    Record record{.invocation = step.invocation, .action = action_named(symbols, step.action), .input = own.input};
    record.seq = step.seq;
    record.kind = step.end ? RecordKind::completion : RecordKind::request;
    if (step.end) {
      record.output = step.end->fields;
      if (step.end->variant.starts_with("engine.")) {
        record.engine = lang::engine_outcome_named(step.end->variant.substr(7));
      } else {
        record.variant = lang::find_variant(symbols.action(record.action), step.end->variant);
      }
    }
    Node node;
    for (const RecordId& parent : own.parents) node.parents.push_back(places.at(parent));
    if (own.beneath) node.beneath = places.at(*own.beneath);
    RecordId id = id_of(record);
    node.record = std::make_shared<const Record>(std::move(record));
    places[id] = nodes.size();
    nodes.push_back(std::move(node));
    std::optional<RecordId> beneath = step.end ? own.beneath : std::optional(id);
    for (const Fired& fired : step.fired) {
      for (const Planned& planned : fired.then) {
        if (planned.kind == Planned::Kind::invoke) asked[planned.id] = {planned.fields, fired.matched, beneath};
      }
    }
  }
  return nodes;
}

// Completions with which something came to its end: other than ok and matched by none, or the last beneath a request
// that then ended unanswered.
std::set<size_t> dead_ends_in(const std::vector<Step>& steps, const std::vector<Node>& nodes) {
  std::set<size_t> found;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].record->kind != RecordKind::completion) continue;
    auto step = std::ranges::find(steps, nodes[n].record->seq, &Step::seq);
    if (step->fired.empty() && step->end->variant != "ok") found.insert(n);
    if (step->by != "unanswered") continue;
    for (size_t last = n; last-- > 0;) {
      auto above = nodes[last].beneath;
      if (nodes[last].record->kind != RecordKind::completion || !above ||
          nodes[*above].record->invocation != step->invocation) {
        continue;
      }
      found.insert(last);
      break;
    }
  }
  return found;
}

TEST(TraceProperty, FiftyFlowsTellTheNearMissesOfTheReference) {
  size_t told = 0, records = 0, ends = 0, undone = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Dice dice(seed);
    std::string rules = dice.rules(6) + drivers(dice);
    World world(kSmallKit, rules);
    for (const std::string owner : {"A", "B", "C"}) {
      world.on(owner + "/go").act = [&](const json::object& ask, lang::Rows&) -> lang::Completion {
        if (dice.one_in(12)) throw std::runtime_error("broken");
        if (dice.one_in(6)) return {"bad", {{"k", ask.at("k")}}};
        json::object fields{{"k", dice.of({"u", "v"})}, {"n", static_cast<int64_t>(dice.below(2))}};
        if (dice.one_in(2)) fields["m"] = dice.of({"u", "v"});
        return {"ok", std::move(fields)};
      };
    }
    Ulid flow = world.start(std::string(dice.of({"A", "B", "C"})) + "/go", R"({"k":"u","n":0})");
    world.settle_in_time();
    auto set = set_of(kSmallKit, rules);
    auto snapshot = world.store->read();
    auto steps = read_flow(**snapshot, **(*snapshot)->flow(flow), unpack_records);
    ASSERT_TRUE(steps) << to_string(steps.error());
    std::vector<std::string> found;
    History history = history_of(*steps);
    for (const NearMiss& miss : near_misses(*set, records_of(history, *set), history.dead_ends())) {
      found.push_back(miss.sync + " misses " + miss.missing);
    }
    std::vector<Node> nodes = nodes_in(*steps, set->kit().symbols());
    std::set<size_t> dead_ends = dead_ends_in(*steps, nodes);
    ASSERT_EQ(found, reference_near_misses(*set, nodes, dead_ends)) << "seed " << seed << "\n" << rules;
    told += found.size();
    records += nodes.size();
    ends += dead_ends.size();
    for (const PastInvocation& one : history.invocations) undone += one.undoes.empty() ? 0 : 1;
  }
  // The dice must not have become so unlucky that nothing is tested.
  EXPECT_GT(told, 100U);
  EXPECT_GT(records, 300U);
  EXPECT_GT(ends, 50U);
  EXPECT_GT(undone, 10U);
}

}  // namespace trace_property_test
}  // namespace sluice::engine
