// The pages of the console as they are served: what vite makes of the TypeScript in this folder, compressed, one entry
// a file. src/console/build_pages.mjs makes the table.
#pragma once

#include <span>

#include "api/pages.h"

namespace sluice::console {

std::span<const api::Page> console_files();

}  // namespace sluice::console
