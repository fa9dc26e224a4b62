// RouterFleet speaks to the routers of a home: the tool behind Router's effects, and what its observer looks with.
//
//   RouterFleet::Turn turn(fleet, "local");            // one at a time brings an environment's routers up to date
//   table = views::router_table(…);                    // of what holds now
//   auto sent = fleet.publish(table, members);
//
// It remembers what each router obeys, so that a change of one deployment is sent as a patch; after a restart, or when
// a router is not where it was left, it sends the whole table. Orders are signed with the operator's key. A router that
// runs in this home has a folder with a router.json (docs/internals/router.md).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/document.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "router/control_client.h"
#include "router/table/table_document.h"

namespace sluice::deploy {

// How long a router that does not answer is waited for.
inline constexpr int64_t kRouterLease_ms = 5'000;

class RouterFleet {
 public:
  // `folder` holds a folder for each router.
  RouterFleet(Disk& disk, std::string folder, std::function<Result<crypto::PrivateKey>()> key)
      : disk_(disk), folder_(std::move(folder)), key_(std::move(key)) {}

  // Orders carry this from now on: the token of the lease under which this control plane leads. A router obeys none
  // with a lower one.
  void lead_with(int64_t token) { token_ = token; }

  // A router as its router.json says that it is, and what it says itself if it answers.
  struct Seen {
    std::string router;
    std::string name;
    std::string control;
    int64_t pid = 0;
    std::vector<std::string> listen;
    bool answers = false;
    std::string environment;  // that it obeys; empty: none yet
    int64_t generation = 0;
  };
  std::vector<Seen> look(int64_t timeout_ms) const;
  bool has_record(const std::string& name) const;

  struct Member {
    std::string router;
    std::string name;
    std::string control;
  };
  struct Missed {
    Member member;
    std::string reason;
    bool gone = false;  // it was stopped in order
  };
  struct Quarantine {
    std::string name;  // of the router
    std::string deployment;
    std::string reason;
  };
  struct Sent {
    std::vector<std::string> acknowledged;  // routers
    std::vector<Missed> missed;
    std::vector<Quarantine> quarantined;
  };
  // An error if there is no key to sign with.
  Result<Sent> publish(const ::sluice::router::TableDocument& table, const std::vector<Member>& members);
  // What it is known to obey since it was last sent something; nothing if nothing was sent.
  std::optional<int64_t> generation_of(const std::string& router) const;
  // Whether the last table did not reach it. Asking forgets that: who asks does something about it.
  bool take_missed(const std::string& router);

  // Asks all members to drain; whether nothing is under way any more, and how many requests they have cut. Who does not
  // answer has nothing under way.
  struct DrainedSoFar {
    bool done = true;
    int64_t cut = 0;
  };
  DrainedSoFar drained(const std::string& deployment, const std::string& revision, int64_t drain_ms,
                       const std::vector<Member>& members);

  // What each router of the home has counted: its answer to `usage`, or, if nobody is at its control socket, what it
  // has left in its folder. Counts that are in memory alone are an answer of their own, with the reason as `memory`.
  // Members that do not answer in time are left out.
  std::vector<json::object> usage(const std::vector<Member>& members) const;

  // What a router has counted of a revision since its counters began, and the weight that it gives it.
  struct Counted {
    int64_t weight_bps = 0;
    double requests = 0;
    double failed = 0;              // 5xx
    std::vector<double> latencies;  // by bucket of router/counters.h
  };
  // By revision, of one deployment, or of all (empty) those that had a request. An error: it did not answer in time.
  Result<std::map<std::string, Counted>> counts(const Member& member, const std::string& deployment,
                                                int64_t timeout_ms) const;

  // The operator's public key, as a table has it, in base64.
  Result<std::string> debug_key() const;

  class Turn {
   public:
    Turn(RouterFleet& fleet, std::string environment);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    RouterFleet& fleet_;
    std::string environment_;
  };

 private:
  // What a router obeys, as far as it was sent by this process.
  struct Known {
    int64_t generation = 0;
    bool wants_load = false;
    // Of one table for all that were sent it.
    std::shared_ptr<const std::string> head;                                // without generation and deployments
    std::shared_ptr<const std::map<std::string, std::string>> deployments;  // their JSON, by id
  };
  struct Message {
    std::string text;
    Known known;  // what a router that obeys it knows
  };

  // What is asked of many routers at once: the first half for all, then the second.
  struct Asked {
    const Member* member = nullptr;
    Result<::sluice::router::ControlClient> client;
    std::string line;
    std::string_view bytes;  // until it is sent
    std::optional<Result<json::object>> answer;
  };
  class Orders;

  Message message_of(const ::sluice::router::TableDocument& table) const;
  bool takes_patch(const Member& member, const Message& message) const;
  static void send_to(Asked& asked);
  static void collect(std::vector<Asked>& all, int64_t timeout_ms);
  void note(const Member& member, const Result<json::object>& answer, const Message& message, Sent& sent);

  Disk& disk_;
  std::string folder_;
  std::function<Result<crypto::PrivateKey>()> key_;
  std::atomic<int64_t> token_ = 0;  // 0: none
  mutable std::mutex mutex_;
  std::condition_variable turned_;
  std::set<std::string> turns_;         // environments that somebody is at
  std::map<std::string, Known> known_;  // by router
  std::set<std::string> missed_;        // routers
};

}  // namespace sluice::deploy
