// LocalHost runs bundles on this machine: the tool behind LocalRuntime's effects. It turns a bundle into a workload,
// and a number of replicas into replicas that are all healthy, or none.
//
// Replicas of one deployment share a name and differ in their number: "01J….2.0", "01J….2.1". Everything may be
// repeated under the same name after a crash.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest.h"
#include "process/replicas.h"

namespace sluice::deploy::local_runtime {

struct Bundle {
  std::string root;  // its folder
  bundle::Manifest manifest;
};

struct Placed {
  std::string name;
  std::string endpoint;  // "http://127.0.0.1:8080" or "unix:/…/socket"
  int64_t pid = 0;       // of the program when it became healthy
  std::string log;       // a folder
};

struct Deployment {
  std::string name;
  int64_t replicas = 1;
  std::optional<int64_t> port;  // of the first replica; any free ones without it
  int64_t kept = 0;             // the first so many were there before, and stay when another fails
};

// Why replicas could not be brought to run.
struct Misfortune {
  enum class Kind { home, port, cannot_start, crash_loop, out_of_memory, health_timeout, gone };
  Kind kind = Kind::home;
  std::string replica;
  std::string reason;
  int64_t port = 0;
  std::vector<std::string> last_lines;
};

class LocalHost {
 public:
  struct Place {
    std::string home;     // hidden from programs
    std::string bundles;  // where archives are unpacked; below the home
  };

  LocalHost(Disk& disk, process::Replicas& replicas, Place place)
      : disk_(disk), replicas_(replicas), place_(std::move(place)) {}

  // Whether replicas can be made at all; the error says why not.
  Result<void> check_home();
  // `invalid` and other codes for what is no bundle that can run as a process.
  Result<Bundle> open(const std::string& artifact);
  process::Workload workload_of(const Bundle& bundle, std::optional<uint16_t> port) const;

  // Brings all replicas to run and be healthy, those that run already left as they are, or removes all but those that
  // are kept and says what happened to the first.
  std::variant<std::vector<Placed>, Misfortune> bring_up(const Bundle& bundle, const Deployment& deployment,
                                                         const std::function<bool()>& cancelled);
  Result<void> take_down(const std::vector<std::string>& names);
  // Of each, in order; an error for one that is not healthy.
  Result<int64_t> slowest_us(const std::vector<std::string>& names);

 private:
  Result<uint16_t> port_of(const std::string& name, const Deployment& deployment, int64_t number);

  Disk& disk_;
  process::Replicas& replicas_;
  Place place_;
};

std::string name_of_replica(const std::string& deployment, int64_t number);

}  // namespace sluice::deploy::local_runtime
