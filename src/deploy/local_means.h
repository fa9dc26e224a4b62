// What this machine gives to those who run processes on it: a home that can be written, free ports, user namespaces. A
// seam, so that tests can take any of it away.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/disk.h"
#include "deploy/views/port_range.h"

namespace sluice::deploy {

struct LocalMeans {
  Disk* disk = nullptr;
  std::string home;
  std::function<bool()> has_user_namespaces = {};
  // The ports that programs of an environment may listen on, if it says so.
  std::function<std::optional<views::PortRange>(const lang::Snapshot&, const std::string& environment)> port_range = {};
};

}  // namespace sluice::deploy
