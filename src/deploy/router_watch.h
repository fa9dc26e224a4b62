// RouterWatch sees which routers run in this home: one that is new or was started again is registered, one that obeys
// something else than it was sent last is reported, one that was stopped in order is retired. So a router that was away
// gets the newest table within a second of its return. Every so many looks it has the routers' counts collected.
//
// The router `main` is of the environment local, another one of the environment that it is named after, unless it obeys
// a table already: then of the table's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "deploy/router_fleet.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

// Which environment a router is of that obeys this one's table; empty: none yet.
std::string environment_of_router(const std::string& name, const std::string& obeyed);

class RouterWatch final : public lang::Observer {
 public:
  // Must outlive it.
  explicit RouterWatch(RouterFleet& fleet) : fleet_(fleet) {}

  std::string_view concept_name() const override { return "Router"; }
  void look(const Tell& tell) override;

 private:
  struct Told {
    std::string environment;
    std::string name;
    int64_t pid = 0;
    int64_t generation = 0;  // that the engine was told of, if no publish has told it since
  };

  RouterFleet& fleet_;
  int looks_ = 0;                     // since the routers' counts were last asked for
  std::map<std::string, Told> told_;  // by router
};

}  // namespace sluice::deploy
