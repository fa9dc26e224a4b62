// A folder for one run of a benchmark, removed at its end, and the end of a benchmark that cannot go on.
#pragma once

#include <stdlib.h>
#include <sys/vfs.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"

namespace sluice::bench {

inline void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

template <class T>
T must(Result<T> result) {
  must(result.has_value(), result ? "" : to_string(result.error()));
  return *std::move(result);
}

class Folder {
 public:
  explicit Folder(const std::string& in) {
    path_ = in + "/sluice-bench-XXXXXX";
    must(::mkdtemp(path_.data()) != nullptr, "cannot make a folder in " + in);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A folder on a disk: a sync in memory would cost nothing and prove nothing.
class DiskFolder : public Folder {
 public:
  DiskFolder() : Folder(std::filesystem::current_path().string()) {
    struct statfs info {};
    must(::statfs(path("").c_str(), &info) == 0, "cannot look at the file system");
    constexpr long kTmpfs = 0x01021994;
    must(info.f_type != kTmpfs, "this folder is in memory (tmpfs): run the bench on a disk");
  }
};

}  // namespace sluice::bench
