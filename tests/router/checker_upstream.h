// The upstream of the load checker: answers /b/SEED/SIZE by length and /c/SEED/SIZE in chunks with the bytes of that
// seed, verifies a request's body as the bytes of the seed behind it (422 otherwise), and echoes WebSocket frames. Its
// name is in every answer's X-Revision.
#pragma once

#include <string>

namespace sluice::checker {

// Prints where it listens, then serves until it is killed.
[[noreturn]] void serve(const std::string& endpoint, const std::string& name);

}  // namespace sluice::checker
