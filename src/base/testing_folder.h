// TestingFolder is a fresh folder for one test, removed with all that is in it at the end. For tests that need the
// real file system; all others use VolatileDisk.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice {

class TestingFolder {
 public:
  TestingFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  TestingFolder(const TestingFolder&) = delete;
  TestingFolder& operator=(const TestingFolder&) = delete;
  ~TestingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace sluice
