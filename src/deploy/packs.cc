// The built-in packs.
#include "deploy/packs.h"

#include <algorithm>
#include <array>

namespace sluice::deploy {
namespace {

constexpr std::array kBuiltIn = {
    BuiltInPack{"deployer", "sluice.deployer.local-process", "1"},
    BuiltInPack{"deployer", kContainerDeployer, "1"},
    BuiltInPack{"deployer", kK8sDeployer, "1"},
    BuiltInPack{"secrets", "sluice.secrets.store", "1"},
    BuiltInPack{"secrets", "sluice.secrets.env", "1"},
    BuiltInPack{"secrets", "sluice.secrets.dotenv", "1"},
    BuiltInPack{"secrets", "sluice.secrets.vault", "1"},
    BuiltInPack{"telemetry", "sluice.telemetry.stdout", "1"},
    BuiltInPack{"sessions", "sluice.sessions.memory", "1"},
    BuiltInPack{"sessions", kRedisSessions, "1"},
    BuiltInPack{"state", "sluice.state.memory", "1"},
};

constexpr std::array kDefaults = {
    DefaultPack{"deployer", "sluice.deployer.local-process@1.0.0"},
    DefaultPack{"secrets", "sluice.secrets.store@1.0.0"},
    DefaultPack{"telemetry", "sluice.telemetry.stdout@1.0.0"},
    DefaultPack{"sessions", "sluice.sessions.memory@1.0.0"},
    DefaultPack{"state", "sluice.state.memory@1.0.0"},
};

}  // namespace

std::span<const BuiltInPack> built_in_packs() { return kBuiltIn; }
std::span<const DefaultPack> default_packs() { return kDefaults; }

const BuiltInPack* find_built_in(std::string_view path) {
  const auto* found = std::ranges::find(kBuiltIn, path, &BuiltInPack::path);
  return found == kBuiltIn.end() ? nullptr : found;
}

std::vector<bundle::Question> questions_of(const BuiltInPack& pack) {
  if (pack.path == kK8sDeployer) {
    bundle::Question context{
        .name = {"kubeconfig_context"}, .question = "Which context of the kubeconfig?", .required = false};
    context.description = "Without it the current one, or the cluster that Sluice runs in.";
    bundle::Question name_space{.name = {"namespace"}, .question = "Which namespace?", .required = false};
    name_space.description = "Without it the one of the context.";
    name_space.constraint = bundle::Constraint{.pattern = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"};
    return {context, name_space};
  }
  if (pack.path != "sluice.deployer.local-process" && pack.path != kContainerDeployer) return {};
  bundle::Question range{.name = {"port_range"}, .question = "Which ports may programs listen on?", .required = false};
  range.description = "Two numbers, as 20000-20999; without it any free port.";
  range.constraint = bundle::Constraint{.pattern = "[0-9]{1,5}-[0-9]{1,5}"};
  return {range};
}

std::string runtime_type_of(const PackDescriptor& deployer) {
  if (deployer.path == "sluice.deployer.local-process" || deployer.path == kContainerDeployer) return "local";
  if (deployer.path == kK8sDeployer) return "k8s";
  return to_string(deployer);
}

std::string secrets_type_of(const PackDescriptor& pack) {
  const BuiltInPack* built_in = find_built_in(pack.path);
  if (built_in == nullptr) return pack.path + "@" + pack.version;
  return pack.path.substr(pack.path.rfind('.') + 1);
}

}  // namespace sluice::deploy
