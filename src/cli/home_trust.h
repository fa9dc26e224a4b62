// The trust root of the home, for commands that verify something by it.
#pragma once

#include "bundle/trust/trust_root.h"
#include "cli/context.h"

namespace sluice::cli {

// Trusts nobody if nothing has run in the home yet. Makes nothing.
Result<bundle::TrustRoot> trust_root_of_home(Context& context);

}  // namespace sluice::cli
