// SealedValues keeps the values behind Sealed handles: in memory only, for ten minutes, gone at a restart. A handle
// says which invocation made it, so that a value that is lost can be made again by repeating that effect.
//
//   handle = "sealed:<invocation>:<n>"
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/ulid.h"
#include "crypto/secret_buffer.h"

namespace sluice::engine {

// Numbers from here on are of values that came with a call: nothing can make those again.
inline constexpr uint64_t kSealedWithCall = uint64_t{1} << 32U;

struct SealedHandle {
  Ulid invocation;
  uint64_t number = 0;

  auto operator<=>(const SealedHandle&) const = default;
};

std::string to_string(const SealedHandle& handle);
Result<SealedHandle> parse_sealed_handle(std::string_view text);

// May be used from many threads.
class SealedValues {
 public:
  static constexpr int64_t kLife_ms = 600'000;

  explicit SealedValues(const Clock& clock) : clock_(clock) {}

  void put(const SealedHandle& handle, std::string_view value);
  std::optional<std::string> get(const SealedHandle& handle);

 private:
  struct Kept {
    crypto::SecretBuffer value;
    int64_t until_ns = 0;
  };
  void drop_old();

  const Clock& clock_;
  std::mutex mutex_;
  std::map<SealedHandle, Kept> values_;
};

}  // namespace sluice::engine
