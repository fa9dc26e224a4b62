// The servers of the benchmark that are its own: an upstream that answers 1 kB and does nothing else, one that writes
// it in two pieces, as naive applications do, and a bare forwarder of bytes, which is what any proxy costs at least.
#pragma once

#include <string>
#include <vector>

namespace sluice::bench {

constexpr size_t kBodyBytes = 1024;

// Endpoints are "127.0.0.1:PORT" and "unix:PATH". All serve until they are killed; the listeners are made before.
std::vector<int> listeners_at(const std::vector<std::string>& endpoints);
[[noreturn]] void answer_for_ever(const std::vector<int>& listeners);
[[noreturn]] void answer_in_two_writes(int listener);
// With this many bytes.
[[noreturn]] void answer_at_length(int listener, size_t bytes);
[[noreturn]] void forward_for_ever(int listener, const std::string& upstream);

}  // namespace sluice::bench
