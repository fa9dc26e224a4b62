// An image is known to the engine by its id, the digest of its config, whichever way it came.
#include "deploy/providers/runtime/local/local_images.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/ulid.h"
#include "bundle/manifest/image_lock.h"
#include "deploy/pull_progress.h"
#include "oci/layout.h"
#include "oci/reference.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr size_t kMostIdBytes = 64;
constexpr std::string_view kUnix = "unix://";
constexpr size_t kTagDigits = 32;

using Ready = std::variant<ReadyImage, ImageTrouble>;

ImageTrouble engine_trouble(const Error& error) {
  return {.kind = ImageTrouble::Kind::engine,
          .reason = error.message + (error.next.empty() ? "" : "; next: " + error.next)};
}

// What helps against a pull that failed.
std::string next_of(ImageTrouble::Kind kind, const std::string& host) {
  if (kind == ImageTrouble::Kind::not_found) return "push the image, or look its tag up again with --update-image";
  if (kind == ImageTrouble::Kind::denied) return "give the environment a login at " + host;
  return "see that the engine reaches " + host + " and has room on its disk";
}

std::string tag_of(const std::string& id) { return id.substr(id.find(':') + 1).substr(0, kTagDigits); }

}  // namespace

Result<std::string> LocalImages::socket(const std::string& named) const {
  auto path_of = [](const std::string& text) { return text.starts_with(kUnix) ? text.substr(kUnix.size()) : text; };
  if (!named.empty()) return path_of(named);
  if (auto host = place_.variables ? place_.variables("DOCKER_HOST") : std::nullopt; host && !host->empty()) {
    if (host->starts_with(kUnix) || host->starts_with('/')) return path_of(*host);
    return Error{.code = Code::unavailable,
                 .message = "DOCKER_HOST names " + *host + ", and Sluice asks engines of this machine only",
                 .next = "set DOCKER_HOST to unix:///run/podman/podman.sock or another socket"};
  }
  const std::string own = place_.variables ? place_.variables("XDG_RUNTIME_DIR").value_or("") : "";
  for (const std::string& each : {std::string("/run/podman/podman.sock"), std::string("/run/docker.sock"),
                                  std::string("/var/run/docker.sock"), own + "/podman/podman.sock"}) {
    auto there = disk_.exists(each);
    if (there && *there) return each;
  }
  return Error{.code = Code::unavailable,
               .message =
                   "there is no container engine on this machine: no socket at /run/podman/podman.sock or "
                   "/var/run/docker.sock",
               .next = "install podman and start it (systemctl start podman.socket), or name a socket in DOCKER_HOST"};
}

Result<std::string> LocalImages::home_id() {
  const std::string path = place_.folder + "/home-id";
  auto text = read_file(disk_, path, kMostIdBytes);
  if (text && !text->empty()) return text;
  if (!text && text.error().code != Code::not_found) return text;
  auto made = disk_.make_folder(place_.folder, 0755);
  if (!made && made.error().code != Code::conflict) return made.error();
  RealClock clock;
  std::string id = to_string(UlidSource(clock, random_).next());
  for (char& c : id) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  // Whoever was first has made it.
  const std::string mine = path + "." + id;
  if (auto written = write_atomically(disk_, mine, id, 0644); !written) return written.error();
  auto linked = disk_.link(mine, path);
  (void)disk_.remove(mine);
  if (!linked && linked.error().code != Code::conflict) return linked.error();
  return read_file(disk_, path, kMostIdBytes);
}

std::string LocalImages::uses_of(const std::string& id) const { return place_.folder + "/" + tag_of(id) + ".uses"; }

