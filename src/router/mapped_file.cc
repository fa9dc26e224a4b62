// One of the few files that call the system for files themselves: a Disk has no memory to share.
#include "router/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/disk.h"

namespace sluice::router {

Result<MappedFile> MappedFile::open(const std::string& path, size_t size) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return error_from(errno, "open", path);
  struct stat found {};
  Error error{.code = Code::ok};
  bool made = false;
  if (::fstat(file, &found) != 0) {
    error = error_from(errno, "look at", path);
  } else if (found.st_size == 0) {
    made = true;
    if (::ftruncate(file, static_cast<off_t>(size)) != 0) error = error_from(errno, "make room in", path);
  } else if (static_cast<size_t>(found.st_size) != size) {
    error = {.code = Code::conflict, .message = path + " is of another size"};
  }
  void* bytes = MAP_FAILED;
  if (error.code == Code::ok) {
    bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) error = error_from(errno, "map", path);
  }
  ::close(file);
  if (error.code != Code::ok) return error;
  return MappedFile(static_cast<char*>(bytes), size, made);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_), made_(other.made_) {}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) ::munmap(bytes_, size_);
}

}  // namespace sluice::router
