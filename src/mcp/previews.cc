// Kept in memory: after a restart an agent looks again.
#include "mcp/previews.h"

#include <array>

#include "base/canonical_json.h"
#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"

namespace sluice::mcp {
namespace {

constexpr size_t kMostPreviews = 10'000;

Error not_good(const std::string& why) {
  return {.code = Code::conflict,
          .message = "the plan id does not hold: " + why + "; nothing was changed",
          .next = "call again without plan_id, and look at the preview"};
}

}  // namespace

std::string digest_of_call(const std::string& action, const json::object& input) {
  const json::object call{{"action", action}, {"input", input}};
  auto text = canonical(call);
  return crypto::to_string(crypto::sha256(text ? *text : write(call)));
}

std::string Previews::keep(Preview preview) {
  std::array<uint8_t, 18> random;
  random_.fill(random);
  const std::string id = "plan_" + crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()},
                                                     crypto::Base64::url_unpadded);
  const int64_t now_ns = clock_.monotonic_ns();
  preview.until_ns = now_ns + kPreviewLife_ms * 1'000'000;
  std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const auto& each) { return each.second.until_ns <= now_ns; });
  if (kept_.size() >= kMostPreviews) kept_.erase(kept_.begin());
  kept_.emplace(id, std::move(preview));
  return id;
}

Result<Preview> Previews::take(const std::string& id, const std::string& caller, const std::string& digest) {
  std::lock_guard lock(mutex_);
  auto found = kept_.find(id);
  if (found == kept_.end() || found->second.caller != caller) return not_good("it is not known, or was used already");
  Preview preview = std::move(found->second);
  kept_.erase(found);
  if (preview.until_ns <= clock_.monotonic_ns()) return not_good("it is older than ten minutes");
  if (preview.digest != digest) return not_good("it was made for another call");
  return preview;
}

}  // namespace sluice::mcp
