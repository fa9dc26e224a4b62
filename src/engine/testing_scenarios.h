// The concepts that the scenarios from 13 on share: a front door, two providers, mail, and a sink.
#pragma once

#include <string>

namespace sluice::engine {

inline const std::string kFront = R"(concept Front [F] {
  actions {
    action go(name: option String, n: option Int) {
      -> ok(name: option String, n: option Int)
    }
    action up(n: Int) {
      -> ok(n: Int)
      -> done
    }
  }
}
)";

inline const std::string kLocal = R"(concept Local [L] {
  actions {
    action provision(name: String) {
      -> ok
    }
  }
}
)";
inline const std::string kCloud = R"(concept Cloud [L] {
  actions {
    action provision(name: String) {
      -> ok
    }
  }
}
)";

inline const std::string kMail = R"(concept Mail [M] {
  state {
    boxes: set M
    address: M -> String
  }
  actions {
    action send(to: String) {
      -> ok
      -> busy
    }
    action post(to: String) {
      runs: effect
      retry: safe
      -> ok
      -> busy
    }
    action once(to: String) {
      runs: effect
      -> ok
    }
    action open(address: String) {
      -> ok
    }
  }
}
)";

inline const std::string kSink = R"(concept Sink [S] {
  actions {
    action put(text: option String, other: option String) {
      -> ok
    }
  }
}
)";

}  // namespace sluice::engine
