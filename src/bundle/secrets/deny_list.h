// What is never packed, whatever a manifest includes: files that hold secrets by their name, version control, and what
// editors leave. The secrets doctor names the first kind in other people's archives.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::bundle {

struct Denied {
  std::string_view what;  // "an environment file", "a private key"
  bool secret = false;    // it holds secrets, rather than being of no use
};

// By the name alone, wherever it lies; a folder's name stands for all that is in it.
std::optional<Denied> denied(std::string_view path, bool is_folder);

}  // namespace sluice::bundle
