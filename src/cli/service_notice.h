// Tells whoever supervises this process as a service (systemd, with Type=notify) how far it is.
#pragma once

#include <string_view>

#include "base/terminal.h"

namespace sluice::cli {

// Sends "READY=1" or "STOPPING=1" to the socket that NOTIFY_SOCKET names, if there is one. Nobody waits for an answer,
// and what cannot be sent is not sent.
void tell_service(const Variables& variables, std::string_view state);

}  // namespace sluice::cli
