// Any bytes as a ULID: either refused with a reason of one line, or read into an id whose only spelling they are. Such
// an id is what a source makes that draws its bits at its time, and the source's next one is greater.
// covers: src/base/ulid.cc
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/ulid.h"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

struct FixedRandom final : sluice::Random {
  std::array<uint8_t, sluice::Ulid::kRandomBytes> bytes;
  void fill(std::span<uint8_t> into) override {
    for (size_t i = 0; i < into.size(); ++i) into[i] = bytes[i % bytes.size()];
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto ulid = sluice::Ulid::parse(text);
  if (!ulid) {
    const std::string& message = ulid.error().message;
    expect(ulid.error().code == sluice::Code::invalid && message.size() <= 200);
    expect(message.find('\n') == std::string::npos && message.find('\0') == std::string::npos);
    return 0;
  }
  expect(sluice::to_string(*ulid) == text);
  FixedRandom random;
  for (size_t i = 0; i < 8; ++i) random.bytes[2 + i] = static_cast<uint8_t>(ulid->low() >> (56 - 8 * i));
  random.bytes[0] = static_cast<uint8_t>(ulid->high() >> 8);
  random.bytes[1] = static_cast<uint8_t>(ulid->high());
  expect(sluice::Ulid::from(ulid->wall_ms(), random.bytes) == *ulid);
  if (ulid->wall_ms() == sluice::Ulid::kMaxMs) return 0;  // no id may come after it
  sluice::ManualClock clock(ulid->wall_ms());
  sluice::UlidSource source(clock, random);
  expect(source.next() == *ulid);
  expect(source.next() > *ulid);
  return 0;
}
