// What the tests of Pin share: rows in any state, without the way that leads there.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "deploy/concepts/pin/pin_rows.h"
#include "lang/run/harness.h"
#include "pin.gen.h"

namespace sluice::deploy::pin {

// The tools that the effects need; pin_test.cc has it.
void prepare(lang::Harness& harness);

class PinFixture : public testing::Test {
 protected:
  PinFixture() { prepare(harness); }
  State state() { return State(harness.rows()); }
  // shop in an environment, ready with a release.
  PinId pinned(const std::string& environment, const std::string& release, bool ready = true) {
    const PinId id = pin_id("shop", environment);
    state().put(id, {.component = "shop",
                     .environment = environment,
                     .pipeline = "main",
                     .release = release,
                     .wanted = PinWanted::Active_,
                     .generation = 1,
                     .observed = 1,
                     .applied = release,
                     .ready = ready,
                     .reason = ready ? kReady : kFailed,
                     .message = ready ? "" : "it broke",
                     .deployment = "d1",
                     .revision = "r1"});
    return id;
  }
  // A change of one pin that waits to move.
  PinCId change(const PinMove& move, bool waits = true, PinStatus status = PinStatus::asked) {
    const PinCId id = state().add(PinCRecord{.kind = PinKind::set, .by = "user:ann", .waits = waits, .status = status});
    state().moves(id).assign({move});
    return id;
  }
  static PinMove to(const std::string& release, int64_t expected, const std::string& before = "") {
    return {.pin = pin_id("shop", "dev"),
            .component = "shop",
            .environment = "dev",
            .pipeline = "main",
            .release = release,
            .wanted = "Active",
            .expected = expected,
            .beforeRelease = before,
            .beforeWanted = "Active"};
  }
  static lang::Completion said(const std::string& variant) { return {variant, {{"message", "because"}}}; }

  lang::Harness harness{pin_binding()};
};

}  // namespace sluice::deploy::pin
