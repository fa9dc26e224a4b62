// The steps of a flow, written by hand, for tests of what is said of flows.
#pragma once

#include <string>
#include <vector>

#include "base/ulid.h"
#include "engine/journal/step.h"

namespace sluice::host {

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

}  // namespace sluice::host
