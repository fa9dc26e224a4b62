// MigrateMeans has the id by which a database knows to which Sluice it belongs. It is made when it is first asked for,
// and stays with the home, whatever becomes of its keys.
#pragma once

#include <mutex>
#include <string>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"

namespace sluice::deploy {

class MigrateMeans {
 public:
  MigrateMeans(Disk& disk, Random& random, std::string file) : disk_(disk), random_(random), file_(std::move(file)) {}

  Result<std::string> sluice();

 private:
  Disk& disk_;
  Random& random_;
  std::string file_;
  std::mutex making_;
};

}  // namespace sluice::deploy
