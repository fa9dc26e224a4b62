// A flow outlives the command that began it: each message says where it goes on.
#include "cli/call_words.h"

#include "base/clock.h"
#include "base/random.h"
#include "cli/opening.h"
#include "crypto/sha256.h"
#include "engine/caller_words.h"

namespace sluice::cli {

Result<std::string> CallWords::key(std::string_view part) {
  if (takes(given_, "idempotency-key") && given_.has("idempotency-key")) {
    // An unset variable of a script is no key: each repeat would run again.
    key_ = given_.text("idempotency-key");
    if (key_.empty()) {
      return Error{.code = Code::usage,
                   .message = "an idempotency key is not empty; nothing was changed",
                   .next = "leave --idempotency-key out, and one is made"};
    }
    if (auto sound = engine::check_key(key_); !sound) return sound.error();
  }
  if (key_.empty()) {
    RealClock clock;
    RealRandom random;
    key_ = to_string(UlidSource(clock, random).next());
  }
  if (part.empty()) return key_;
  std::string whole = key_ + "." + std::string(part);
  return whole.size() <= engine::kMaxKeyBytes ? whole : crypto::to_string(crypto::sha256(whole));
}

std::string CallWords::goes_on() const {
  if (!door_.runs_here()) return "it goes on in sluice serve";
  return (kit_.empty() ? "sluice serve" : "sluice kit run " + kit_) + " goes on with it";
}

Error CallWords::stopped_early(const Ulid& flow) const {
  if (door_.runs_here()) {
    return {.message = "stopped before flow " + to_string(flow) + " was done; it is kept in the store",
            .next = goes_on()};
  }
  return {.message = "stopped waiting for flow " + to_string(flow) + ", which goes on in sluice serve",
          .next = "sluice flow show " + to_string(flow)};
}

Error CallWords::unheard(const Error& error) const {
  // A command that only reads takes no key: it is simply asked again.
  if (error.code != Code::timeout || !takes(given_, "idempotency-key") || key_.empty() || given_.line.empty()) {
    return error;
  }
  Error told = error;
  told.next = line_with(given_, given_.has("idempotency-key") ? "" : "--idempotency-key " + key_);
  return told;
}

Error CallWords::kept_for_now(const Error& trouble, const Ulid& flow) const {
  Error error = trouble;
  error.message += "; flow " + to_string(flow) + " is kept as it was after its last step";
  const std::string room = trouble.code == Code::limit ? "make room on the disk; " : "";
  error.next = room + (door_.runs_here() && !kit_.empty() ? "sluice kit run " + kit_ + " then goes on with it"
                                                          : "sluice serve goes on with it as soon as it can");
  return error;
}

}  // namespace sluice::cli
