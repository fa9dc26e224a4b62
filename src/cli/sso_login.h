// Logging in with a browser: the provider sends it back to a port of this machine that only this login listens at
// (RFC 8252), and the code that it brings is exchanged here, with the verifier that nobody else has (PKCE).
#pragma once

#include "base/clock.h"
#include "cli/context.h"
#include "host/contexts.h"

namespace sluice::cli {

// The server with a token, and with what renews it. The person has five minutes.
Result<host::ServerContext> log_in_with_browser(host::ServerContext server, const Clock& clock, Context& context);

}  // namespace sluice::cli
