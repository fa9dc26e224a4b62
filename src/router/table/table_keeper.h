// What the router obeys, and how that changes: orders are verified, compiled, kept on disk and then published. The same
// code takes them from the control socket and, after a start, from the disk.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "crypto/ed25519.h"
#include "router/state_files.h"
#include "router/table/bounds_keeper.h"
#include "router/table/order.h"
#include "router/table/table_compile.h"

namespace sluice::router {

struct Refusal {
  Error error;
  bool needs_load = false;
};

class TableKeeper {
 public:
  // After `publish` requests are looked up in the table. `in_use`: a thread has caught up with this one and no later
  // one.
  using Publish = std::function<void(const Table*)>;
  using InUse = std::function<bool(const Table*)>;

  TableKeeper(std::string router, std::vector<crypto::PublicKey> trusted, TableCompiler& compiler, StateFiles& state,
              Publish publish, InUse in_use, BoundsKeeper* bounds = nullptr);

  // Takes what is on disk, as far as it verifies. Says what was wrong with the rest; empty if nothing.
  std::string begin();
  // A table that is obeyed without a signature.
  Result<void> load_unsigned(std::string_view text, const std::string& file);

  // Nothing when it is obeyed, or was before; else why not.
  std::optional<Refusal> obey(OrderOp op, KeptOrder order);

  // Frees what nobody uses any more. A large table takes its time: when nobody waits, and beside what goes on.
  void tidy();

  const std::shared_ptr<const Table>& table() const { return table_; }
  int64_t generation() const { return table_ ? table_->generation : 0; }
  const std::string& digest() const { return digest_; }  // of the last order
  const std::string& state_error() const { return state_error_; }
  const BoundsKeeper* bounds() const { return bounds_; }  // nothing: the control plane may order anything

 private:
  struct Retired {
    std::shared_ptr<const Table> table;
    bool whole = false;  // it shares nothing with what it was replaced by
  };

  std::optional<Refusal> take(OrderOp op, const KeptOrder& order, bool keep);
  std::optional<Refusal> check(OrderOp op, const Order& order, bool& known) const;
  // The bounds for what is taken now: new, or from the disk.
  Result<const SignedBounds*> bounds_for(bool is_new);
  void publish(std::shared_ptr<const Table> table);

  std::string router_;
  std::vector<crypto::PublicKey> trusted_;
  TableCompiler& compiler_;
  StateFiles& state_;
  Publish publish_;
  InUse in_use_;
  BoundsKeeper* bounds_;
  std::string bounds_digest_;  // of those that the table was narrowed by
  std::shared_ptr<const Table> table_;
  std::vector<Retired> retired_;  // that a thread may still look at, the oldest first
  std::atomic<bool> is_freeing_ = false;
  std::jthread freeing_;
  std::string digest_;
  int64_t token_ = 0;  // the highest that an order had
  std::string state_error_;
};

}  // namespace sluice::router
