// TestingFolder is a fresh folder for one test, removed with all that is in it at the end. For tests that need the
// real file system; all others use VolatileDisk.
#pragma once

#include <string>

namespace sluice {

class TestingFolder {
 public:
  TestingFolder();
  TestingFolder(const TestingFolder&) = delete;
  TestingFolder& operator=(const TestingFolder&) = delete;
  ~TestingFolder();

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace sluice
