// Moving objects: applied, waited for, removed. Each function does again harmlessly what it has done before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "deploy/executor/inventory_lock.h"
#include "deploy/executor/refusal.h"
#include "deploy/executor/request.h"
#include "kube/client.h"
#include "render/taint.h"

namespace sluice::deploy::executor {

// What a step works with. `stop` says why to stop between two objects; empty: go on.
struct Stage {
  kube::Client& client;
  Clock& clock;
  const Request& request;
  const rendering::Taint& taint;
  std::function<std::string()> stop;
  std::function<bool()> leaving = [] { return false; };  // whether this program ends: what waits stops as `leaving`
};

// Applies the objects, several at once, and notes in each piece what became of it: ready, applied or failed. An object
// is found by the piece's reference.
std::optional<Refusal> applied(const Stage& stage, const std::vector<boost::json::value>& objects,
                               std::vector<Piece>& pieces);

// Waits until all that are only applied are ready, at most so long. Who is not, and why, is in the pieces.
std::optional<Refusal> awaited(const Stage& stage, std::vector<Piece>& pieces, int64_t timeout_ms);

// Removes them, each by its uid, and waits until they are gone, at most so long; 0: not at all.
std::optional<Refusal> removed(const Stage& stage, std::vector<Piece>& pieces, int64_t timeout_ms);

// What of an instance is there, and ready; `gone` is the state of what is not there.
std::optional<Refusal> looked_at(const Stage& stage, std::vector<Piece>& pieces);

}  // namespace sluice::deploy::executor
