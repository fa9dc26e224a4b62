// PinWatch looks, every thirty seconds, at what pins run, and says what somebody else has changed of it: fields of
// objects in a cluster, which it asks in a thread of its own; and the traffic, routes and replicas of a bundle's
// deployment. Pins that nobody changes leave no record.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

namespace executor {
class ClusterMeans;
}

// An object of these as it is in the cluster; null: it is gone.
using LiveObject =
    std::function<Result<boost::json::value>(const boost::json::value& object, const std::string& name_space)>;
// `means` must outlive it.
LiveObject live_in(executor::ClusterMeans& means);

class PinWatch final : public lang::Observer {
 public:
  // The clock must outlive it.
  PinWatch(const Clock& clock, LiveObject live)
      : clock_(clock), live_(std::move(live)), looked_ns_(clock.monotonic_ns()) {}
  ~PinWatch() override;

  std::string_view concept_name() const override { return "Pin"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& snapshot, const Tell& tell) override;

  static constexpr int64_t kEvery_ns = 30'000'000'000;

 private:
  struct Watched {
    std::string environment;
    std::string objects;             // JSON, as they were applied; empty: it runs no objects in a cluster
    std::vector<std::string> drift;  // as it is noted
    std::vector<std::string> found;  // of what runs outside a cluster
    int64_t generation = 0;
  };
  using Pins = std::map<std::string, Watched>;
  // What is to be noted of each pin, "Deployment/shop .spec.replicas (kubectl)"; those that could not be asked for are
  // left out.
  using Drifts = std::map<std::string, std::vector<std::string>>;
  Drifts drifts_of(const Pins& pins) const;

  const Clock& clock_;
  const LiveObject live_;
  Pins pins_, asked_;
  int64_t looked_ns_;
  std::future<Drifts> looking_;
};

}  // namespace sluice::deploy
