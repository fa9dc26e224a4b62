// A flow outlives the command that began it: each message says where it goes on.
#include "cli/call_words.h"

#include "crypto/sha256.h"
#include "engine/caller_words.h"

namespace sluice::cli {

Result<std::string> CallWords::key(std::string_view part) {
  if (given_.has("idempotency-key")) {
    // An unset variable of a script is no key: each repeat would run again.
    key_ = given_.text("idempotency-key");
    if (key_.empty()) {
      return Error{.code = Code::usage,
                   .message = "an idempotency key is not empty; nothing was changed",
                   .next = "leave --idempotency-key out, and one is made"};
    }
    if (auto sound = engine::check_key(key_); !sound) return sound.error();
  }
  if (key_.empty()) key_ = home_.new_key();
  if (part.empty()) return key_;
  std::string whole = key_ + "." + std::string(part);
  return whole.size() <= engine::kMaxKeyBytes ? whole : crypto::to_string(crypto::sha256(whole));
}

std::string CallWords::goes_on(const std::string& kit) const {
  return home_.here() != nullptr ? "sluice kit run " + kit + " goes on with it" : "it goes on in sluice serve";
}

Error CallWords::stopped_early(const Ulid& flow, const std::string& kit) const {
  if (home_.here() != nullptr) {
    return {.message = "stopped before flow " + to_string(flow) + " was done; it is kept in the store",
            .next = goes_on(kit)};
  }
  return {.message = "stopped waiting for flow " + to_string(flow) + ", which goes on in sluice serve",
          .next = "sluice flow show " + to_string(flow)};
}

Error CallWords::unheard(const Error& error) const {
  if (error.code != Code::timeout || key_.empty() || given_.line.empty()) return error;
  Error told = error;
  told.next = line_with(given_, given_.has("idempotency-key") ? "" : "--idempotency-key " + key_);
  return told;
}

Error CallWords::broke_off(const Error& error, const Ulid& flow) const {
  return unheard({.code = Code::timeout,
                  .message = "the answer of flow " + to_string(flow) + " is not known: " + error.message +
                             "; the flow is kept in the store, and the next sluice serve goes on with it",
                  .next = "sluice flow show " + to_string(flow)});
}

Error CallWords::kept_for_now(const Error& trouble, const Ulid& flow, const std::string& kit) const {
  Error error = trouble;
  error.message += "; flow " + to_string(flow) + " is kept as it was after its last step";
  std::string room = trouble.code == Code::limit ? "make room on the disk; " : "";
  error.next = home_.here() != nullptr ? room + "sluice kit run " + kit + " then goes on with it"
                                       : room + "sluice serve goes on with it as soon as it can";
  return error;
}

}  // namespace sluice::cli
