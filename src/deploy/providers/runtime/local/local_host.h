// LocalHost runs bundles on this machine: the tool behind LocalRuntime's effects. It turns a bundle into a workload,
// and a number of replicas into replicas that are all healthy, or none.
//
// Replicas of one deployment share a name and differ in their number: "01J….2.0", "01J….2.1". Everything may be
// repeated under the same name after a crash.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"
#include "deploy/providers/runtime/local/local_images.h"
#include "process/replicas.h"

namespace sluice::deploy::local_runtime {

class LocalHost;

// Keeps what an archive was unpacked to from being removed, as long as it is there.
class Hold {
 public:
  Hold() = default;
  Hold(LocalHost& host, std::string name);
  Hold(Hold&& other) noexcept : host_(std::exchange(other.host_, nullptr)), name_(std::move(other.name_)) {}
  Hold& operator=(Hold&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~Hold();

 private:
  LocalHost* host_ = nullptr;
  std::string name_;
};

struct Bundle {
  std::string root;  // its folder
  bundle::Manifest manifest;
  std::string hash;  // of its archive's bytes, "sha256:…"; empty of a folder, which runs where it is
  Hold hold;
};

struct Placed {
  std::string name;
  std::string endpoint;  // "http://127.0.0.1:8080" or "unix:/…/socket"
  int64_t pid = 0;       // of the program when it became healthy
  std::string log;       // a folder
};

// What a program gets that is not in its bundle.
struct Given {
  std::string config = "{}";                     // the text of the file that SLUICE_CONFIG names
  std::string storage;                           // the folder's name that its storage is kept under
  std::map<std::string, std::string> variables;  // over those of its manifest
  std::optional<std::string> health;             // a JSON object, over its manifest's
  process::Secrets secrets;
  std::string engine = {};                        // the socket of the container engine, if an operator has named one
  std::optional<oci::Login> registry_login = {};  // of the registry that its image is in
  std::string statement = {};                     // who signed the revision, a DSSE envelope; empty: nobody
};

struct Deployment {
  std::string name;
  int64_t replicas = 1;
  std::optional<int64_t> port;          // of the first replica; any free ones without it
  int64_t kept = 0;                     // the first so many were there before, and stay when another fails
  int64_t first = 0;                    // the number of the first replica
  std::vector<std::string> names = {};  // of the first replicas, if those are of several deployments
  Given given;
};

// Why replicas could not be brought to run.
struct Misfortune {
  enum class Kind {
    home,
    port,
    cannot_start,
    crash_loop,
    out_of_memory,
    health_timeout,
    gone,
    image_not_found,
    registry_denied,
    pull_failed,
    platform_missing,
    no_engine
  };
  Kind kind = Kind::home;
  std::string replica;
  std::string reason;
  int64_t port = 0;
  std::vector<std::string> last_lines;
};

class LocalHost {
 public:
  struct Place {
    std::string home;               // hidden from programs
    std::string bundles;            // where archives are unpacked; below the home
    std::string storage;            // what programs store; below the home
    std::string bounds = {};        // what an operator lets this machine start (deploy/start_bounds.h)
    LocalImages* images = nullptr;  // of bundles that have one
  };

  LocalHost(Disk& disk, process::Replicas& replicas, Place place)
      : disk_(disk), replicas_(replicas), place_(std::move(place)) {}

  // One at a time works on a service. Made by whoever is about to, it waits for those before.
  class Turn {
   public:
    Turn(LocalHost& host, const std::string& service);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // Whether somebody waits for this one to end.
    bool is_waited_for() const;

   private:
    LocalHost& host_;
    std::string service_;
  };

  // The name of the control plane's replica that this process is, where several share a store; otherwise empty. Set
  // before anything runs.
  void set_machine(std::string name) { machine_ = std::move(name); }
  const std::string& machine() const { return machine_; }

