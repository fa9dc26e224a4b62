// The rows of a batch as bytes: what backups and the segments behind them are made of. docs/internals/backup.md says
// which bytes. The same rows give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

// Appends values that ByteReader reads again in the same order.
class ByteWriter {
 public:
  void number(uint64_t value);  // 1 to 10 bytes, seven bits each, the least first
  void text(std::string_view bytes);
  void id(const Ulid& value);

  std::string bytes;
};

// What cannot be read leaves `failed` set, and everything after it reads as nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  uint64_t number();
  std::string text();
  Ulid id();
  bool at_end() const { return left_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view left_;
  bool failed_ = false;
};

std::string bytes_of(const Batch& batch);
// `verification_failed` for anything that bytes_of does not write.
Result<Batch> batch_in(std::string_view bytes);

}  // namespace sluice::store
