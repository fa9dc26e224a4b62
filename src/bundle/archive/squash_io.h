// What libsquashfs needs to read from a ByteSource and to write to a File, and its pieces with owners.
#pragma once

#include <sqfs/io.h>
#include <sqfs/predef.h>

#include <memory>
#include <optional>
#include <string>

#include "base/disk.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

// libsquashfs's objects know how to destroy themselves, its allocations are its own to free.
struct DestroySquash {
  void operator()(void* object) const { sqfs_destroy(object); }
};
struct FreeSquash {
  void operator()(void* memory) const { sqfs_free(memory); }
};
template <class T>
using SquashObject = std::unique_ptr<T, DestroySquash>;
template <class T>
using SquashMemory = std::unique_ptr<T, FreeSquash>;

// libsquashfs's view of a file. Both forms keep the error of the disk, which libsquashfs would lose. It must outlive
// what libsquashfs makes of it, and stay where it is.
class SquashIo : private sqfs_file_t {
 public:
  explicit SquashIo(ByteSource& source);
  explicit SquashIo(File& file);  // empty, to be written
  SquashIo(const SquashIo&) = delete;
  SquashIo& operator=(const SquashIo&) = delete;

  sqfs_file_t* get() { return this; }
  uint64_t size() const { return size_; }

  // What the disk said if it failed; else what libsquashfs's status means for somebody who reads an archive.
  Error explain(int status) const;

 private:
  SquashIo();
  static int on_read(sqfs_file_t* self, sqfs_u64 offset, void* buffer, size_t size);
  static int on_write(sqfs_file_t* self, sqfs_u64 offset, const void* buffer, size_t size);
  static sqfs_u64 on_size(const sqfs_file_t* self);
  static int on_truncate(sqfs_file_t* self, sqfs_u64 size);

  ByteSource* source_ = nullptr;
  File* file_ = nullptr;
  uint64_t size_ = 0;
  std::optional<Error> error_;
};

}  // namespace sluice::bundle
