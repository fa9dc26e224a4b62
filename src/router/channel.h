// The line between a master and its worker: short texts, either way, one with a descriptor now and then. The master
// says yield, resume, go and retire; the worker says yielded and serving (docs/internals/router.md, Upgrade).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sluice::router {

// Both ends, which do not block.
Result<std::pair<int, int>> make_channel();

// Whether it was sent. `passed` stays the sender's.
bool tell(int channel, std::string_view text, int passed = -1);

struct Heard {
  std::string text;  // empty: the other end is gone
  int passed = -1;   // the taker's
};
// What has come; nothing if nothing has.
std::optional<Heard> hear(int channel);

}  // namespace sluice::router
