// Every number has a range in which the method's proof holds and its logarithms exist.
#include "judge/settings.h"

namespace sluice::judge {
namespace {

Error refused(std::string path, std::string message) {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

bool within(double number, double least, double most) { return number >= least && number <= most; }  // not NaN

Result<void> check_share(double share, const std::string& path) {
  if (within(share, 1e-6, 0.99)) return {};
  return refused(path, "a share is between 0.000001 and 0.99");
}

Result<void> check_bounds(const Bounds& bounds, const std::string& path) {
  if (!within(bounds.tolerated_ratio, 0, 100) || !within(bounds.margin_ratio, 0, 100)) {
    return refused(path, "a ratio is between 0 and 100");
  }
  if (!within(bounds.tolerated_plus, 1e-6, 0.99) || !within(bounds.margin_plus, 1e-6, 0.99)) {
    return refused(path, "what is added to a share is between 0.000001 and 0.99");
  }
  return {};
}

}  // namespace

Result<void> check(const Settings& settings) {
  if (!within(settings.alpha, 1e-9, 0.5)) return refused("/alpha", "alpha is between 0.000000001 and 0.5");
  if (!within(settings.beta, 1e-9, 0.5)) return refused("/beta", "beta is between 0.000000001 and 0.5");
  for (auto [bounds, path] : {std::pair(&settings.errors, "/errors"), std::pair(&settings.p50, "/p50"),
                              std::pair(&settings.p90, "/p90"), std::pair(&settings.p99, "/p99")}) {
    if (auto sound = check_bounds(*bounds, path); !sound) return sound;
  }
  if (settings.max_error_rate) {
    if (auto sound = check_share(*settings.max_error_rate, "/max_error_rate"); !sound) return sound;
  }
  if (settings.max_latency_p99_ms && !within(*settings.max_latency_p99_ms, 1e-3, 1e9)) {
    return refused("/max_latency_p99_ms", "a limit of latency is between 0.001 and 1000000000 ms");
  }
  if (!within(settings.warm_up_s, 0, 86'400)) return refused("/warm_up_s", "it is between 0 and 86400 seconds");
  if (!within(settings.settle_s, 0, 86'400)) return refused("/settle_s", "it is between 0 and 86400 seconds");
  if (settings.limits.size() > 16) return refused("/limits", "there are at most 16 limits");
  for (size_t i = 0; i < settings.limits.size(); ++i) {
    const Limit& limit = settings.limits[i];
    std::string path = "/limits/" + std::to_string(i);
    if (limit.name.empty()) return refused(path + "/name", "a limit has a name");
    if (limit.over_ms && !within(*limit.over_ms, 1e-3, 1e9)) {
      return refused(path + "/over_ms", "a limit of latency is between 0.001 and 1000000000 ms");
    }
    if (auto sound = check_share(limit.share, path + "/share"); !sound) return sound;
  }
  if (settings.alone && !settings.max_error_rate && !settings.max_latency_p99_ms && settings.limits.empty()) {
    return refused("/alone", "without a baseline there must be a limit");
  }
  return {};
}

}  // namespace sluice::judge
