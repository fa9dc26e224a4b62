// The rules of generations: docs/internals/router.md, Control socket.
#include "router/table/table_keeper.h"

#include <algorithm>
#include <iterator>

#include "base/thread_turns.h"

namespace sluice::router {

TableKeeper::TableKeeper(std::string router, std::vector<crypto::PublicKey> trusted, TableCompiler& compiler,
                         StateFiles& state, Publish publish, InUse in_use, BoundsKeeper* bounds)
    : router_(std::move(router)),
      trusted_(std::move(trusted)),
      compiler_(compiler),
      state_(state),
      publish_(std::move(publish)),
      in_use_(std::move(in_use)),
      bounds_(bounds) {}

Result<const SignedBounds*> TableKeeper::bounds_for(bool is_new) {
  if (bounds_ == nullptr) return static_cast<const SignedBounds*>(nullptr);
  if (!is_new) return &bounds_->current();
  return bounds_->for_order();
}

void TableKeeper::publish(std::shared_ptr<const Table> table) {
  publish_(table.get());
  if (table_) retired_.push_back({std::move(table_), table->touched.empty()});
  table_ = std::move(table);
}

void TableKeeper::tidy() {
  // A thread looks at the table that it has caught up with, or at a later one.
  auto still = std::ranges::find_if(retired_, [&](const Retired& each) { return in_use_(each.table.get()); });
  if (still == retired_.begin() || is_freeing_) return;
  std::vector<Retired> gone(std::make_move_iterator(retired_.begin()), std::make_move_iterator(still));
  retired_.erase(retired_.begin(), still);
  // What a patch has replaced shares all but one deployment with what it was replaced by.
  if (std::ranges::none_of(gone, &Retired::whole)) return;
  is_freeing_ = true;
  freeing_ = std::jthread([this, gone = std::move(gone)]() mutable {
    let_others_go_first();
    for (Retired& each : gone) {
      // Nobody else has it, so it need not stay as it is.
      if (each.table.use_count() == 1) std::const_pointer_cast<Table>(each.table)->take_apart();
    }
    gone.clear();
    is_freeing_ = false;
  });
}

std::string TableKeeper::begin() {
  auto kept = state_.read();
  if (!kept) {
    state_error_ = kept.error().message;
    return state_error_;
  }
  if (!kept->snapshot) return kept->fault;
  if (auto refused = take(OrderOp::load, *kept->snapshot, false)) return "the snapshot: " + refused->error.message;
  std::string fault = kept->fault;
  size_t good = 0;
  for (const KeptOrder& patch : kept->patches) {
    auto refused = take(OrderOp::patch, patch, false);
    if (refused) {
      fault = "patch " + std::to_string(good + 1) + ": " + refused->error.message;
      break;
    }
    ++good;
  }
  if (!fault.empty()) {
    if (auto cut = state_.keep_patches(good); !cut) state_error_ = cut.error().message;
  }
  return fault;
}

Result<void> TableKeeper::load_unsigned(std::string_view text, const std::string& file) {
  auto read = read_table(text, file);
  if (!read) return read.error();
  auto bounds = bounds_for(true);
  if (!bounds) return bounds.error();
  if (*bounds != nullptr) {
    if (auto sound = (*bounds)->bounds.check_settings(read->document); !sound) return sound.error();
    (*bounds)->bounds.narrow(*read, bounds_digest_ == (*bounds)->digest);
  }
  auto table = compiler_.load(*std::move(read), table_.get());
  if (!table) return table.error();
  digest_.clear();
  if (*bounds != nullptr) bounds_digest_ = (*bounds)->digest;
  publish(*std::move(table));
  return {};
}

std::optional<Refusal> TableKeeper::obey(OrderOp op, KeptOrder order) { return take(op, order, true); }

// Whether the order may be obeyed now; `known`: it is already.
std::optional<Refusal> TableKeeper::check(OrderOp op, const Order& order, bool& known) const {
  auto refusal = [](Code code, std::string message, bool needs_load = false) {
    return Refusal{{.code = code, .message = std::move(message)}, needs_load};
  };
  if (order.op != op) return refusal(Code::invalid, "the order is for another operation");
  if (order.router != "*" && order.router != router_) return refusal(Code::denied, "the order is for another router");
  if (table_ && order.environment != table_->settings->environment) {
    return refusal(Code::denied, "this router serves the environment " + table_->settings->environment);
  }
  if (order.token && *order.token < token_) {
    return refusal(Code::conflict, "the control plane that gave this order leads no longer: its token is " +
                                       std::to_string(*order.token) + ", and " + std::to_string(token_) + " was seen");
  }
  if (order.generation < 1) return refusal(Code::invalid, "a generation is at least 1");
  std::string held = std::to_string(generation());
  if (table_ && order.generation == generation() && order.digest == digest_) {
    known = true;
    return std::nullopt;
  }
  if (op == OrderOp::load) {
    if (table_ && order.generation <= generation()) {
      return refusal(Code::conflict,
                     "generation " + held + " holds, and " + std::to_string(order.generation) + " is not above it");
    }
    return std::nullopt;
  }
  if (!table_) return refusal(Code::conflict, "there is no table to patch", true);
  if (*order.from != generation() || order.generation != generation() + 1) {
    return refusal(Code::conflict,
                   "generation " + held + " holds, and the patch goes from " + std::to_string(*order.from) + " to " +
                       std::to_string(order.generation),
                   true);
  }
  return std::nullopt;
}

std::optional<Refusal> TableKeeper::take(OrderOp op, const KeptOrder& kept, bool keep) {
  auto order = read_order(kept.envelope, kept.bytes, trusted_);
  if (!order) return Refusal{order.error()};
  bool known = false;
  if (auto refused = check(op, *order, known)) return refused;
  token_ = std::max(token_, order->token.value_or(0));
  if (known) return std::nullopt;
  auto bounds = bounds_for(keep);
  if (!bounds) return Refusal{bounds.error()};
  const SignedBounds* within = *bounds;
  Result<std::shared_ptr<const Table>> table = Error{};
  if (op == OrderOp::load) {
    auto read = read_table(kept.bytes);
    if (!read) return Refusal{read.error()};
    if (read->document.generation != order->generation || read->document.environment != order->environment) {
      return Refusal{{.code = Code::verification_failed, .message = "the order and its table differ"}};
    }
    if (within != nullptr) {
      if (auto sound = within->bounds.check_settings(read->document); !sound) return Refusal{sound.error()};
      within->bounds.narrow(*read, bounds_digest_ == within->digest);
    }
    table = compiler_.load(*std::move(read), table_.get());
  } else {
    auto read = read_patch(kept.bytes);
    if (!read) return Refusal{read.error()};
    if (within != nullptr) {
      // All of the table is to be judged by them, not one deployment.
      if (within->digest != bounds_digest_)
        return Refusal{{.code = Code::conflict, .message = "the operator's bounds have changed since the last load"},
                       true};
      within->bounds.narrow(*read);
    }
    table = compiler_.patch(*std::move(read), order->generation, *table_);
  }
  if (!table) return Refusal{table.error()};
  if (keep) {
    auto written = op == OrderOp::load ? state_.put_snapshot(kept) : state_.append_patch(kept);
    // Serving what is right now is better than what was right once, even if it would be forgotten.
    state_error_ = written ? "" : written.error().message;
  }
  digest_ = order->digest;
  if (within != nullptr) bounds_digest_ = within->digest;
  publish(*std::move(table));
  return std::nullopt;
}

}  // namespace sluice::router
