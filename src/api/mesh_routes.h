// The config server's answers to the nodes of a mesh: who asks is shown by a certificate and a proof, not by a token.
#pragma once

#include <cstdint>

#include "host/door.h"
#include "http/message.h"

namespace sluice::api {

// GET /artifact/{mgmt,ctrl}/NODE and POST /artifact/report/NODE. The door is the owner's.
http::Response answer_mesh_node(const http::Request& request, host::Door& door, int64_t now_ms);

}  // namespace sluice::api
