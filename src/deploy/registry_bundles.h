// How bundles lie in OCI registries: one manifest of the artifact type application/vnd.sluice.bundle.v1 with two
// layers, the archive and its sidecar, so that whoever copies it copies the signatures along. Signatures that are added
// later are manifests of their own, whose subject is the bundle's; pulling unites them with those of the sidecar. Packs
// lie there in the same way, under an artifact type of their own.
//
// Nothing here decides whether a signature counts: that is Trust's, where the bundle is used.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "deploy/bundle_shelf.h"
#include "http/outgoing.h"
#include "oci/registry.h"

namespace sluice::deploy {

inline constexpr std::string_view kBundleType = "application/vnd.sluice.bundle.v1";
inline constexpr std::string_view kPackType = "application/vnd.sluice.pack.v1";
inline constexpr std::string_view kArchiveLayer = "application/vnd.sluice.bundle.archive.v1";
inline constexpr std::string_view kSidecarLayer = "application/vnd.sluice.bundle.sidecar.v1+json";
inline constexpr std::string_view kSignaturesType = "application/vnd.sluice.signatures.v1";

struct PushedBundle {
  std::string digest;  // of the bundle's manifest
  std::string bundle;
  std::string version;
  bool signatures = false;  // only these were added
};
// The archive with its sidecar, which must be there. To a reference with a digest, which must be that of a bundle with
// the same archive, the sidecar's signatures are added.
Result<PushedBundle> push_bundle(Disk& disk, oci::Registry& registry, const std::string& archive);

// The same of a pack: its archive, and the sidecar that may lie elsewhere.
struct PackToPush {
  std::string archive;
  std::string sidecar;  // the file
  std::string name;
  std::string version;
};
Result<PushedBundle> push_pack(Disk& disk, oci::Registry& registry, const PackToPush& pack);

struct PulledBundle {
  std::string digest;   // of its manifest
  std::string archive;  // of its archive
  std::string sidecar;  // its text, with all signatures; empty if it has none
};
// Its archive is written into the file. `type` says which artifact it is to be.
Result<PulledBundle> pull_bundle(oci::Registry& registry, File& archive, std::string_view type = kBundleType);

// What the kit's Registry asks: registries over the network, and the home that keeps what comes.
class BundleRegistry {
 public:
  BundleRegistry(const Clock& clock, Variables variables, BundleShelf& shelf)
      : clock_(clock), variables_(std::move(variables)), shelf_(shelf) {}

  Result<void> check(const std::string& host, const oci::Login& login);

  struct Kept {
    std::string source;  // as BundleShelf takes it
    std::string digest;
    SeenBundle seen;
  };
  Result<Kept> fetch(const oci::Reference& reference, const std::optional<oci::Login>& login, const std::string& by,
                     const std::function<bool()>& cancelled);

 private:
  const Clock& clock_;
  Variables variables_;
  BundleShelf& shelf_;
};

// The way to a registry, through the proxy that variables name.
http::Outgoing::Settings way_to(const Variables& variables, const std::string& host);

// The name of the secret that has the login at a host: "registry/registry.example_5000".
std::string login_secret_of(const std::string& host);

}  // namespace sluice::deploy
