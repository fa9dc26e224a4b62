// GitWatch looks, every fifteen seconds, whether a branch that is watched has another commit than the one that was
// tried last, and has GitSource look at it. It asks in a thread of its own, as a server may be slow. A branch that
// stands still leaves no record; a server that is away leaves one.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "deploy/promotion/release_sources.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

class GitWatch final : public lang::Observer {
 public:
  // Both must outlive it.
  GitWatch(const Clock& clock, const ReleaseSources& sources)
      : clock_(clock), sources_(sources), looked_ns_(clock.monotonic_ns()) {}
  ~GitWatch() override;

  std::string_view concept_name() const override { return "GitSource"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& snapshot, const Tell& tell) override;

  static constexpr int64_t kEvery_ns = 15'000'000'000;

 private:
  struct Watched {
    std::string source, url, branch, path;
    std::string seen;  // the commit that was tried last
  };
  // What a branch is at; where the server does not say, "?".
  using Heads = std::map<std::string, std::string>;
  Heads heads_of(const std::vector<Watched>& watched) const;
  void tell_changes(const Heads& heads, const Tell& tell);

  const Clock& clock_;
  const ReleaseSources& sources_;
  std::vector<Watched> watched_;
  int64_t looked_ns_;
  std::future<Heads> looking_;
  Heads told_;  // by source, so that one thing is told once
};

}  // namespace sluice::deploy
