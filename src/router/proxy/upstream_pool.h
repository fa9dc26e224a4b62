// A thread's connections to the replicas of one revision: which replica is next, which connections are kept, and which
// replicas are left alone for a while because they failed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "router/proxy/connection.h"
#include "router/table/table.h"

namespace sluice::router {

inline constexpr uint32_t kMaxIdleUpstreams = 256;
inline constexpr int64_t kUnruly_ms = 60'000;

struct Replica {
  // Whether nothing leads to it.
  bool is_unused() const { return pending == 0 && idle_count == 0 && shared == nullptr; }

  Address address;
  std::shared_ptr<const UpstreamTls> tls;  // nothing: in the clear
  RevisionPool* pool = nullptr;
  bool listed = true;    // in the table as it is now
  bool probing = false;  // one request tries whether it is well again
  uint8_t place = 0;
  uint8_t failures = 0;   // in a row
  uint8_t ejections = 0;  // in a row
  uint32_t pending = 0;
  uint32_t idle_count = 0;       // with those that settle
  Upstream* idle = nullptr;      // the one that was used last first
  Upstream* settling = nullptr;  // the same
  SharedUpstream* shared = nullptr;
  int64_t unruly_until_ms = 0;   // it has spoken unasked: until then none of its connections is kept
  int64_t ejected_until_ms = 0;  // 0: not ejected
  int64_t recovered_ms = 0;      // its share grows from then on; 0: it is full
};

class RevisionPool {
 public:
  explicit RevisionPool(const Revision& revision, std::shared_ptr<const Deployment> deployment);

  // The revision as a later table has it. Replicas that are gone take nothing more.
  void update(const Revision& revision, std::shared_ptr<const Deployment> deployment);
  uint64_t stamp() const { return revision_->stamp; }
  const Revision& revision() const { return *revision_; }
  const Deployment& deployment() const { return *deployment_; }
  const std::vector<std::unique_ptr<Replica>>& replicas() const { return replicas_; }

  // The replica with the least under way for its share, of those that are well and not in `tried`; if all are ejected
  // and `any` is said, the one that is due first. Nothing if there is none.
  Replica* pick(uint64_t tried, int64_t now_ms, bool any);
  // Whether there is a replica that is not ejected, or may be tried again.
  bool is_well(int64_t now_ms) const;

  void failed(Replica& replica, int64_t now_ms);
  void succeeded(Replica& replica, int64_t now_ms);

  void add_idle(Replica& replica, Upstream& upstream);
  void remove_idle(Replica& replica, Upstream& upstream);

  void add_exchange(Exchange& exchange);
  void remove_exchange(Exchange& exchange);
  Exchange* exchanges() { return exchanges_; }

  // Whether nothing holds it any more, once the table does not have it.
  bool is_unused() const;

 private:
  const Revision* revision_;
  std::shared_ptr<const Deployment> deployment_;  // keeps the revision
  std::vector<std::unique_ptr<Replica>> replicas_;
  Exchange* exchanges_ = nullptr;
  uint32_t turn_ = 0;
};

}  // namespace sluice::router
