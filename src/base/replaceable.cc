// One look, through symlinks: what is behind /dev/stdout is not replaced either.
#include "base/replaceable.h"

namespace sluice {

Result<void> check_replaceable(Disk& disk, const std::string& path) {
  auto there = disk.stat(path, FollowLinks::yes);
  if (!there || there->kind != FileKind::other) return {};
  return Error{.code = Code::conflict,
               .message = path + " is a device, a FIFO or a socket, and was left as it is",
               .next = "name a file"};
}

}  // namespace sluice
