// A small kit for tests of matching: A, B and C can do the same, Sink takes what follows, Log may hear everything.
#pragma once

#include <string>
#include <vector>

namespace sluice::engine {

inline std::string small_concept(const std::string& name) {
  return "concept " + name + R"( [T] {
  actions {
    action go(k: String, n: option Int) {
      reversal: back
      -> ok(k: String, n: option Int, m: option String)
      -> bad(k: String, why: option String)
    }
    action back(k: String) {
      -> ok(k: String)
    }
    action ask(k: String) {
      runs: answered
      -> ok(k: String, n: Int)
      -> no(k: String)
    }
  }
}
)";
}

inline const std::string kSmallSink = R"(concept Sink [S] {
  actions {
    action put(k: option String, n: option Int, name: option String) {
      -> ok(k: option String)
    }
    action drop() {
      -> ok
    }
  }
}
)";

inline const std::vector<std::string> kSmallKit = {small_concept("A"), small_concept("B"), small_concept("C"),
                                                   kSmallSink};

}  // namespace sluice::engine