Ready LocalImages::ready(const Wanted& wanted, const std::function<bool()>& cancelled) {
  auto path = socket(wanted.engine);
  if (!path) return engine_trouble(path.error());
  const container::Engine engine(*path, clock_);
  auto found = bundle::is_layout(*wanted.manifest.image)
                   ? loaded(engine, wanted.root + "/" + wanted.manifest.image->substr(2))
                   : pulled(engine, wanted, cancelled);
  // An image whose use is not noted is brought once more when it is needed.
  if (const auto* image = std::get_if<ReadyImage>(&found); image != nullptr && !wanted.revision.empty()) {
    (void)disk_.make_folder(place_.folder, 0755);
    (void)disk_.make_folder(uses_of(image->id), 0755);
    (void)disk_.open(uses_of(image->id) + "/" + wanted.revision, {.write = true, .create = true});
  }
  return found;
}

Ready LocalImages::pulled(const container::Engine& engine, const Wanted& wanted,
                          const std::function<bool()>& cancelled) {
  const std::string& image = *wanted.manifest.image;
  using Kind = ImageTrouble::Kind;
  const std::string path = wanted.root + "/" + std::string(bundle::kImageLockName);
  auto text = read_file(disk_, path, bundle::kMaxImageLockBytes);
  if (!text) {
    return ImageTrouble{.kind = Kind::bundle,
                        .reason = "the bundle has no image.lock.json, which says what " + image +
                                  " means; a build of its folder writes it"};
  }
  auto lock = bundle::parse_image_lock(*text);
  if (!lock) return ImageTrouble{.kind = Kind::bundle, .reason = to_string(lock.error())};
  auto reference = oci::parse_reference(image);
  if (!reference) return ImageTrouble{.kind = Kind::bundle, .reason = to_string(reference.error())};
  if (lock->reference != image) {
    return ImageTrouble{.kind = Kind::bundle,
                        .reason = "image.lock.json is of " + lock->reference + ", not of " + image};
  }
  auto version = engine.version();
  if (!version) return engine_trouble(version.error());
  const std::string platform = version->os + "/" + version->architecture;
  auto digest = std::ranges::find_if(lock->platforms, [&](const auto& each) {
    return each.first == platform || each.first.starts_with(platform + "/");
  });
  if (digest == lock->platforms.end()) {
    std::string has;
    for (const auto& [name, value] : lock->platforms) has += (has.empty() ? "" : ", ") + name;
    return ImageTrouble{.kind = Kind::platform,
                        .reason = image + " is not made for " + platform + ", which this machine is, but for " + has};
  }
  const std::string name = reference->host + "/" + reference->repository + "@" + digest->second;
  auto found = engine.image(name);
  if (!found && found.error().code != Code::not_found) return engine_trouble(found.error());
  if (!found) {
    auto login = wanted.login ? Result(wanted.login) : oci::login_of_file(disk_, place_.variables, reference->host);
    if (!login) return ImageTrouble{.kind = Kind::denied, .reason = login.error().message};
    const std::string auth =
        *login ? container::registry_auth((*login)->user, (*login)->password, reference->host) : std::string();
    const std::string& revision = wanted.revision;
    auto told = [&](const container::PullProgress& now) {
      if (revision.empty()) return;
      tell_pull(disk_, place_.folder, revision,
                {.image = image, .done_bytes = now.done_bytes, .all_bytes = now.all_bytes});
    };
    (void)disk_.make_folder(place_.folder, 0755);
    told({});
    auto got = engine.pull(name, auth, told, cancelled);
    forget_pull(disk_, place_.folder, revision);
    if (!got) {
      const Code code = got.error().code;
      if (code == Code::unavailable) return engine_trouble(got.error());
      const Kind kind = code == Code::not_found ? Kind::not_found
                        : code == Code::denied  ? Kind::denied
                                                : Kind::pull_failed;
      return ImageTrouble{
          .kind = kind,
          .reason = "cannot pull " + name + ": " + got.error().message + "; next: " + next_of(kind, reference->host)};
    }
    found = engine.image(name);
    if (!found) return engine_trouble(found.error());
    auto home = home_id();
    if (!home) return ImageTrouble{.kind = Kind::pull_failed, .reason = home.error().message};
    // An image that is not marked is only never removed.
    (void)engine.tag(found->id, repository(*home), tag_of(found->id));
  }
  return ReadyImage{.engine = engine.socket(), .id = found->id, .user = found->user};
}

