// A fresh folder, made by the system so that no two tests share one.
#include "base/testing_folder.h"

#include <cstdlib>
#include <filesystem>

namespace sluice {

TestingFolder::TestingFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TestingFolder::~TestingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sluice
