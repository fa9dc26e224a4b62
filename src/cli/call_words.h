// What a command says of the calls that it makes: under which key, and what to do if nobody knows how one ended.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/ulid.h"
#include "cli/command.h"
#include "host/home_door.h"

namespace sluice::cli {

class CallWords {
 public:
  // Both must outlive it. `kit` is the kit that `sluice kit run` names; empty: Sluice's own, which `sluice serve` runs.
  CallWords(const Given& given, const host::HomeDoor& door, std::string kit = "")
      : given_(given), door_(door), kit_(std::move(kit)) {}

  // The idempotency key of the command's calls: the one that was given, else a new one, with which the call can be
  // repeated if nobody knows how it ended. One that is given and empty is a `usage` error. `part` tells several calls
  // apart.
  Result<std::string> key(std::string_view part = "");
  // For a call that may not have been heard: the command line that repeats it under its key.
  Error unheard(const Error& error) const;
  // For a person who no longer waits for a flow that is not done, or for whom it could not go on.
  Error stopped_early(const Ulid& flow) const;
  Error kept_for_now(const Error& trouble, const Ulid& flow) const;
  // Where the flow goes on, in a sentence.
  std::string goes_on() const;

 private:
  const Given& given_;
  const host::HomeDoor& door_;
  const std::string kit_;
  std::string key_;
};

}  // namespace sluice::cli
