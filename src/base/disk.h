// Disk and File are the seam through which Sluice reads and writes files. RealDisk (base/real_disk.h) is the system's;
// VolatileDisk keeps files in memory and loses what was not synced; FaultyDisk makes any other disk fail. Code that
// must survive a crash takes a Disk&, so that tests can stop it at every operation.
//
// Rules, the same for every disk:
// - An error names the path and says what the system said; error_from() gives its code.
// - Written bytes are durable after File::sync, a name after Disk::sync_folder of the folder that holds it.
// - Files are closed on exec and unlocked when destroyed. A File must not outlive its Disk.
// - A Disk may be used from many threads; a File from one at a time, but for read_at and write_at.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class FileKind { file, folder, symlink, other };

struct FileStat {
  FileKind kind = FileKind::file;
  uint64_t size = 0;
  uint32_t mode = 0;  // permission bits alone
  int64_t mtime_ns = 0;
  uint64_t inode = 0;
  uint64_t links = 0;
  uint32_t owner = 0;  // user id
};

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::file;

  bool operator==(const FolderEntry&) const = default;
};

struct OpenFlags {
  bool read = true;
  bool write = false;
  bool create = false;     // if it is not there; needs write
  bool exclusive = false;  // with create: fail with `conflict` if it is there, symlinks included
  bool truncate = false;   // needs write
  bool follow = true;      // false: fail with `invalid` if the last component is a symlink
  uint32_t mode = 0600;    // of a created file, less the umask
};

enum class FollowLinks { no, yes };
enum class FileLock { none, shared, exclusive };
enum class SyncWhat {
  contents,  // the bytes and the size (fdatasync)
  all        // mode and times as well (fsync)
};

class File {
 public:
  virtual ~File() = default;

  // Reads until `into` is full or the file ends, and says how many bytes that were: fewer than asked for means the end.
  virtual Result<size_t> read_at(uint64_t offset, std::span<char> into) = 0;
  // Writes all or fails; a failed write may have written a part. A gap before offset reads as zeros.
  virtual Result<void> write_at(uint64_t offset, std::string_view bytes) = 0;
  virtual Result<void> truncate(uint64_t size) = 0;
  virtual Result<void> sync(SyncWhat what) = 0;
  virtual Result<FileStat> stat() = 0;
  virtual Result<void> chmod(uint32_t mode) = 0;
  // Takes, changes or (none) gives back the advisory lock of the whole file, without waiting; false if another holds
  // it, and then the lock held before is kept. Locks belong to this open file, not to the process, so two opens in one
  // process exclude each other. Exclusive needs write, shared needs read.
  virtual Result<bool> lock(FileLock kind) = 0;

  Result<uint64_t> size();
};

class Disk {
 public:
  virtual ~Disk() = default;

  virtual Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) = 0;
  // Opens `relative` under the folder `root` in one step that neither `..`, an absolute path nor any symlink below
  // root can lead out of; those fail with `denied`. base/jail.h is its face.
  virtual Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                                     const OpenFlags& flags) = 0;
  virtual Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) = 0;

  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual Result<void> remove(const std::string& path) = 0;                         // a file or a symlink
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;    // fails if `to` is there
  virtual Result<void> symlink(const std::string& target, const std::string& path) = 0;
  virtual Result<std::string> read_link(const std::string& path) = 0;
  virtual Result<void> make_folder(const std::string& path, uint32_t mode) = 0;
  virtual Result<void> remove_folder(const std::string& path) = 0;             // an empty one
  virtual Result<std::vector<FolderEntry>> list(const std::string& path) = 0;  // by name, without . and ..
  virtual Result<FileStat> stat(const std::string& path, FollowLinks follow) = 0;
  virtual Result<void> chmod(const std::string& path, uint32_t mode) = 0;
  virtual Result<void> sync_folder(const std::string& path) = 0;

  // False when there is no such path; other failures stay errors. Follows symlinks.
  Result<bool> exists(const std::string& path);
};

// The error of a failed operation: "cannot open /x/y: No such file or directory". Codes: ENOENT, ENOTDIR not_found;
// EACCES, EPERM, EXDEV denied; EEXIST, ENOTEMPTY, EBUSY, ETXTBSY, EAGAIN conflict; ENOSPC, EDQUOT, EFBIG, EROFS,
// EMFILE, ENFILE limit; ELOOP, EISDIR, EINVAL, ENAMETOOLONG, EBADF invalid; all else failed.
Error error_from(int errno_value, std::string_view action, std::string_view path);

// What open_beneath and make_folder_beneath say when the path would leave its root: `denied`.
Error error_of_leaving(std::string_view action, const std::string& root, const std::string& relative);

// The folder that holds `path`: "/a" of "/a/b", "/" of "/a", "." of "a". And its last component.
std::string folder_of(std::string_view path);
std::string name_of(std::string_view path);

}  // namespace sluice
