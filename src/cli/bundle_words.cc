// Small things, so that they are the same everywhere.
#include "cli/bundle_words.h"

namespace sluice::cli {

std::string counted_things(uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string plain_folder(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace sluice::cli
