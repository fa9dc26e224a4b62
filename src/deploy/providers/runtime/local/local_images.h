// LocalImages brings the images of bundles to the container engine of this machine: pulled by the digest that the
// bundle's image.lock.json names, or loaded from the OCI layout in the bundle. What it brought it marks with a tag of
// this home's, so that it removes nothing else.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "base/terminal.h"
#include "bundle/manifest/manifest.h"
#include "container/engine.h"
#include "oci/auth.h"

namespace sluice::deploy::local_runtime {

// Why there is no image.
struct ImageTrouble {
  enum class Kind { not_found, denied, pull_failed, platform, engine, bundle };
  Kind kind = Kind::engine;
  std::string reason;
};

struct ReadyImage {
  std::string engine;  // the path of its socket
  std::string id;
  std::string user;  // that it is made for; empty if it names none
};

class LocalImages {
 public:
  struct Place {
    std::string folder;  // below the home; what is loaded lies there for a moment, and the home's id
    Variables variables;
  };
  LocalImages(Disk& disk, const Clock& clock, Random& random, Place place)
      : disk_(disk), clock_(clock), random_(random), place_(std::move(place)) {}

  struct Wanted {
    const bundle::Manifest& manifest;
    std::string root;                      // where the bundle is unpacked
    std::string engine = {};               // the path of a socket, if an operator has named one
    std::string revision = {};             // that uses it, until it is archived
    std::optional<oci::Login> login = {};  // else that of this process's REGISTRY_AUTH_FILE or config.json
  };
  std::variant<ReadyImage, ImageTrouble> ready(const Wanted& wanted, const std::function<bool()>& cancelled);
  // Of this home, unlike any other; made when it is first asked for.
  Result<std::string> home_id();

  // Removes the images that this home brought and that neither one of these revisions nor any container uses: their
  // ids.
  Result<std::vector<std::string>> forget(const std::set<std::string>& revisions, const std::string& engine = "");

  // Where the engine listens: as named, as DOCKER_HOST says, or the first of the usual places that is there.
  Result<std::string> socket(const std::string& named) const;

 private:
  std::variant<ReadyImage, ImageTrouble> pulled(const container::Engine& engine, const Wanted& wanted,
                                                const std::function<bool()>& cancelled);
  std::variant<ReadyImage, ImageTrouble> loaded(const container::Engine& engine, const std::string& folder);
  // The folder with a file for each revision that uses an image.
  std::string uses_of(const std::string& id) const;
  std::string repository(const std::string& home) const { return "sluice.local/" + home; }

  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  Place place_;
};

}  // namespace sluice::deploy::local_runtime
