// What all disks share: how a failure reads, and the parts of a path.
#include "base/disk.h"

#include <cerrno>
#include <system_error>

namespace sluice {
namespace {

Code code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EXDEV:
      return Code::denied;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY:
    case ETXTBSY:
    case EAGAIN:
      return Code::conflict;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
    case EMFILE:
    case ENFILE:
      return Code::limit;
    case ELOOP:
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case EBADF:
      return Code::invalid;
    default:
      return Code::failed;
  }
}

std::string_view next_of(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
      return "make room on the disk, then run it again";
    case EDQUOT:
      return "make room within the quota, then run it again";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case EROFS:
      return "make the disk writable, or use another place, then run it again";
    case EACCES:
    case EPERM:
      return "check the owner and the mode of the path and of the folders above it";
    default:
      return "";
  }
}

}  // namespace

Error error_from(int errno_value, std::string_view action, std::string_view path) {
  std::string message = "cannot ";
  message.append(action).append(" ").append(path).append(": ");
  message += std::generic_category().message(errno_value);
  return {.code = code_of(errno_value), .message = std::move(message), .next = std::string(next_of(errno_value))};
}

Error error_of_leaving(std::string_view action, const std::string& root, const std::string& relative) {
  return {.code = Code::denied,
          .message = "cannot " + std::string(action) + " " + root + "/" + relative + ": it leads out of " + root +
                     " or through a symlink",
          .next = "replace the symlinks on the way by what they lead to"};
}

std::string folder_of(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string name_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result<uint64_t> File::size() {
  auto found = stat();
  if (!found) return found.error();
  return found->size;
}

Result<bool> Disk::exists(const std::string& path) {
  auto found = stat(path, FollowLinks::yes);
  if (found) return true;
  if (found.error().code == Code::not_found) return false;
  return found.error();
}

}  // namespace sluice
