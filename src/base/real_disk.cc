// The system calls behind RealDisk. Every call that a signal can interrupt is repeated.
#include "base/real_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

namespace sluice {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

template <typename Call>
auto uninterrupted(Call call) {
  for (;;) {
    auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

Result<void> done_unless(bool failed, std::string_view action, std::string_view path) {
  if (failed) return error_from(errno, action, path);
  return {};
}

// The system ends a path at its first NUL; what stands behind it must not be dropped in silence.
bool has_nul(std::string_view path) { return path.find('\0') != std::string_view::npos; }

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::file;
  if (S_ISDIR(mode)) return FileKind::folder;
  if (S_ISLNK(mode)) return FileKind::symlink;
  return FileKind::other;
}

FileStat stat_of(const struct ::stat& raw) {
  return {.kind = kind_of(raw.st_mode),
          .size = static_cast<uint64_t>(raw.st_size),
          .mode = raw.st_mode & 07777,
          .mtime_ns = int64_t{raw.st_mtim.tv_sec} * 1'000'000'000 + raw.st_mtim.tv_nsec,
          .inode = raw.st_ino,
          .links = raw.st_nlink,
          .owner = raw.st_uid};
}

// O_NONBLOCK: a FIFO must not make an open wait for its other end; files do not care.
int bits_of(const OpenFlags& flags) {
  int bits = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  bits |= flags.write ? (flags.read ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (flags.create) bits |= O_CREAT;
  if (flags.exclusive) bits |= O_EXCL;
  if (flags.truncate) bits |= O_TRUNC;
  if (!flags.follow) bits |= O_NOFOLLOW;
  return bits;
}

class RealFile final : public File {
 public:
  RealFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    size_t got = 0;
    while (got < into.size()) {
      ssize_t n = uninterrupted(
          [&] { return ::pread(fd_.get(), into.data() + got, into.size() - got, static_cast<off_t>(offset + got)); });
      if (n < 0 && errno == ESPIPE) return not_a_file();
      if (n < 0) return error_from(errno, "read", path_);
      if (n == 0) break;
      got += static_cast<size_t>(n);
    }
    return got;
  }

  Result<void> write_at(uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      ssize_t n =
          uninterrupted([&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
      if (n < 0) return error_from(errno, "write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
    return {};
  }

  Result<void> truncate(uint64_t size) override {
    int failed = uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); });
    return done_unless(failed != 0, "truncate", path_);
  }

  // Not repeated after EINTR or any other failure: a second fsync may succeed although the pages are lost.
  Result<void> sync(SyncWhat what) override {
    int failed = what == SyncWhat::contents ? ::fdatasync(fd_.get()) : ::fsync(fd_.get());
    return done_unless(failed != 0, "sync", path_);
  }

  Result<FileStat> stat() override {
    struct ::stat raw;
    if (::fstat(fd_.get(), &raw) != 0) return error_from(errno, "stat", path_);
    return stat_of(raw);
  }

  Result<void> chmod(uint32_t mode) override {
    return done_unless(::fchmod(fd_.get(), mode) != 0, "change the mode of", path_);
  }

  // Open file description locks: unlike flock they change from shared to exclusive in one step, and unlike plain fcntl
  // locks another close of the same file in this process does not drop them.
  Result<bool> lock(FileLock kind) override {
    struct ::flock range {};
    range.l_type = kind == FileLock::none ? F_UNLCK : kind == FileLock::shared ? F_RDLCK : F_WRLCK;
    range.l_whence = SEEK_SET;
    int failed = uninterrupted([&] { return ::fcntl(fd_.get(), F_OFD_SETLK, &range); });
    if (failed == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    return error_from(errno, "lock", path_);
  }

 private:
  // Files are read by offset; "Illegal seek", as the system says it, helps nobody.
  Error not_a_file() const {
    return {.code = Code::invalid,
            .message = "cannot read " + path_ + ": it is a pipe or a FIFO, expected a file",
            .next = "write what it gives to a file first"};
  }

  Descriptor fd_;
  std::string path_;
};

// openat2 from `root`, refusing every symlink and everything outside; errno as it sets it.
Descriptor open_by_kernel(int root, const char* relative, int bits, uint32_t mode) {
  struct ::open_how how {};
  how.flags = static_cast<uint64_t>(bits);
  how.mode = bits & O_CREAT ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a rename elsewhere made the kernel unsure of `..`; it asks to be asked again.
  for (int tries = 0;; ++tries) {
    long fd = ::syscall(SYS_openat2, root, relative, &how, sizeof how);
    if (fd < 0 && (errno == EINTR || errno == EAGAIN) && tries < 100) continue;
    return Descriptor(static_cast<int>(fd));
  }
}

// The same, one component after the other. A symlink gives ELOOP, `..` and an absolute path EXDEV, as openat2 does.
Descriptor open_by_component(int root, std::string_view relative, int bits, uint32_t mode) {
  if (relative.starts_with('/')) {
    errno = EXDEV;
    return Descriptor();
  }
  Descriptor folder(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  while (folder.is_open()) {
    size_t slash = std::min(relative.find('/'), relative.size());
    std::string component(relative.substr(0, slash));
    bool last = slash == relative.size();
    if (!last) relative.remove_prefix(slash + 1);
    if (component == "..") {
      errno = EXDEV;
      return Descriptor();
    }
    if (last) {
      Descriptor fd(::openat(folder.get(), component.c_str(), bits | O_NOFOLLOW, mode));
      struct ::stat raw;
      // O_DIRECTORY speaks before O_NOFOLLOW does.
      if (!fd.is_open() && errno == ENOTDIR) {
        bool found = ::fstatat(folder.get(), component.c_str(), &raw, AT_SYMLINK_NOFOLLOW) == 0;
        errno = found && S_ISLNK(raw.st_mode) ? ELOOP : ENOTDIR;
      }
      return fd;
    }
    if (component.empty()) continue;
    Descriptor next(::openat(folder.get(), component.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct ::stat raw;
    if (next.is_open() && ::fstat(next.get(), &raw) == 0 && !S_ISDIR(raw.st_mode)) {
      errno = S_ISLNK(raw.st_mode) ? ELOOP : ENOTDIR;
      return Descriptor();
    }
    folder = std::move(next);
  }
  return folder;
}

Descriptor open_beneath_root(const std::string& root, const std::string& relative, int bits, uint32_t mode,
                             RealDisk::Beneath beneath) {
  Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return folder;
  if (beneath == RealDisk::Beneath::by_kernel) {
    Descriptor fd = open_by_kernel(folder.get(), relative.c_str(), bits, mode);
    if (fd.is_open() || (errno != ENOSYS && errno != EPERM)) return fd;
  }
  return open_by_component(folder.get(), relative, bits, mode);
}

Error beneath_error(std::string_view action, const std::string& root, const std::string& relative) {
  if (errno == ELOOP || errno == EXDEV) return error_of_leaving(action, root, relative);
  return error_from(errno, action, root + "/" + relative);
}

}  // namespace

Result<std::unique_ptr<File>> RealDisk::open(const std::string& path, const OpenFlags& flags) {
  if (has_nul(path) || (flags.truncate && !flags.write)) return error_from(EINVAL, "open", path);
  Descriptor fd(uninterrupted([&] { return ::open(path.c_str(), bits_of(flags), flags.mode); }));
  if (!fd.is_open()) return error_from(errno, flags.exclusive ? "create" : "open", path);
  return std::unique_ptr<File>(new RealFile(std::move(fd), path));
}

Result<std::unique_ptr<File>> RealDisk::open_beneath(const std::string& root, const std::string& relative,
                                                     const OpenFlags& flags) {
  errno = EINVAL;
  if (has_nul(root) || has_nul(relative)) return beneath_error("open", root, relative);
  Descriptor fd = open_beneath_root(root, relative, bits_of(flags), flags.mode, beneath_);
  if (!fd.is_open()) return beneath_error(flags.exclusive ? "create" : "open", root, relative);
  return std::unique_ptr<File>(new RealFile(std::move(fd), root + "/" + relative));
}

Result<void> RealDisk::make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) {
  errno = EINVAL;
  if (has_nul(root) || has_nul(relative)) return beneath_error("make folder", root, relative);
  Descriptor parent = open_beneath_root(root, folder_of(relative), O_PATH | O_DIRECTORY | O_CLOEXEC, 0, beneath_);
  if (!parent.is_open()) return beneath_error("make folder", root, relative);
  std::string name = name_of(relative);
  if (name == "..") {
    errno = EXDEV;
    return beneath_error("make folder", root, relative);
  }
  if (::mkdirat(parent.get(), name.c_str(), mode) != 0) return beneath_error("make folder", root, relative);
  return {};
}

Result<void> RealDisk::rename(const std::string& from, const std::string& to) {
  return done_unless(::rename(from.c_str(), to.c_str()) != 0, "rename", from + " to " + to);
}

Result<void> RealDisk::remove(const std::string& path) {
  return done_unless(::unlink(path.c_str()) != 0, "remove", path);
}

Result<void> RealDisk::link(const std::string& from, const std::string& to) {
  return done_unless(::link(from.c_str(), to.c_str()) != 0, "link", from + " to " + to);
}

Result<void> RealDisk::symlink(const std::string& target, const std::string& path) {
  return done_unless(::symlink(target.c_str(), path.c_str()) != 0, "make symlink", path);
}

Result<std::string> RealDisk::read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return error_from(errno, "read symlink", path);
  target.resize(static_cast<size_t>(size));
  return target;
}

Result<void> RealDisk::make_folder(const std::string& path, uint32_t mode) {
  return done_unless(::mkdir(path.c_str(), mode) != 0, "make folder", path);
}

Result<void> RealDisk::remove_folder(const std::string& path) {
  return done_unless(::rmdir(path.c_str()) != 0, "remove folder", path);
}

Result<std::vector<FolderEntry>> RealDisk::list(const std::string& path) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
  if (!folder) return error_from(errno, "list", path);
  std::vector<FolderEntry> entries;
  for (;;) {
    errno = 0;
    const struct ::dirent* raw = ::readdir(folder.get());
    if (raw == nullptr) break;
    std::string name = raw->d_name;
    if (name == "." || name == "..") continue;
    struct ::stat found;
    if (::fstatat(::dirfd(folder.get()), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile
      return error_from(errno, "stat", path + "/" + name);
    }
    entries.push_back({std::move(name), kind_of(found.st_mode)});
  }
  if (errno != 0) return error_from(errno, "list", path);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

Result<FileStat> RealDisk::stat(const std::string& path, FollowLinks follow) {
  struct ::stat raw;
  int failed = ::fstatat(AT_FDCWD, path.c_str(), &raw, follow == FollowLinks::no ? AT_SYMLINK_NOFOLLOW : 0);
  if (failed != 0) return error_from(errno, "stat", path);
  return stat_of(raw);
}

Result<void> RealDisk::chmod(const std::string& path, uint32_t mode) {
  return done_unless(::chmod(path.c_str(), mode) != 0, "change the mode of", path);
}

Result<void> RealDisk::sync_folder(const std::string& path) {
  Descriptor fd(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  return done_unless(!fd.is_open() || ::fsync(fd.get()) != 0, "sync folder", path);
}

}  // namespace sluice
