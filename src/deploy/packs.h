// Packs serve the slots of an environment. A slot is one of a closed list; a pack is named by an open descriptor, such
// as sluice.deployer.local-process@1.0.0, so that a new one needs no change here. What this program brings itself is in
// the list of built-in packs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::deploy {

// In the order in which people read them.
std::span<const std::string_view> slots();
bool is_slot(std::string_view name);

struct PackDescriptor {
  std::string path;     // "sluice.deployer.local-process"
  std::string version;  // "1.0.0"

  bool operator==(const PackDescriptor&) const = default;
};

// PATH@VERSION: the path has a dot at least, of a-z, 0-9, `.` and `-`; the version is a semantic one.
Result<PackDescriptor> parse_descriptor(std::string_view text);

// Has the routers keep session pins in the Redis of the host's redis_url, too.
inline constexpr std::string_view kRedisSessions = "sluice.sessions.redis";

struct BuiltInPack {
  std::string_view slot;
  std::string_view path;
  std::string_view major;  // of the versions that it can stand for
};

std::span<const BuiltInPack> built_in_packs();
// The built-in pack of this path; null if there is none.
const BuiltInPack* find_built_in(std::string_view path);

// What the environment `local` is made with, one for each of five slots.
struct DefaultPack {
  std::string_view slot;
  std::string_view kind;
};
std::span<const DefaultPack> default_packs();

// The type of runtime that a deployer pack starts things with: "local" of sluice.deployer.local-process@1.0.0, else the
// last word of its path.
std::string runtime_type_of(const PackDescriptor& deployer);

}  // namespace sluice::deploy
