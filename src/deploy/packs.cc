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

bundle::Question optional_question(std::string name, std::string question, std::string description) {
  bundle::Question asked{.name = {std::move(name)}, .question = std::move(question), .required = false};
  asked.description = std::move(description);
  return asked;
}

// A file on the machine where Sluice runs.
bundle::Question file_there(std::string name, std::string question, std::string description) {
  bundle::Question asked = optional_question(std::move(name), std::move(question), std::move(description));
  asked.constraint = bundle::Constraint{.pattern = "/.+"};
  return asked;
}

std::vector<bundle::Question> questions_of_vault() {
  bundle::Question address{.name = {"address"}, .question = "Where is the Vault?"};
  address.description = "Its URL, as https://vault.example:8200.";
  address.constraint = bundle::Constraint{.pattern = "https?://.+"};
  bundle::Question auth{.name = {"auth"}, .question = "How does Sluice log in?"};
  auth.default_ = json::value("token");
  auth.choices = {"token", "approle", "kubernetes"};
  const auto only_for = [](const char* way, bundle::Question asked) {
    asked.required = true;
    asked.visible_if = bundle::VisibleIf{.question = {"auth"}, .is = json::value(way), .is_not = std::nullopt};
    return asked;
  };
  return {
      address,
      auth,
      only_for("token", file_there("token_file", "Which file has the token?", "Its absolute path.")),
      only_for("approle", optional_question("role_id", "Which role?", "The id of the AppRole.")),
      only_for("approle", file_there("secret_id_file", "Which file has the role's secret id?", "Its absolute path.")),
      only_for("kubernetes", optional_question("role", "Which role?", "The role of the login by Kubernetes.")),
      only_for("kubernetes",
               file_there("jwt_file", "Which file has the service account's token?", "Its absolute path.")),
      optional_question("auth_mount", "Where is the login mounted?", "Without it under its own name."),
      optional_question("mount", "Where is the key-value store mounted?", "Without it at secret."),
      optional_question("path", "Below which path are the secrets?", "Without it below the environment's name."),
      optional_question("namespace", "In which namespace?", "Of Vault Enterprise."),
      file_there("ca_file", "Which file has the authority of its certificate?", "Without it those of the system."),
  };
}

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
  if (pack.path == "sluice.secrets.vault") return questions_of_vault();
  if (pack.path == "sluice.secrets.dotenv") {
    bundle::Question file = file_there("file", "Which file has the variables?", "Its absolute path.");
    file.required = true;
    return {file};
  }
  if (pack.path == "sluice.secrets.env") {
    return {
        optional_question("prefix", "With what do the variables begin?", "Without it with the name of the bundle.")};
  }
  if (pack.path == "sluice.secrets.store") {
    return {file_there("key_file", "Which file has the master key?", "Without it one in the home."),
            optional_question("key_command", "Which command prints the master key?", "In place of a file.")};
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
