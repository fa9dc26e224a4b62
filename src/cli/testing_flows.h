// Flows for tests of what the commands say of them: steps written by hand, and a home with a store that holds them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "engine/testing_journal.h"
#include "host/flows/testing_flow_views.h"

namespace sluice::cli {

using host::completion;
using host::fields;
using host::id;
using host::invoke;
using host::kNoon_ms;
using host::order_steps;
using host::request;
using host::short_id;

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
