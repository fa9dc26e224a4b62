// An Observer sees what nobody calls the engine for: that something in the world is not as the state says it should be.
// It decides nothing: it calls an action, and what that does is the kit's business. It is a part of the kit, so it may
// also call what only syncs call.
//
// Whoever runs an engine has its observers look, once when it starts and then again and again.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "lang/run/handler.h"

namespace sluice::lang {

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  using Tell = std::function<void(const std::string& action, const json::object& input)>;

  // The concept that it calls; it does not look where a kit has no such concept.
  virtual std::string_view concept_name() const = 0;
  // Looks, and tells what is not as it should be. Called by one thread at a time.
  virtual void look(const Tell& tell) = 0;
  // The same for what only the state can show: called after a look if something was committed since the last time.
  virtual void compare(const Snapshot&, const Tell&) {}
};

}  // namespace sluice::lang
