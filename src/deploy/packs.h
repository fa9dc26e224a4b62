// Packs serve the slots of an environment; how they are named is in pack/descriptor.h. What this program brings itself
// is in the list of built-in packs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bundle/manifest/question.h"
#include "pack/descriptor.h"

namespace sluice::deploy {

using pack::is_slot;
using pack::PackDescriptor;
using pack::parse_descriptor;
using pack::slots;

// Has the routers keep session pins in the Redis of the host's redis_url, too.
inline constexpr std::string_view kRedisSessions = "sluice.sessions.redis";

// Runs bundles as containers of this machine, those with an image and no others.
inline constexpr std::string_view kContainerDeployer = "sluice.deployer.container";

// Runs bundles with an image as pods of a Kubernetes cluster.
inline constexpr std::string_view kK8sDeployer = "sluice.deployer.k8s";

struct BuiltInPack {
  std::string_view slot;
  std::string_view path;
  std::string_view major;  // of the versions that it can stand for
};

std::span<const BuiltInPack> built_in_packs();
// The built-in pack of this path; null if there is none.
const BuiltInPack* find_built_in(std::string_view path);

// What a built-in pack asks for when it is bound.
std::vector<bundle::Question> questions_of(const BuiltInPack& pack);

// What the environment `local` is made with, one for each of five slots.
struct DefaultPack {
  std::string_view slot;
  std::string_view kind;
};
std::span<const DefaultPack> default_packs();

// The type of runtime that a deployer pack starts things with: "local" of sluice.deployer.local-process@1.0.0 and of
// sluice.deployer.container@1.0.0. A pack from outside is a type of its own, called by its whole descriptor.
std::string runtime_type_of(const PackDescriptor& deployer);

// The provider of Secret that a secrets pack stands for: "store" of sluice.secrets.store@1.0.0; of one from elsewhere
// its whole descriptor, so that versions stand side by side.
std::string secrets_type_of(const PackDescriptor& pack);

}  // namespace sluice::deploy
