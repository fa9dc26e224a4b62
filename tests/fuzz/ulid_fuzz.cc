// Any bytes as a ULID: either refused with a reason of one line, or read into an id whose only spelling they are.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/ulid.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto ulid = sluice::Ulid::parse(text);
  if (ulid) {
    if (sluice::to_string(*ulid) != text) std::abort();
    if (ulid->wall_ms() > sluice::Ulid::kMaxMs) std::abort();
  } else {
    const std::string& message = ulid.error().message;
    if (ulid.error().code != sluice::Code::invalid || message.size() > 200) std::abort();
    if (message.find('\n') != std::string::npos || message.find('\0') != std::string::npos) std::abort();
  }
  return 0;
}
