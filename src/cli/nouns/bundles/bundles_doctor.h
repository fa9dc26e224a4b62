// sluice bundles doctor: names the secrets in an archive or a folder.
#pragma once

#include "cli/command.h"

namespace sluice::cli {

Command bundles_doctor_command();

}  // namespace sluice::cli
