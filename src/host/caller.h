// Who calls through a Unix socket: the person behind the process at its other end, as the kernel knows them.
#pragma once

#include <string>

#include "base/disk.h"
#include "http/socket.h"

namespace sluice::host {

// "uid:1000", as callers are named in the journal.
std::string name_of_user(uint32_t user);

// The person who started the process, not whom it acts for: its real user. If that cannot be found out any more, whom
// it acts for.
std::string caller_behind(Disk& disk, const http::Credentials& credentials);

}  // namespace sluice::host