Ready LocalImages::loaded(const container::Engine& engine, const std::string& folder) {
  using Kind = ImageTrouble::Kind;
  auto version = engine.version();
  if (!version) return engine_trouble(version.error());
  auto image = oci::image_in(disk_, folder, {.os = version->os, .architecture = version->architecture});
  if (!image) {
    const Kind kind = image.error().code == Code::not_found ? Kind::platform : Kind::bundle;
    return ImageTrouble{.kind = kind, .reason = image.error().message};
  }
  const std::string& id = image->manifest.config.digest;
  auto found = engine.image(id);
  if (!found && found.error().code != Code::not_found) return engine_trouble(found.error());
  if (!found) {
    auto home = home_id();
    if (!home) return ImageTrouble{.kind = Kind::pull_failed, .reason = home.error().message};
    const std::string path = place_.folder + "/" + tag_of(id) + ".tar";
    auto file = disk_.open(path, {.write = true, .create = true, .truncate = true});
    if (!file) return ImageTrouble{.kind = Kind::pull_failed, .reason = file.error().message};
    auto written = oci::write_docker_archive(disk_, folder, *image, repository(*home) + ":" + tag_of(id), **file);
    if (!written) {
      (void)disk_.remove(path);
      const Kind kind = written.error().code == Code::verification_failed ? Kind::bundle : Kind::pull_failed;
      return ImageTrouble{.kind = kind, .reason = written.error().message};
    }
    auto taken = engine.load(**file);
    (void)disk_.remove(path);
    if (!taken && taken.error().code == Code::unavailable) return engine_trouble(taken.error());
    if (!taken) return ImageTrouble{.kind = Kind::pull_failed, .reason = taken.error().message};
    found = engine.image(id);
    if (!found) {
      return ImageTrouble{.kind = Kind::pull_failed,
                          .reason = "the engine took the image of " + folder + " and does not have it as " + id};
    }
  }
  return ReadyImage{.engine = engine.socket(), .id = found->id, .user = found->user};
}

Result<std::vector<std::string>> LocalImages::forget(const std::set<std::string>& revisions, const std::string& named) {
  std::vector<std::string> gone;
  auto there = disk_.exists(place_.folder + "/home-id");
  if (!there || !*there) return gone;  // this home has brought none
  auto home = home_id();
  if (!home) return home.error();
  auto path = socket(named);
  if (!path) return path.error();
  const container::Engine engine(*path, clock_);
  auto images = engine.images();
  if (!images) return images.error();
  auto containers = engine.list({});
  if (!containers) return containers.error();
  for (const container::Image& image : *images) {
    const std::string mark = repository(*home) + ":" + tag_of(image.id);
    if (std::ranges::find(image.tags, mark) == image.tags.end()) continue;
    auto users = disk_.list(uses_of(image.id));
    auto lives = [&](const FolderEntry& each) { return revisions.contains(each.name); };
    if (users && std::ranges::any_of(*users, lives)) continue;
    auto uses = [&](const container::Container& each) { return each.image == image.id; };
    if (std::ranges::any_of(*containers, uses)) continue;
    if (auto removed = engine.remove_image(mark); !removed) return removed.error();
    // Under a name that somebody else gave it, it stays.
    auto rest = engine.remove_image(image.id);
    if (!rest && rest.error().code != Code::conflict) return rest.error();
    if (users) {
      for (const FolderEntry& each : *users) (void)disk_.remove(uses_of(image.id) + "/" + each.name);
      (void)disk_.remove_folder(uses_of(image.id));
    }
    gone.push_back(image.id);
  }
  return gone;
}

}  // namespace sluice::deploy::local_runtime
