// Select, copy, run, select again, pack: each step looks only at what the one before has left.
#include "deploy/build_bundle.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/replaceable.h"
#include "bundle/archive/clean_copy.h"
#include "bundle/archive/inspect.h"
#include "bundle/archive/squash_writer.h"
#include "bundle/archive/unfinished.h"
#include "bundle/manifest/glob.h"
#include "bundle/manifest/ignore.h"
#include "bundle/manifest/paused_page.h"
#include "bundle/trust/sidecar.h"
#include "crypto/hex.h"
#include "process/build_place.h"
#include "process/find_program.h"

namespace sluice::deploy {
namespace {

Error stopped_by_person() { return {.message = "stopped; nothing was written"}; }

// Where `path` lies below `folder`, with all symlinks followed; nothing if it lies elsewhere.
std::optional<std::string> path_below(const std::string& folder, const std::string& path) {
  std::error_code failed;
  auto root = std::filesystem::weakly_canonical(folder, failed);
  auto holder = std::filesystem::weakly_canonical(folder_of(path), failed);
  auto relative = (holder / name_of(path)).lexically_relative(root);
  if (failed || relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.string();
}

// A folder that is removed with all that is in it.
class WorkFolder {
 public:
  WorkFolder(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  // What cannot be removed is hidden, and never packed.
  ~WorkFolder() { (void)bundle::remove_tree(disk_, path_); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  Disk& disk_;
  std::string path_;
};

// Shows the secrets doctor what is packed, and people how far it is.
class BuildWatcher final : public bundle::PackWatcher {
 public:
  BuildWatcher(const bundle::Manifest& manifest, size_t files, const BundleHooks& hooks)
      : scan_({.allowed = allowed_by(manifest)}), files_(files), hooks_(hooks) {}

  Result<void> entry(const std::string& path, const std::string& target) override { return scan_.entry(path, target); }
  Result<void> begin_file(const std::string& path) override {
    ++begun_;
    return scan_.begin_file(path);
  }
  Result<void> content(std::string_view piece) override {
    if (hooks_.stopped && hooks_.stopped()) return stopped_by_person();
    if (hooks_.progress) hooks_.progress("packing", begun_, files_);
    return scan_.content(piece);
  }
  Result<void> end_file() override { return scan_.end_file(); }
  Result<void> finish() override {
    if (auto refused = bundle::refusal(scan_.report())) return *refused;
    return {};
  }

  const bundle::SecretReport& report() const { return scan_.report(); }

 private:
  static std::set<std::string> allowed_by(const bundle::Manifest& manifest) {
    std::set<std::string> hashes;
    for (const bundle::FindingHash& each : manifest.allowed_secrets) hashes.insert(each.text);
    return hashes;
  }

  bundle::SecretScan scan_;
  size_t files_;
  uint64_t begun_ = 0;
  const BundleHooks& hooks_;
};

class BundleBuild {
 public:
  BundleBuild(Disk& disk, process::Runner& runner, const Clock& clock, const BundleOrder& order,
              const BundleHooks& hooks)
      : disk_(disk), runner_(runner), clock_(clock), order_(order), hooks_(hooks) {}

  Result<BuiltBundle> run() {
    built_.statement.started_ms = clock_.wall_ms();
    auto manifest = bundle::manifest_of_folder(disk_, order_.folder);
    if (!manifest) return manifest.error();
    built_.manifest = *std::move(manifest);
    built_.out =
        order_.out.empty() ? built_.manifest.name.text + "-" + built_.manifest.version.text + ".bundle" : order_.out;
    if (auto there = disk_.stat(built_.out, FollowLinks::yes); there && there->kind == FileKind::folder) {
      return Error{.code = Code::conflict,
                   .message = built_.out + " is a folder",
                   .next = "name a file, such as " + built_.out + (built_.out.ends_with('/') ? "" : "/") +
                           built_.manifest.name.text + ".bundle"};
    }
    if (auto may = can_write(built_.out); !may) return may.error();
    if (auto pinned = pin_image(); !pinned) return pinned.error();
    if (built_.manifest.build.empty()) return pack(order_.folder, order_.folder);
    auto selection = select_from(order_.folder, {"**"});
    if (!selection) return selection.error();
    auto work = bundle::make_folder_beside(disk_, built_.out);
    if (!work) return work.error();
    WorkFolder folder(disk_, *work);
    if (auto made = build_in(*work, std::move(selection->chosen)); !made) return made.error();
    if (auto kept = keep_manifest(*work + "/src"); !kept) return kept.error();
    return pack(*work + "/src", order_.folder + " after its build");
  }

 private:
  // Asked before anything is built.
  Result<void> can_write(const std::string& out) {
    for (const std::string& each : {out, bundle::sidecar_path(out)}) {
      if (auto may = check_replaceable(disk_, each); !may) return may;
    }
    const std::string holder = folder_of(out);
    auto there = disk_.exists(holder);
    if (!there || *there) return {};
    return Error{.code = Code::not_found,
                 .message = "cannot write " + out + ": there is no folder " + holder,
                 .next = "mkdir -p " + holder + ", then run this again"};
  }

  // A lock of another image than bundle.yaml names is none.
  Result<void> pin_image() {
    if (!built_.manifest.image || bundle::is_layout(*built_.manifest.image)) return {};
    const std::string path = order_.folder + "/" + std::string(bundle::kImageLockName);
    auto text = sluice::read_file(disk_, path, bundle::kMaxImageLockBytes);
    if (!text && text.error().code != Code::not_found) return text.error();
    if (text && !order_.update_image) {
      auto lock = bundle::parse_image_lock(*text, path);
      if (!lock) return lock.error();
      if (lock->reference == *built_.manifest.image) return {};
    }
    if (!order_.pin) {
      return Error{.code = Code::not_found,
                   .message = path + " does not say what the image " + *built_.manifest.image + " is",
                   .next = "build the bundle where its registry can be asked"};
    }
    if (hooks_.progress) hooks_.progress("asking for the image", 0, std::nullopt);
    auto pinned = order_.pin(*built_.manifest.image);
    if (!pinned) return pinned.error();
    return write_atomically(disk_, path, bundle::print_image_lock(*pinned), 0644);
  }

  // The command, in a clean copy at src/ of the work folder.
  Result<void> build_in(const std::string& work, std::vector<std::string> paths) {
    const std::string copy = work + "/src";
    for (const char* part : {"/src", "/home", "/tmp"}) {
      if (auto made = disk_.make_folder(work + part, 0700); !made) return made;
    }
    if (hooks_.progress) hooks_.progress("copying", 0, std::nullopt);
    auto source = bundle::tree_of_folder(disk_, order_.folder, paths);
    if (!source) return source.error();
    built_.statement.dependencies.push_back({.name = "source", .digest = {{"sha256", source->digest()}}});
    auto ignore = disk_.exists(order_.folder + "/" + std::string(bundle::kIgnoreName));
    if (!ignore) return ignore.error();
    if (*ignore) paths.emplace_back(bundle::kIgnoreName);
    if (auto copied = bundle::copy_chosen(disk_, order_.folder, paths, copy); !copied) return copied;
    return run_command(work, copy);
  }

  // What is packed, signed and named is what was read before the command ran.
  Result<void> keep_manifest(const std::string& copy) {
    const std::string name(bundle::kManifestName);
    auto before = sluice::read_file(disk_, order_.folder + "/" + name, bundle::kMaxManifestBytes);
    if (!before) return before.error();
    auto after = sluice::read_file(disk_, copy + "/" + name, bundle::kMaxManifestBytes);
    if (after && *after == *before) return {};
    return Error{.code = Code::failed,
                 .message = built_.manifest.name.text + " was not built: its `build` has " +
                            (after ? "changed " : "removed ") + name,
                 .next = "let the command write other files only"};
  }

  Error in_manifest(const Error& error) {
    const std::string path = order_.folder + "/" + std::string(bundle::kManifestName);
    auto text = sluice::read_file(disk_, path, bundle::kMaxManifestBytes);
    return text ? bundle::placed_in_manifest(error, *text, path) : error;
  }

  Result<void> run_command(const std::string& work, const std::string& copy) {
    const std::vector<std::string>& argv = built_.manifest.build;
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(work, ignored).lexically_normal().string();
    process::RunRequest request{.argv = argv,
                                .folder = absolute + "/src",
                                .environment = order_.environment,
                                .deadline_ms = order_.build_deadline_ms};
    request.environment["HOME"] = absolute + "/home";
    request.environment["TMPDIR"] = absolute + "/tmp";
    const std::string failed = built_.manifest.name.text + " was not built: ";
    if (auto program = process::find_program(argv.front(), copy, request.environment); !program) {
      return Error{.code = Code::failed, .message = failed + program.error().message};
    }
    if (process::has_build_place(runner_, absolute)) {
      request = process::in_build_place(std::move(request), absolute);
    } else {
      built_.warnings.push_back("this system does not let a build have a place of its own: the path " + absolute +
                                "/src may be in what it made");
    }
    auto ran = runner_.run(request, [&] {
      if (hooks_.progress) hooks_.progress("building", 0, std::nullopt);
      return hooks_.stopped && hooks_.stopped();
    });
    if (!ran) return Error{.code = Code::failed, .message = failed + ran.error().message};
    if (ran->end == process::Ran::End::cancelled) return stopped_by_person();
    if (!ran->good()) {
      for (const std::string& line : process::last_lines(*ran)) {
        if (hooks_.said) hooks_.said(line);
      }
      return Error{.code = Code::failed,
                   .message = failed + printable(argv.front()) + " " + to_string(*ran),
                   .next = "the command is `build` in " + order_.folder + "/" + std::string(bundle::kManifestName)};
    }
    if (argv.front().find('/') == std::string::npos && order_.version_of) {
      if (auto version = order_.version_of(argv.front())) {
        built_.statement.dependencies.push_back(
            {.name = argv.front(), .uri = "pkg:generic/" + argv.front() + "@" + *version});
      }
    }
    return {};
  }

  // What is there but for the archive that is to be replaced, and its sidecar.
  Result<bundle::Selection> select_from(const std::string& folder, const std::vector<std::string>& include) {
    auto selection = bundle::select(disk_, folder, include);
    if (!selection) return selection;
    for (const std::string& ours : {built_.out, bundle::sidecar_path(built_.out)}) {
      auto below = path_below(folder, ours);
      if (below && std::erase(selection->chosen, *below) > 0) {
        selection->skipped.push_back({.path = *below, .reason = "the bundle itself"});
      }
    }
    for (const bundle::Skipped& each : selection->skipped) {
      auto known = [&](const bundle::Skipped& other) { return other.path == each.path; };
      if (std::ranges::none_of(built_.skipped, known)) built_.skipped.push_back(each);
    }
    std::ranges::sort(built_.skipped, {}, &bundle::Skipped::path);
    return selection;
  }

  // Refusals call the folder so: the copy that a build has worked on is gone when they are read.
  Result<BuiltBundle> pack(const std::string& folder, const std::string& called) {
    std::vector<std::string> include;
    for (const bundle::InnerPath& each : built_.manifest.include) include.push_back(each.text);
    auto selection = select_from(folder, include);
    if (!selection) return selection.error();
    warn_of_the_manifest(include, selection->chosen);
    if (auto page = bundle::page_of_folder(disk_, built_.manifest, folder, selection->chosen); !page) {
      return in_manifest(page.error());
    }
    BuildWatcher watcher(built_.manifest, selection->chosen.size(), hooks_);
    auto packed =
        bundle::pack(disk_, folder, std::move(selection->chosen), built_.out, {.watcher = &watcher, .called = called});
    if (!packed) {
      Error error = packed.error();
      if (error.code == Code::invalid && error.next.empty()) error.next = "change it, or name it in .sluiceignore";
      return error;
    }
    built_.packed = *std::move(packed);
    built_.secrets = watcher.report();
    state();
    return std::move(built_);
  }

  void warn_of_the_manifest(const std::vector<std::string>& include, const std::vector<std::string>& chosen) {
    for (const std::string& glob : include) {
      auto covered = [&](const std::string& path) { return bundle::glob_covers(glob, path); };
      if (glob == "**" || std::ranges::any_of(chosen, covered)) continue;
      auto left_out = [&](const bundle::Skipped& each) {
        return covered(each.path.ends_with('/') ? each.path.substr(0, each.path.size() - 1) : each.path);
      };
      const bool is_there = std::ranges::any_of(built_.skipped, left_out);
      built_.warnings.push_back("include: " + printable(glob) +
                                (is_there ? " names only what is skipped" : " names nothing that is there"));
    }
    if (built_.manifest.image && !built_.manifest.secrets.empty() &&
        bundle::secrets_as_of(built_.manifest) == bundle::SecretsAs::env) {
      built_.warnings.emplace_back(
          "secrets_as: env gives a container its secrets as variables, which its engine writes to disk; leave it out");
    }
    if (built_.manifest.image && bundle::is_layout(*built_.manifest.image)) {
      const std::string index =
          std::filesystem::path(*built_.manifest.image + "/index.json").lexically_normal().string();
      if (std::ranges::find(chosen, index) == chosen.end()) {
        built_.warnings.push_back("image: " + printable(*built_.manifest.image) + " is no OCI layout in the bundle");
      }
    }
    if (built_.manifest.run.empty()) return;
    const std::string& program = built_.manifest.run.front();
    if (program.find('/') == std::string::npos || program.starts_with('/')) return;  // found on PATH, or outside
    const std::string path = std::filesystem::path(program).lexically_normal().string();
    if (std::ranges::find(chosen, path) == chosen.end()) {
      built_.warnings.push_back("run: " + printable(program) + " is not in the bundle");
    }
  }

  void state() {
    bundle::Statement& statement = built_.statement;
    statement.bundle = built_.manifest.name.text;
    statement.version = built_.manifest.version.text;
    statement.tree = *crypto::parse_sha256("sha256:" + built_.packed.tree_digest);
    statement.archive = *crypto::parse_sha256("sha256:" + built_.packed.archive_sha256);
    const std::vector<std::string>& argv = built_.manifest.build;
    statement.parameters = {{"format", "squashfs"}, {"compressor", "zstd"}, {"level", bundle::kSquashZstdLevel}};
    if (!argv.empty()) statement.parameters["build"] = json::array(argv.begin(), argv.end());
    if (!order_.sluice_version.empty()) statement.builder_version = {{"sluice", order_.sluice_version}};
    statement.finished_ms = clock_.wall_ms();
  }

  Disk& disk_;
  process::Runner& runner_;
  const Clock& clock_;
  const BundleOrder& order_;
  const BundleHooks& hooks_;
  BuiltBundle built_;
};

}  // namespace

Result<BuiltBundle> build_bundle(Disk& disk, process::Runner& runner, const Clock& clock, const BundleOrder& order,
                                 const BundleHooks& hooks) {
  return BundleBuild(disk, runner, clock, order, hooks).run();
}

std::map<std::string, std::string> build_environment(const Variables& variables) {
  return {{"PATH", variables("PATH").value_or("/usr/bin:/bin")},
          {"LC_ALL", "C.UTF-8"},
          {"TZ", "UTC"},
          {"SOURCE_DATE_EPOCH", "0"}};
}

}  // namespace sluice::deploy
