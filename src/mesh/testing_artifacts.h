// The examples of the artifacts that tests begin with: node alpha of the mesh acme.
#pragma once

#include <string>
#include <string_view>

#include "base/document.h"
#include "crypto/ed25519.h"
#include "mesh/artifact.h"
#include "mesh/signature.h"

namespace sluice::mesh {

// A key for each name, the same in every run.
crypto::PrivateKey example_key(std::string_view name);
std::string example_pubkey(std::string_view name);

// Whom the examples trust: management-plane/primary and control-plane/primary.
Trust example_trust();

// Unsigned envelopes.
json::object example_agent();
json::object example_link();
json::object example_mesh();
json::object example_ctrl();

// Signed by the primary signer of its plane, as text.
std::string signed_text(json::object envelope);
Artifact signed_artifact(json::object envelope);

}  // namespace sluice::mesh
