// What a tag means: asked of the image's registry when a bundle is built, and never again.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "bundle/manifest/image_lock.h"
#include "oci/auth.h"

namespace sluice::deploy {

// With this login, else with that of REGISTRY_AUTH_FILE, else of Docker's config.json, if it has one for the registry.
// Errors are those of oci/registry.h, and `invalid` for what is no image.
Result<bundle::ImageLock> pin_image(Disk& disk, const Clock& clock, const Variables& variables,
                                    const std::string& image, std::optional<oci::Login> login = {});

}  // namespace sluice::deploy
