// Versions of secrets that come from where there are none: a variable or a file. The version of a value is an HMAC of
// it, so that a change is seen and nobody learns the value from it. The key is a file of the home, made on first use.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"

namespace sluice::deploy {

class ValueVersions {
 public:
  ValueVersions(Disk& disk, Random& random, std::string path) : disk_(disk), random_(random), path_(std::move(path)) {}

  // 32 hex digits.
  Result<std::string> of(const std::string& environment, const std::string& name, std::string_view value);

 private:
  Disk& disk_;
  Random& random_;
  std::string path_;
  std::mutex mutex_;
};

}  // namespace sluice::deploy
