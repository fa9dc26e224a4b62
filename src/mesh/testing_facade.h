// Facades that tests compile: one that people would write, and random ones.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "mesh/facade.h"

namespace sluice::mesh {

// The signers' keys are those of testing_artifacts.h.
ReadSigner example_signers();

// Six nodes with mesh vertices, of which alpha and gamma are joined by udp and the others by quic.
std::vector<SourceFile> example_facade();
// Three nodes with direct links.
std::vector<SourceFile> direct_facade();

// Without faults: 2 to 9 nodes, connected; services, users and roles at random.
std::string random_facade(Random& random);

}  // namespace sluice::mesh