  // Whether replicas can be made at all; the error says why not.
  Result<void> check_home();
  // `invalid` and other codes for what is no bundle that can run as a process. With the hash of what was deployed from
  // there, that is opened, whatever is there by now.
  Result<Bundle> open(const std::string& artifact, const std::string& hash = "");
  // As a container if there is an image.
  process::Workload workload_of(const Bundle& bundle, const Given& given, std::optional<uint16_t> port,
                                const std::optional<ReadyImage>& image = std::nullopt) const;

  using Brought = std::variant<std::vector<Placed>, Misfortune>;
  // Brings all replicas to run and be healthy, those that run already left as they are, or removes all but those that
  // are kept and says what happened to the first.
  Brought bring_up(const Bundle& bundle, const Deployment& deployment, const std::function<bool()>& cancelled);
  // Brings the replicas of a deployment to run as they were started last, those that run left as they are, and anew
  // those of which nothing is left. One whose port is taken now gets another, if it may have any. Whatever happens,
  // none is removed.
  Brought bring_back(const Bundle& bundle, const Deployment& deployment, bool any_port,
                     const std::function<bool()>& cancelled);
  Result<void> take_down(const std::vector<std::string>& names);
  // Waits until nobody is connected to a replica any more, for as long as it may drain.
  void await_unused(const std::string& name, const std::function<bool()>& cancelled);
  // Removes what archives were unpacked to, but for those of these hashes, those that a replica runs from, and those
  // that somebody is about to start.
  Result<void> forget_unpacked(const std::set<std::string>& kept);
  // Makes a folder for each of these under the storage's name.
  Result<void> make_storage(const std::string& storage, const std::vector<std::string>& names);
  // Removes the folders of a storage in which nothing is; whether that was all of them.
  Result<bool> unmake_storage(const std::string& storage);
  // Removes what was stored under this name.
  Result<void> forget_storage(const std::string& storage);

  // All replicas that there are of a service, of whichever deployment.
  Result<std::vector<std::string>> replicas_of(const std::string& service) const;
  // Those that one of these, which runs, was started with.
  Result<process::Secrets> secrets_of(const std::vector<std::string>& names) const;
  // Asks them all whether they are healthy, and says how long the slowest took; an error for the first that is not.
  Result<int64_t> ask_health(const std::vector<std::string>& names);
  process::Replicas& replicas() { return replicas_; }
  LocalImages* images() { return place_.images; }

 private:
  friend class Hold;

  process::ContainerWork container_of(const bundle::Manifest& manifest, const Given& given,
                                      const ReadyImage& image) const;
  // Nothing for a bundle without an image.
  std::variant<std::optional<ReadyImage>, Misfortune> image_of(const Bundle& bundle, const Given& given,
                                                               const std::function<bool()>& cancelled);
  Result<Bundle> read(std::string root, std::string hash, Hold hold);
  Result<uint16_t> port_of(const std::string& name, const Deployment& deployment, int64_t number);
  Result<void> check_storage(const Bundle& bundle, const Given& given) const;
  Result<void> make_storage(const Bundle& bundle, const Given& given);
  std::optional<process::StartBound> bound_of(const Given& given) const;
  std::vector<std::pair<std::string, std::string>> storage_of(const Bundle& bundle, const Given& given) const;
  Placed place_of(const std::string& name, const process::Workload& workload) const;
  // Waits until all are healthy; what happened to the first that is not.
  std::optional<Misfortune> await_all(std::vector<Placed>& placed, const std::function<bool()>& cancelled);

  // Who works on a service, and who waits for that.
  struct Queue {
    bool taken = false;
    int waiting = 0;
  };

  Disk& disk_;
  process::Replicas& replicas_;
  Place place_;
  std::string machine_;
  mutable std::mutex mutex_;
  std::condition_variable turned_;
  std::map<std::string, Queue> queues_;  // of the services that somebody works on
  std::mutex unpacked_mutex_;
  std::multiset<std::string> held_;  // names of folders in place_.bundles
};

std::string name_of_replica(const std::string& deployment, int64_t number);
// The service that a replica is of: "01J…" of "01J….2.0".
std::string service_of_replica(const std::string& name);

}  // namespace sluice::deploy::local_runtime
