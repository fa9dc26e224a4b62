// RemoteStore is the store of another process, to be read: each snapshot is one that a `sluice serve` holds for it,
// over a connection of its own. Nothing can be written through it.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace sluice::host {

class RemoteStore final : public store::Store {
 public:
  // `purpose` is what the journal says was denied to somebody who may not read: "flow list". The clock must outlive it.
  RemoteStore(std::string socket, const Clock& clock, std::string purpose)
      : socket_(std::move(socket)), clock_(clock), purpose_(std::move(purpose)) {}

  Result<std::unique_ptr<store::Snapshot>> read() override;

  Result<void> commit(const store::Batch& batch) override;
  Result<void> pack(const std::vector<store::PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override { return std::nullopt; }

 private:
  std::string socket_;
  const Clock& clock_;
  std::string purpose_;
};

}  // namespace sluice::host
