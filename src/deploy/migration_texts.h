// The migrations that a bundle brings, from its archive.
#pragma once

#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"
#include "migrate/files.h"

namespace sluice::deploy {

// Errors name the file in the folder of migrations.
Result<migrate::Migrations> migrations_in(Disk& disk, const std::string& archive, const bundle::Migrations& settings);

}  // namespace sluice::deploy
