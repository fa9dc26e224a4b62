// The list, by kind of file.
#include "bundle/secrets/deny_list.h"

#include <algorithm>
#include <array>

#include "base/disk.h"
#include "bundle/manifest/glob.h"

namespace sluice::bundle {

namespace {

enum class Of { file, folder, any };

struct Line {
  std::string_view glob;  // of the last component, in small letters
  Of of;
  Denied denied;
};

constexpr Denied kEnvFile{"an environment file", true};
constexpr Denied kKeyName{"a private key", true};
constexpr Denied kSecretStore{"a store of secrets", true};
constexpr Denied kCredentials{"a file with credentials", true};
constexpr Denied kVcs{"of version control", false};
constexpr Denied kOurs{"of no use in a bundle", false};
constexpr Denied kEditor{"an editor's or the system's", false};

constexpr std::array kLines = {
    Line{".env*", Of::any, kEnvFile},
    Line{"*.env", Of::file, kEnvFile},
    Line{".dev.secrets.env", Of::any, kSecretStore},
    Line{"id_rsa", Of::file, kKeyName},
    Line{"id_dsa", Of::file, kKeyName},
    Line{"id_ecdsa", Of::file, kKeyName},
    Line{"id_ecdsa_sk", Of::file, kKeyName},
    Line{"id_ed25519", Of::file, kKeyName},
    Line{"id_ed25519_sk", Of::file, kKeyName},
    Line{"*.key", Of::file, kKeyName},
    Line{"*-key.pem", Of::file, kKeyName},
    Line{"*_key.pem", Of::file, kKeyName},
    Line{"privkey*.pem", Of::file, kKeyName},
    Line{"*.p8", Of::file, kKeyName},
    Line{"*.pk8", Of::file, kKeyName},
    Line{"*.p12", Of::file, kKeyName},
    Line{"*.pfx", Of::file, kKeyName},
    Line{"*.jks", Of::file, kKeyName},
    Line{"*.keystore", Of::file, kKeyName},
    Line{"*.ppk", Of::file, kKeyName},
    Line{"*.kdbx", Of::file, kSecretStore},
    Line{".sluice", Of::folder, kSecretStore},
    Line{".ssh", Of::folder, kSecretStore},
    Line{".gnupg", Of::folder, kSecretStore},
    Line{".aws", Of::folder, kSecretStore},
    Line{".azure", Of::folder, kSecretStore},
    Line{".gcloud", Of::folder, kSecretStore},
    Line{".kube", Of::folder, kSecretStore},
    Line{".password-store", Of::folder, kSecretStore},
    Line{".secrets", Of::any, kSecretStore},
    Line{"secrets.json", Of::file, kSecretStore},
    Line{"secrets.y*ml", Of::file, kSecretStore},
    Line{".vault-token", Of::file, kCredentials},
    Line{".netrc", Of::file, kCredentials},
    Line{"_netrc", Of::file, kCredentials},
    Line{".pgpass", Of::file, kCredentials},
    Line{".my.cnf", Of::file, kCredentials},
    Line{".htpasswd", Of::file, kCredentials},
    Line{".npmrc", Of::file, kCredentials},
    Line{".yarnrc.yml", Of::file, kCredentials},
    Line{".pypirc", Of::file, kCredentials},
    Line{".git-credentials", Of::file, kCredentials},
    Line{".dockercfg", Of::file, kCredentials},
    Line{".docker", Of::folder, kCredentials},
    Line{"kubeconfig", Of::file, kCredentials},
    Line{"kubeconfig.y*ml", Of::file, kCredentials},
    Line{"*.kubeconfig", Of::file, kCredentials},
    Line{"credentials.json", Of::file, kCredentials},
    Line{"*.tfvars", Of::file, kCredentials},
    Line{"*.tfvars.json", Of::file, kCredentials},
    Line{"*.tfstate", Of::file, kCredentials},
    Line{"*.tfstate.backup", Of::file, kCredentials},
    Line{".git", Of::any, kVcs},
    Line{".gitignore", Of::file, kVcs},
    Line{".gitattributes", Of::file, kVcs},
    Line{".gitmodules", Of::file, kVcs},
    Line{".hg", Of::folder, kVcs},
    Line{".hgignore", Of::file, kVcs},
    Line{".svn", Of::folder, kVcs},
    Line{".bzr", Of::folder, kVcs},
    Line{".jj", Of::folder, kVcs},
    Line{"cvs", Of::folder, kVcs},
    Line{".idea", Of::folder, kEditor},
    Line{".vscode", Of::folder, kEditor},
    Line{".vs", Of::folder, kEditor},
    Line{"*.swp", Of::file, kEditor},
    Line{"*.swo", Of::file, kEditor},
    Line{"*~", Of::file, kEditor},
    Line{".#*", Of::any, kEditor},
    Line{"#*#", Of::file, kEditor},
    Line{".ds_store", Of::file, kEditor},
    Line{"thumbs.db", Of::file, kEditor},
    Line{"desktop.ini", Of::file, kEditor},
    Line{".sluiceignore", Of::file, kOurs},
    Line{".*.unfinished", Of::any, kOurs},
};

// What is put behind the name of a copy, compressed or not: a secret's copy is a secret.
constexpr std::array<std::string_view, 16> kCopies = {
    ".example", ".sample", ".template", ".dist", ".defaults", ".bak", ".old", ".orig",
    ".save",    ".backup", ".gz",       ".zst",  ".xz",       ".bz2", ".lz4", ".lzma"};

std::optional<Denied> denied_by_name(std::string_view name, bool is_folder) {
  for (const Line& line : kLines) {
    if (line.of == Of::file && is_folder) continue;
    if (line.of == Of::folder && !is_folder) continue;
    if (glob_matches(line.glob, name)) return line.denied;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Denied> denied(std::string_view path, bool is_folder) {
  std::string name = name_of(path);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (is_folder) return denied_by_name(name, true);
  if (auto found = denied_by_name(name, false)) return found;
  for (;;) {
    auto end = std::ranges::find_if(kCopies, [&](std::string_view each) { return name.ends_with(each); });
    if (end == kCopies.end()) return std::nullopt;
    name.resize(name.size() - end->size());
    auto found = denied_by_name(name, false);
    if (found && found->secret) return found;
  }
}

}  // namespace sluice::bundle
