// What a router obeys, before it is signed: the sluice.router-table.v1 of an environment (docs/internals/router.md),
// from the state of all concepts at one moment. Its generation and keys are the caller's to fill in.
#pragma once

#include <string>

#include "deploy/views/states.h"
#include "router/table/table_document.h"

namespace sluice::deploy::views {

::sluice::router::TableDocument router_table(const States& states, const std::string& environment);

// The Redis in which an environment's routers keep session pins besides their memory.
struct PinsPlace {
  std::string url;      // empty: there is none
  std::string trouble;  // why there is none, though the pack of the sessions' slot wants one
};
PinsPlace pins_place(const States& states, const std::string& environment);

// Where the replicas of a revision are reached, as the table writes it: "tcp:127.0.0.1:9001", "unix:/…".
std::vector<std::string> replica_addresses(const States& states, const std::string& revision);

// "tcp:127.0.0.1:9001" of "http://127.0.0.1:9001/"; empty for what is no address of a replica.
std::string address_of_endpoint(const std::string& endpoint);

}  // namespace sluice::deploy::views
