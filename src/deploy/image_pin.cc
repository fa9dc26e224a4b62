// An index names a manifest for each platform; a single image is asked for its config, which names the one it is for.
#include "deploy/image_pin.h"

#include "deploy/registry_bundles.h"
#include "oci/layout.h"
#include "oci/manifest.h"
#include "oci/reference.h"
#include "oci/registry.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMostConfig = 4 << 20;

}  // namespace

Result<bundle::ImageLock> pin_image(Disk& disk, const Clock& clock, const Variables& variables,
                                    const std::string& image, std::optional<oci::Login> login) {
  auto reference = oci::parse_reference(image);
  if (!reference) return reference.error();
  if (!login) {
    auto of_file = oci::login_of_file(disk, variables, reference->host);
    if (!of_file) return of_file.error();
    login = *std::move(of_file);
  }
  http::Outgoing outgoing(way_to(variables, reference->host), clock);
  oci::Registry registry(outgoing, *reference, login);
  auto fetched = registry.manifest(reference->wanted());
  if (!fetched) return fetched.error();
  bundle::ImageLock lock{.reference = image, .digest = fetched->digest};
  auto index = oci::parse_index(fetched->bytes);
  if (index && (oci::is_index(fetched->media_type) || oci::is_index(index->media_type))) {
    for (const oci::Descriptor& each : index->manifests) {
      // Attestations lie beside images under a platform that is none.
      if (each.platform && each.platform->os != "unknown") lock.platforms[to_string(*each.platform)] = each.digest;
    }
    return lock;
  }
  auto manifest = oci::parse_manifest(fetched->bytes);
  if (!manifest) return manifest.error();
  auto config = registry.pull_blob(manifest->config, kMostConfig);
  if (!config) return config.error();
  auto platform = oci::platform_in(*config);
  if (!platform || platform->os.empty() || platform->architecture.empty()) {
    return Error{.code = Code::invalid, .message = image + " is no image: its config names no platform"};
  }
  lock.platforms[to_string(*platform)] = fetched->digest;
  return lock;
}

}  // namespace sluice::deploy
