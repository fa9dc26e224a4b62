// Calls that the access policy wants people to agree to (approvals: of the policy). A door that meets one asks for the
// approval in place of the call; once enough people have agreed, the control plane runs the call, once, as whoever
// asked, if what it is about has not changed since.
//
//   if (auto rule = authority.approval_for(caller, action, input)) return ask_for_approval(…);
//   approvals.look();                                     // in the control plane, again and again
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "host/door.h"
#include "lang/check/check.h"
#include "store/store.h"

namespace sluice::host {

class Approvals {
 public:
  // All must outlive it.
  Approvals(engine::Engine& engine, store::Store& store, std::function<void(const std::string&)> log)
      : engine_(engine), store_(store), log_(std::move(log)) {}

  // Runs what was approved since the last look, and what a crash has left.
  void look();

 private:
  void run(const store::StateRow& row);
  void conclude_if_answered(const std::string& approval, const Ulid& flow);
  bool conclude(const std::string& approval, const std::string& status, const std::string& outcome);

  engine::Engine& engine_;
  store::Store& store_;
  std::function<void(const std::string&)> log_;
  uint64_t looked_ = 0;  // the position up to which it has looked
};

// Whether the kit has the concept by which people agree.
bool has_approvals(const lang::CheckedKit& kit);

// How an approval stands that a call has asked for: the call's answer, with the code waiting_for_approval.
struct AskedCall {
  std::string requester, environment;  // empty: it belongs to none
  int64_t needed = 1;
  int64_t seconds = 0;
};
Result<Answer> ask_for_approval(engine::Engine& engine, store::Store& store, const AskedCall& asked, const Call& call,
                                const json::object& seen);

}  // namespace sluice::host
