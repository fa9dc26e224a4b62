// One of the few files that call the system for files themselves: a Disk has no memory to share. The spare memory has
// the pages of the file at their own offsets, and then a byte for each page that was rescued.
#include "router/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/disk.h"

namespace sluice::router {
namespace {

// The handler of a signal finds the file by nothing else.
std::atomic<MappedFile*> rescued_file = nullptr;

size_t pages_in(size_t size) { return (size + kPageBytes - 1) / kPageBytes; }

size_t whole_pages(size_t size) { return pages_in(size) * kPageBytes; }

void* map_shared(void* at, int file, size_t offset, size_t size) {
  int where = at != nullptr ? MAP_FIXED : 0;
  return ::mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | where, file, static_cast<off_t>(offset));
}

// As far as the process may lock memory; what it may not lock stays where it is anyhow, as long as there is enough.
void keep_in_memory(char* at, size_t size) { (void)::mlock(at, size); }

Result<void> read_all(int file, size_t offset, char* bytes, size_t size) {
  std::memset(bytes, 0, size);
  for (size_t done = 0; done < size;) {
    ssize_t got = ::pread(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_from(errno, "read", "the file");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return {};
}

}  // namespace

Result<int> make_spare_memory(size_t size) {
  int made = ::memfd_create("sluice-router", MFD_CLOEXEC);
  if (made < 0) return error_from(errno, "make", "memory");
  if (::ftruncate(made, static_cast<off_t>(whole_pages(size) + whole_pages(pages_in(size)))) == 0) return made;
  Error error = error_from(errno, "make", "memory");
  ::close(made);
  return error;
}

Result<int> open_memory_again(int memory) {
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const int again = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (again < 0) return error_from(errno, "open", "memory");
  return again;
}

Result<MappedFile> MappedFile::open(const std::string& path, size_t size, int spare) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return error_from(errno, "open", path);
  struct stat found {};
  Error error{.code = Code::ok};
  if (::fstat(file, &found) != 0) {
    error = error_from(errno, "look at", path);
  } else if (found.st_size == 0) {
    if (::ftruncate(file, static_cast<off_t>(size)) != 0) error = error_from(errno, "make room in", path);
  } else if (static_cast<size_t>(found.st_size) != size) {
    error = {.code = Code::conflict, .message = path + " is of another size"};
  } else if (::sysconf(_SC_PAGESIZE) != static_cast<long>(kPageBytes)) {
    error = {.code = Code::unavailable, .message = path + " can be mapped in pages of 4 kB alone"};
  }
  if (error.code != Code::ok) {
    ::close(file);
    return error;
  }
  auto own = spare >= 0 ? Result<int>(::fcntl(spare, F_DUPFD_CLOEXEC, 0)) : make_spare_memory(size);
  MappedFile mapped(file, own ? *own : -1, size);
  if (!own) return own.error();
  if (auto done = mapped.map(); !done) return done.error();
  return mapped;
}

Result<MappedFile> MappedFile::in_memory(size_t size, int spare) {
  auto own = spare >= 0 ? Result<int>(::fcntl(spare, F_DUPFD_CLOEXEC, 0)) : make_spare_memory(size);
  if (!own) return own.error();
  MappedFile mapped(-1, *own, size);
  if (auto done = mapped.map(); !done) return done.error();
  return mapped;
}

Result<void> MappedFile::map() {
  void* bytes = map_shared(nullptr, file_ >= 0 ? file_ : spare_, 0, size_);
  if (bytes == MAP_FAILED) return error_from(errno, "map", "a file");
  bytes_ = static_cast<char*>(bytes);
  void* page = map_shared(nullptr, spare_, 0, kPageBytes);
  if (page == MAP_FAILED) return error_from(errno, "map", "memory");
  spare_page_ = static_cast<char*>(page);
  void* rescued = map_shared(nullptr, spare_, whole_pages(size_), pages_in(size_));
  if (rescued == MAP_FAILED) return error_from(errno, "map", "memory");
  rescued_ = static_cast<uint8_t*>(rescued);
  for (size_t i = 0; file_ >= 0 && i < pages_in(size_); ++i) {
    if (rescued_[i] == 0) continue;
    if (auto done = use_memory(i * kPageBytes, kPageBytes); !done) return done.error();
  }
  return {};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      spare_(std::exchange(other.spare_, -1)),
      size_(other.size_),
      bytes_(std::exchange(other.bytes_, nullptr)),
      spare_page_(std::exchange(other.spare_page_, nullptr)),
      rescued_(std::exchange(other.rescued_, nullptr)) {}

MappedFile::~MappedFile() {
  MappedFile* self = this;
  rescued_file.compare_exchange_strong(self, nullptr);
  if (bytes_ != nullptr) ::munmap(bytes_, size_);
  if (spare_page_ != nullptr) ::munmap(spare_page_, kPageBytes);
  if (rescued_ != nullptr) ::munmap(rescued_, pages_in(size_));
  if (file_ >= 0) ::close(file_);
  if (spare_ >= 0) ::close(spare_);
}

Result<void> MappedFile::hold(size_t offset, size_t size) {
  if (file_ >= 0) {
    int failed = ::posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(size));
    if (failed != 0) return error_from(failed, "make room in", "the file");
  }
  keep_in_memory(bytes_ + offset, size);
  // A disk that has failed says so here, and not when somebody writes. A kernel before 5.14 does not know it.
  if (::madvise(bytes_ + offset, size, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    return error_from(errno == EFAULT ? EIO : errno, "write to", "the file");
  }
  return {};
}

Result<void> MappedFile::use_memory(size_t offset, size_t size) {
  if (map_shared(bytes_ + offset, spare_, offset, size) == MAP_FAILED) return error_from(errno, "map", "memory");
  keep_in_memory(bytes_ + offset, size);
  return {};
}

Result<void> MappedFile::read(size_t offset, char* bytes, size_t size) const {
  return read_all(file_ >= 0 ? file_ : spare_, offset, bytes, size);
}

Result<void> MappedFile::read_memory(size_t offset, char* bytes, size_t size) const {
  return read_all(spare_, offset, bytes, size);
}

// ---------------------------------------------------------------------------------------------------- a disk that
// fails

void MappedFile::rescue_from_disk_faults() {
  rescued_file.store(this);
  struct sigaction action {};
  action.sa_sigaction = take_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGBUS, &action, nullptr);
}

void MappedFile::take_fault(int signal, siginfo_t* info, void*) {
  int before = errno;
  MappedFile* file = rescued_file.load();
  // What nobody can mend ends the process when the handler returns and it faults again.
  if (file == nullptr || !file->rescue(info->si_addr)) ::signal(signal, SIG_DFL);
  errno = before;
}

// In a signal's handler: nothing but system calls. The page has no other writer, or the writers' pages would be one.
bool MappedFile::rescue(const void* address) {
  const auto* at = static_cast<const char*>(address);
  if (at < bytes_ || at >= bytes_ + size_) return false;
  size_t page = static_cast<size_t>(at - bytes_) / kPageBytes;
  char* begin = bytes_ + page * kPageBytes;
  if (rescued_[page] != 0) return false;
  // What cannot even be read is lost, and stays zero.
  size_t size = std::min(kPageBytes, size_ - page * kPageBytes);
  (void)!::pwrite(spare_, begin, size, static_cast<off_t>(page * kPageBytes));
  if (map_shared(begin, spare_, page * kPageBytes, kPageBytes) == MAP_FAILED) return false;
  rescued_[page] = 1;
  return true;
}

size_t MappedFile::rescued() const {
  return static_cast<size_t>(std::count(rescued_, rescued_ + pages_in(size_), uint8_t{1}));
}

}  // namespace sluice::router
