// SecretWatch looks, every fifteen seconds, whether a provider has a newer version of a secret that a ready revision
// uses, and tells Secret of it; what follows is the kit's business. Versions of the built-in store are known without
// looking. It looks in a thread of its own, as a provider may be slow, and only in a process that stays: a short
// command waits for no provider.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "base/terminal.h"
#include "deploy/value_versions.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

// An answer of the pack by its name; empty if there is none.
using PackAnswer = std::function<std::string(std::string_view name)>;
// The newest version of a secret; nothing if there is no such secret.
using NewestVersion = std::function<Result<std::optional<std::string>>(
    const std::string& environment, const std::string& name, const PackAnswer& answer)>;

NewestVersion newest_variable(Variables variables, ValueVersions& versions);
NewestVersion newest_in_file(Disk& disk, ValueVersions& versions);

class SecretWatch final : public lang::Observer {
 public:
  // By the provider's kind. What it is given must outlive it.
  SecretWatch(Disk& disk, const Clock& clock, std::map<std::string, NewestVersion> providers)
      : disk_(disk), clock_(clock), providers_(std::move(providers)), looked_ns_(clock.monotonic_ns()) {}
  ~SecretWatch() override;

  std::string_view concept_name() const override { return "Secret"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& snapshot, const Tell& tell) override;

  static constexpr int64_t kEvery_ns = 15'000'000'000;

 private:
  struct Used {
    std::string environment;
    std::string kind;
    std::string name;
    std::string version;
    json::object answers;

    bool operator==(const Used&) const = default;
  };
  // What a provider says of one: nothing where it is away, or has lost the secret.
  struct Seen {
    Used used;
    std::optional<std::string> newest;
  };
  std::vector<Seen> newest_of(const std::vector<Used>& used) const;
  void tell_newer(const std::vector<Seen>& all, const Tell& tell);

  Disk& disk_;
  const Clock& clock_;
  const std::map<std::string, NewestVersion> providers_;
  std::vector<Used> used_;
  int64_t looked_ns_;
  std::future<std::vector<Seen>> looking_;
  std::set<std::string> rebound_;
  // The version that was told of a secret, by its environment and name, for as long as somebody has another one: what
  // did not work is not tried again and again.
  std::map<std::string, std::string> told_;
};

}  // namespace sluice::deploy
