// The tool that Courier's effect uses: a folder in which each note is a file. The name of a note is its id, so putting
// one in twice is putting it in once.
#pragma once

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::orders {

class Mailbox {
 public:
  // An empty folder name stands for a mailbox that nobody has put up yet.
  Mailbox(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  Result<void> put(std::string_view id, std::string_view note);

 private:
  Disk& disk_;
  std::string folder_;
};

}  // namespace sluice::orders
