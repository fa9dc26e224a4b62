// The counter.
#include "lang/run/testing_counter.h"

#include "lang/run/harness.h"

namespace sluice::lang {

const std::string_view kCounter = R"(concept Counter [C] {
  state {
    counters: set C
    value: C -> Int
  }
  actions {
    action start(at: Int) {
      -> ok(counter: C)
      -> negative(at: Int)
      fixture zero { at: 0 }
      fixture seven { at: 7 }
      fixture below { at: -1 } -> negative
    }
    action add(counter: C, by: Int) {
      -> ok(counter: C, value: Int)
      fixture one { counter: $zero.counter, by: 1 } after zero
    }
    action ask(counter: C) {
      runs: answered
      -> ok(counter: C, word: String)
      fixture asked { counter: $zero.counter } after zero
    }
  }
  example "adding" {
    after start(at: 2) -> ok(counter: c)
    then add(counter: c, by: 3) -> ok(counter: c, value: 5)
    and  ask(counter: c) -> ok(word: "five")
  }
  forall "any start" {
    given at in Int where at >= 0
    after start(at: at) -> ok(counter: c)
    then c.value = at
  }
  forall "all are counted" {
    given c in counters
    then add(counter: c, by: 0) -> ok(value: v)
    and  v < 8
  }
  always { forall c in counters: c.value >= 0 }
  never { exists c in counters: c.value = 13 }
  action add {
    requires: by > 0
    ensures ok: value >= by
  }
  action start { ensures gone: 1 = 1 }
}
)";

ConceptBinding counter(const CounterFault& fault) {
  auto anything = [](const json::object&) -> Result<void> { return {}; };
  ActionBinding start{.name = "start", .check = anything};
  start.act = [fault](const json::object& ask, Rows& rows) -> Result<Completion> {
    if (ask.at("at").get_int64() < 0 && !fault.accept_negative) return Completion{"negative", {{"at", ask.at("at")}}};
    std::string id = rows.new_id();
    rows.put("Counter", id, json::object{{"value", ask.at("at")}});
    return Completion{"ok", {{"counter", id}}};
  };
  ActionBinding add{.name = "add", .check = anything};
  add.act = [fault](const json::object& ask, Rows& rows) -> Result<Completion> {
    std::string id(ask.at("counter").get_string());
    int64_t value = rows.get("Counter", id)->at("value").get_int64() + ask.at("by").get_int64() + fault.add_too_much;
    rows.put("Counter", id, json::object{{"value", value}});
    return Completion{"ok", {{"counter", ask.at("counter")}, {"value", value}}};
  };
  ActionBinding ask_word{.name = "ask", .runs = Runs::answered, .check = anything};
  ask_word.begin = [](const json::object&, Rows&) -> Result<BegunAction> { return BegunAction(Started{}); };
  ask_word.finish = [fault](const json::object& ask, const Ending& ending, Rows&) -> Result<Ending> {
    Completion done = std::get<Completion>(ending);
    done.fields["counter"] = fault.forget_counter ? json::value("") : ask.at("counter");
    return Ending(done);
  };
  return {.name = "Counter", .actions = {start, add, ask_word}};
}

}  // namespace sluice::lang
