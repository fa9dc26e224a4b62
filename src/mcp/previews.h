// What agents were shown before something is shifted or destroyed. A call of such an action is first answered with a
// preview and a plan id; the same call with that id then runs. An id is good once, for ten minutes, for the caller,
// the action and the arguments that it was made for, and only while what was seen is as it was.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace sluice::mcp {

namespace json = boost::json;

struct Preview {
  std::string caller;
  std::string digest;              // of action and arguments
  json::object seen;               // generations of the rows that it is about
  std::optional<uint64_t> expect;  // the one that the engine compares
  int64_t until_ns = 0;
};

inline constexpr int64_t kPreviewLife_ms = 600'000;

class Previews {
 public:
  // The clock and the source of randomness must outlive it.
  Previews(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  std::string keep(Preview preview);
  // The id is used up, whatever comes of it. `conflict` says what does not fit.
  Result<Preview> take(const std::string& id, const std::string& caller, const std::string& digest);

 private:
  const Clock& clock_;
  Random& random_;
  std::mutex mutex_;
  std::map<std::string, Preview> kept_;
};

std::string digest_of_call(const std::string& action, const json::object& input);

}  // namespace sluice::mcp
