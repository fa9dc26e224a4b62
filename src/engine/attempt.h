// EngineAttempt is what `perform` and `probe` are given: the effect's id, its cancel flag, committed state, sealed
// values and the tools. It lives on the attempt's thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/committed_rows.h"
#include "engine/sealed.h"
#include "lang/run/binding.h"

namespace sluice::engine {

// What attempts of one machine share.
struct AttemptParts {
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  const Clock* clock = nullptr;
  const lang::Tools* tools = nullptr;
  SealedValues* sealed = nullptr;
  std::vector<const lang::ConceptBinding*> concepts;
  std::shared_ptr<const IndexedFields> indexed;
};

class EngineAttempt final : public lang::Attempt {
 public:
  EngineAttempt(const AttemptParts& parts, const Ulid& invocation, int64_t number,
                std::shared_ptr<const std::atomic<bool>> cancelled, lang::Cause cause);

  const std::string& id() const override { return id_; }
  lang::Cause cause() const override { return cause_; }
  int number() const override { return static_cast<int>(number_); }
  bool cancelled() const override { return cancelled_->load(); }
  // A value that is lost is made again by repeating the effect that made it, which must be `retry: safe`.
  std::string open(const lang::Sealed& sealed) override;
  lang::Sealed seal(std::string value) override;
  const lang::Snapshot& read() override;
  const lang::Tools& tools() const override { return *parts_.tools; }

 private:
  void make_again(const SealedHandle& handle);

  const AttemptParts& parts_;
  Ulid invocation_;
  std::string id_;
  int64_t number_;
  std::shared_ptr<const std::atomic<bool>> cancelled_;
  lang::Cause cause_;
  std::unique_ptr<CommittedRows> snapshot_;
  uint64_t sealed_ = 0;
};

}  // namespace sluice::engine
