// Flows for tests of what the commands say of them: steps written by hand, and a home with a store that holds them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/testing_folder.h"
#include "cli/flow_view.h"
#include "cli/testing_commands.h"
#include "engine/testing_journal.h"

namespace sluice::cli {

constexpr int64_t kNoon_ms = 1'900'000'000'000;  // 2030-03-17T17:46:40Z

// Ids differ at both ends.
Ulid id(uint8_t n);

json::object fields(const std::string& text);
engine::RecordId completion(uint8_t n);
engine::RecordId request(uint8_t n);
engine::Planned invoke(uint8_t n, const std::string& action, const std::string& arguments = "{}");

// Order/place leads to Till/pay, which is answered by way of Card/charge: declined, and nobody minds that. A receipt
// follows up in flow 9, and AuditOrder finds nothing to do.
std::vector<engine::Step> order_steps();

// The flow as it stands after the first `count` of its steps.
FlowView order_view(size_t count = 6);

// A home for one test. The store is open only while it is written, so that commands can open it.
class TestingHome {
 public:
  TestingHome();

  void write(const std::function<void(store::Store& store)>& write);
  // The order's flow, a follow-up that has not begun, a flow of another and a denied call.
  void write_orders();

  void pack_all();

  Ran run(const std::vector<std::string>& words, const Terminal& terminal = {}) const;

  std::string path(const std::string& name) const;

 private:
  TestingFolder folder_;
};

}  // namespace sluice::cli
