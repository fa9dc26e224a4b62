// Values behind handles. Old ones are dropped whenever something is put or asked for.
#include "engine/sealed.h"

#include <charconv>

namespace sluice::engine {
namespace {

constexpr std::string_view kPrefix = "sealed:";

}  // namespace

std::string to_string(const SealedHandle& handle) {
  return std::string(kPrefix) + sluice::to_string(handle.invocation) + ":" + std::to_string(handle.number);
}

Result<SealedHandle> parse_sealed_handle(std::string_view text) {
  Error error{.code = Code::invalid, .message = "\"" + std::string(text) + "\" is no handle of a sealed value"};
  if (!text.starts_with(kPrefix) || text.size() < kPrefix.size() + Ulid::kTextLength + 2) return error;
  auto invocation = Ulid::parse(text.substr(kPrefix.size(), Ulid::kTextLength));
  std::string_view rest = text.substr(kPrefix.size() + Ulid::kTextLength);
  SealedHandle handle;
  auto read = std::from_chars(rest.data() + 1, rest.data() + rest.size(), handle.number);
  if (!invocation || rest[0] != ':' || read.ec != std::errc() || read.ptr != rest.data() + rest.size()) return error;
  handle.invocation = *invocation;
  return handle;
}

void SealedValues::put(const SealedHandle& handle, std::string_view value) {
  std::lock_guard lock(mutex_);
  drop_old();
  values_[handle] = {crypto::SecretBuffer::copy_of(value), clock_.monotonic_ns() + kLife_ms * 1'000'000};
}

std::optional<std::string> SealedValues::get(const SealedHandle& handle) {
  std::lock_guard lock(mutex_);
  drop_old();
  auto found = values_.find(handle);
  if (found == values_.end()) return std::nullopt;
  return std::string(found->second.value.reveal());
}

void SealedValues::drop_old() {
  int64_t now_ns = clock_.monotonic_ns();
  std::erase_if(values_, [&](const auto& each) { return each.second.until_ns <= now_ns; });
}

}  // namespace sluice::engine
