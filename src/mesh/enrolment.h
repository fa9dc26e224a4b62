// The bundle by which a host becomes a node: its keys and certificates, whom it is to trust, and its first artifacts,
// sealed with a passphrase that travels another way. docs/internals/mesh.md has its bytes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/random.h"
#include "base/result.h"
#include "mesh/artifact.h"
#include "mesh/signature.h"

namespace sluice::mesh {

struct Enrolment {
  std::string node;
  Trust trust;
  std::map<std::string, std::string> identity;  // ca.crt and certs/NAME
  std::vector<json::value> artifacts;
  std::vector<json::value> chain;
};
BOOST_DESCRIBE_STRUCT(Enrolment, (), (node, trust, identity, artifacts, chain))

Result<std::string> seal_enrolment(const Enrolment& enrolment, std::string_view passphrase, Random& random);
// `verification_failed`: another passphrase, or the bundle was changed.
Result<Enrolment> open_enrolment(std::string_view bundle, std::string_view passphrase);

// Parses each of them.
Result<std::vector<Artifact>> parse_all(const std::vector<json::value>& artifacts);

}  // namespace sluice::mesh
