// libsquashfs's file, as functions in a struct.
#include "bundle/archive/squash_io.h"

#include <sqfs/error.h>

#include <span>

namespace sluice::bundle {

SquashIo::SquashIo() : sqfs_file_t{} {
  read_at = &SquashIo::on_read;
  write_at = &SquashIo::on_write;
  get_size = &SquashIo::on_size;
  truncate = &SquashIo::on_truncate;
}

SquashIo::SquashIo(ByteSource& source) : SquashIo() {
  source_ = &source;
  size_ = source.size();
}

SquashIo::SquashIo(File& file) : SquashIo() { file_ = &file; }

int SquashIo::on_read(sqfs_file_t* self, sqfs_u64 offset, void* buffer, size_t size) {
  auto& io = *static_cast<SquashIo*>(self);
  std::span<char> into(static_cast<char*>(buffer), size);
  auto got = io.source_ != nullptr ? io.source_->read_at(offset, into) : io.file_->read_at(offset, into);
  if (!got) {
    io.error_ = got.error();
    return SQFS_ERROR_IO;
  }
  return *got == size ? 0 : SQFS_ERROR_OUT_OF_BOUNDS;
}

int SquashIo::on_write(sqfs_file_t* self, sqfs_u64 offset, const void* buffer, size_t size) {
  auto& io = *static_cast<SquashIo*>(self);
  if (io.file_ == nullptr) return SQFS_ERROR_IO;
  auto written = io.file_->write_at(offset, {static_cast<const char*>(buffer), size});
  if (!written) {
    io.error_ = written.error();
    return SQFS_ERROR_IO;
  }
  if (offset + size > io.size_) io.size_ = offset + size;
  return 0;
}

sqfs_u64 SquashIo::on_size(const sqfs_file_t* self) { return static_cast<const SquashIo*>(self)->size_; }

int SquashIo::on_truncate(sqfs_file_t* self, sqfs_u64 size) {
  auto& io = *static_cast<SquashIo*>(self);
  if (io.file_ == nullptr) return SQFS_ERROR_IO;
  auto done = io.file_->truncate(size);
  if (!done) {
    io.error_ = done.error();
    return SQFS_ERROR_IO;
  }
  io.size_ = size;
  return 0;
}

Error SquashIo::explain(int status) const {
  if (error_) return *error_;
  switch (status) {
    case SQFS_ERROR_ALLOC:
      return {.code = Code::limit, .message = "there is not enough memory to read it"};
    case SQFS_ERROR_OUT_OF_BOUNDS:
      return {.code = Code::invalid, .message = "the archive is damaged: it refers to what is not in it"};
    case SQFS_ERROR_COMPRESSOR:
      return {.code = Code::invalid, .message = "the archive is damaged: a block cannot be decompressed"};
    case SQFS_ERROR_UNSUPPORTED:
      return {.code = Code::invalid, .message = "the archive uses a part of SquashFS that Sluice does not read"};
    case SFQS_ERROR_SUPER_VERSION:
      return {.code = Code::invalid, .message = "it is not SquashFS version 4.0"};
    case SQFS_ERROR_SUPER_BLOCK_SIZE:
      return {.code = Code::invalid, .message = "the archive is damaged: its block size is impossible"};
    default:
      return {.code = Code::invalid, .message = "the archive is damaged"};
  }
}

}  // namespace sluice::bundle
