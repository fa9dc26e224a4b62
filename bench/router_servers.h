// The two servers of the benchmark that are its own: an upstream that answers 1 kB and does nothing else, and a bare
// forwarder of bytes, which is what any proxy costs at least.
#pragma once

#include <string>
#include <vector>

namespace sluice::bench {

constexpr size_t kBodyBytes = 1024;

// Endpoints are "127.0.0.1:PORT" and "unix:PATH". Both serve until they are killed; the listeners are made before.
std::vector<int> listeners_at(const std::vector<std::string>& endpoints);
[[noreturn]] void answer_for_ever(const std::vector<int>& listeners);
[[noreturn]] void forward_for_ever(int listener, const std::string& upstream);

}  // namespace sluice::bench
