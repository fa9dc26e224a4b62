// What Runtime knows of instances, for a provider that compares it with what it runs. A provider may not read Runtime's
// state itself.
#pragma once

#include <boost/describe/class.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct KnownReplica {
  std::string name;
  std::string endpoint;

  bool operator==(const KnownReplica&) const = default;
};
BOOST_DESCRIBE_STRUCT(KnownReplica, (), (name, endpoint))

// Nothing if there is no such instance.
std::optional<std::vector<KnownReplica>> known_replicas(const lang::Snapshot& snapshot, const std::string& instance);

// The names under which instances of this type have stored something.
std::set<std::string> known_storages(const lang::Snapshot& snapshot, const std::string& runtime_type);

}  // namespace sluice::deploy::views
