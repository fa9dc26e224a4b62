// What a command says of the calls that it makes: under which key, and what to do if nobody knows how one ended.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/ulid.h"
#include "cli/command.h"
#include "host/home_engine.h"

namespace sluice::cli {

class CallWords {
 public:
  // Both must outlive it.
  CallWords(const Given& given, host::HomeEngine& home) : given_(given), home_(home) {}

  // The idempotency key of the command's calls: the one that was given, else a new one, with which the call can be
  // repeated if nobody knows how it ended. One that is given and empty is a `usage` error. `part` tells several calls
  // apart.
  Result<std::string> key(std::string_view part = "");
  // For a call that may not have been heard: the command line that repeats it under its key.
  Error unheard(const Error& error) const;
  // For a person who no longer waits for a flow that is not done, or for whom it could not go on.
  Error stopped_early(const Ulid& flow, const std::string& kit) const;
  Error kept_for_now(const Error& trouble, const Ulid& flow, const std::string& kit) const;
  // When the process that runs the engine has ended meanwhile.
  Error broke_off(const Error& error, const Ulid& flow) const;
  // Where the flow goes on, in a sentence.
  std::string goes_on(const std::string& kit) const;

 private:
  const Given& given_;
  host::HomeEngine& home_;
  std::string key_;
};

}  // namespace sluice::cli
