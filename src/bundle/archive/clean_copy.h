// A copy of chosen files of a folder, in which a build may write without anybody seeing it.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::bundle {

// Copies these paths below `from` (as `select` gives them) into the folder `to`, which is empty. Modes are 0755 and
// 0644 whatever the umask, symlinks stay as they are. Nothing is read through a symlink, nothing outside `to` written.
Result<void> copy_chosen(Disk& disk, const std::string& from, const std::vector<std::string>& paths,
                         const std::string& to);

}  // namespace sluice::bundle
