// What may be replaced by a new file: nothing, a file, or a symlink to either. A rename would put a file in the place
// of a device such as /dev/null, too, and whoever needs the device would have none any more. To be asked where a person
// names the file.
#pragma once

#include <string>

#include "base/disk.h"
#include "base/result.h"

namespace sluice {

// `conflict` if there is a device, a FIFO or a socket at `path`, or behind a symlink there. Whatever else keeps a file
// from being written is told by who writes it.
Result<void> check_replaceable(Disk& disk, const std::string& path);

}  // namespace sluice
