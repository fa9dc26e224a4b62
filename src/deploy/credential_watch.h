// CredentialWatch has the credential that an environment is deployed with renewed when four fifths of its life are
// over: nobody else does while nobody looks. It leaves that to a process that stays; what fails is tried again, more
// and more seldom.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

class CredentialWatch final : public lang::Observer {
 public:
  // Must outlive it.
  explicit CredentialWatch(const Clock& clock) : clock_(clock) {}

  std::string_view concept_name() const override { return "Credentials"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& committed, const Tell& tell) override;

 private:
  struct Due {
    int64_t at_ms = 0;          // by the wall
    int64_t not_before_ms = 0;  // monotonic
    int64_t wait_ms = 0;
  };

  int64_t now_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  const Clock& clock_;
  std::map<std::string, Due> due_;  // by environment
};

}  // namespace sluice::deploy
