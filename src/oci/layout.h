// Layout is an image in a folder as the OCI image layout has it: oci-layout, index.json and blobs/sha256/….
//
//   auto found = image_in(disk, "/shop/image", {.os = "linux", .architecture = "amd64"});
//   auto written = write_docker_archive(disk, "/shop/image", *found, "registry.example/shop:1", *file);
//
// Engines that load images all read tars in the form of `docker save`; podman alone reads layouts. Whatever is read is
// verified by its digest.
#pragma once

#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "oci/manifest.h"

namespace sluice::oci {

struct LaidOutImage {
  std::string digest;  // of its manifest
  Manifest manifest;
};

// The one for this platform: `not_found` if there is none for it, `invalid` for what is no layout.
Result<LaidOutImage> image_in(Disk& disk, const std::string& folder, const Platform& platform);

// The image as a tar that engines load, under this name. The engine's id of it is the digest of its config.
Result<void> write_docker_archive(Disk& disk, const std::string& folder, const LaidOutImage& image,
                                  const std::string& name, File& into);

// Whether a manifest's platform is the wanted one.
bool fits(const Platform& has, const Platform& wanted);

// The platform in the config of an image, of its bytes.
Result<Platform> platform_in(std::string_view config);

}  // namespace sluice::oci
