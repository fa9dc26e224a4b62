// From a folder with a bundle.yaml to its archive: the command under `build` runs in a clean copy, what is selected is
// packed, and nothing appears if the secrets doctor objects.
//
//   auto built = build_bundle(disk, runner, clock, {.folder = "shop", .out = "shop.bundle"}, hooks);
//   if (built) sign_statement(built->statement, keys) …
//
// The image of a bundle that names one by a tag is pinned first, in image.lock.json beside bundle.yaml, unless it is
// there.
//
// The clean copy holds what neither .sluiceignore nor the deny list names, so a build cannot pick up secrets or what an
// earlier build has left there. It stands beside `out` as an unfinished folder, and is gone when the call returns; the
// command sees it at process::kBuildPlace if the system lets it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "bundle/archive/pack.h"
#include "bundle/manifest/image_lock.h"
#include "bundle/manifest/manifest.h"
#include "bundle/manifest/selection.h"
#include "bundle/secrets/secret_scan.h"
#include "bundle/trust/statement.h"
#include "process/run.h"

namespace sluice::deploy {

struct BundleOrder {
  std::string folder;
  std::string out;  // the archive; empty: NAME-VERSION.bundle in this process's folder
  std::map<std::string, std::string> environment = {};  // of the build command
  // What a program's version is; nothing if there is no such program.
  std::function<std::optional<std::string>(const std::string&)> version_of = {};
  std::string sluice_version = {};
  // What the image of this name is now, asked of its registry; nothing: a bundle must have its lock already.
  std::function<Result<bundle::ImageLock>(const std::string&)> pin = {};
  bool update_image = false;  // although there is a lock
  int64_t build_deadline_ms = 3'600'000;
};

// All may be empty. They are called from the thread that builds, and often.
struct BundleHooks {
  std::function<bool()> stopped = {};  // the person has had enough
  std::function<void(const std::string& doing, uint64_t done, std::optional<uint64_t> total)> progress = {};
  std::function<void(const std::string& line)> said = {};  // the last lines of a build command that failed
};

struct BuiltBundle {
  bundle::Manifest manifest;
  std::string out;
  bundle::Packed packed;
  std::vector<bundle::Skipped> skipped;
  std::vector<std::string> warnings;  // what is probably not meant: "run: ./app is not in the bundle"
  bundle::SecretReport secrets;       // without findings
  bundle::Statement statement;        // to be signed
};

Result<BuiltBundle> build_bundle(Disk& disk, process::Runner& runner, const Clock& clock, const BundleOrder& order,
                                 const BundleHooks& hooks = {});

// What build commands see of this process's environment: where programs are, and nothing that differs between people.
std::map<std::string, std::string> build_environment(const Variables& variables);

}  // namespace sluice::deploy
