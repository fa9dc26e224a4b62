// One repository is read a commit at a time; a commit that is known is read from the copy.
#include "deploy/promotion/release_means.h"

#include <mutex>
#include <optional>

#include "base/atomic_file.h"
#include "deploy/image_pin.h"
#include "git/repositories.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMostCertificates = size_t{4} << 20;

git::Repositories::Settings settings_of(Disk& disk, const Variables& variables, const std::string& home) {
  git::Repositories::Settings settings{.folder = home + "/git"};
  settings.network.proxy =
      http::proxy_of([&](const std::string& name) { return variables(name).value_or(""); }, "https://git");
  if (const auto file = variables("GIT_SSL_CAINFO")) {
    if (auto roots = read_file(disk, *file, kMostCertificates)) settings.network.tls.roots_pem = *roots;
  }
  return settings;
}

std::vector<git::Credential> credentials_of(const Variables& variables) {
  const auto host = variables("GIT_TOKEN_HOST"), token = variables("GIT_TOKEN");
  if (!host || !token) return {};
  return {{.host = *host, .username = "", .token = *token}};
}

}  // namespace

struct ReleaseMeans::Git {
  // Most commands never ask for it.
  git::Repositories& repositories() {
    std::call_once(made_once, [this] { made.emplace(settings_of(disk, variables, home), disk, clock); });
    return *made;
  }

  Result<GitFolder> read_folder(const std::string& url, const std::string& ref, const std::string& path) {
    auto commit = repositories().read(
        {.url = url, .ref = ref, .path = path, .credentials = credentials_of(variables), .cancelled = {}});
    if (!commit) return commit.error();
    GitFolder folder{.commit = commit->id, .files = {}};
    for (git::File& each : commit->files) folder.files.emplace_back(std::move(each.path), std::move(each.text));
    return folder;
  }

  Result<std::string> read(const promote::GitRef& ref) {
    const size_t slash = ref.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : ref.path.substr(0, slash);
    const std::string name = slash == std::string::npos ? ref.path : ref.path.substr(slash + 1);
    auto commit = repositories().read({.url = ref.repository,
                                       .ref = ref.revision,
                                       .path = folder,
                                       .endings = {name},
                                       .credentials = credentials_of(variables),
                                       .cancelled = {}});
    if (!commit) return commit.error();
    for (const git::File& each : commit->files) {
      if (each.path == name) return each.text;
    }
    return Error{.code = Code::not_found, .message = "commit " + commit->id + " has no file " + ref.path};
  }

  Disk& disk;
  const Clock& clock;
  const Variables variables;
  const std::string home;
  std::once_flag made_once{};
  std::optional<git::Repositories> made{};
};

ReleaseMeans::ReleaseMeans(Disk& disk, const Clock& clock, const Variables& variables, const std::string& home)
    : git_(new Git{.disk = disk, .clock = clock, .variables = variables, .home = home}) {
  sources_.read_git = [this](const promote::GitRef& ref) { return git_->read(ref); };
  sources_.read_folder = [this](const std::string& url, const std::string& ref, const std::string& path) {
    return git_->read_folder(url, ref, path);
  };
  sources_.pin_image = [&disk, &clock, variables](const std::string& image,
                                                  const std::optional<oci::Login>& login) -> Result<std::string> {
    if (image.find("sha256:") != std::string::npos) return image;
    auto lock = pin_image(disk, clock, variables, image, login);
    if (!lock) return lock.error();
    return image + "@" + lock->digest;
  };
}

ReleaseMeans::~ReleaseMeans() = default;

}  // namespace sluice::deploy
