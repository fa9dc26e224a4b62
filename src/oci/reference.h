// Reference names something in an OCI registry, as people write it: HOST[:PORT]/REPOSITORY[:TAG][@DIGEST].
//
//   auto reference = parse_reference("registry.example:5000/team/shop:1.4");
//
// A name without a host is one of Docker Hub: `nginx` is docker.io/library/nginx. A name without tag and digest has the
// tag `latest`. A digest counts more than a tag.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::oci {

struct Reference {
  std::string host;        // "registry.example:5000"
  std::string repository;  // "team/shop"
  std::string tag;         // empty if there is a digest alone
  std::string digest;      // "sha256:…", or empty

  bool operator==(const Reference&) const = default;

  // What a registry is asked for: the digest, else the tag.
  const std::string& wanted() const { return digest.empty() ? tag : digest; }
};

// With or without "oci://" before it. Errors are `invalid` and say which part is wrong.
Result<Reference> parse_reference(std::string_view text);
std::string to_string(const Reference& reference);

// The host alone, as a login names it: "registry.example:5000".
Result<std::string> parse_host(std::string_view text);

// Where a registry answers: "https://registry.example:5000". One on this machine's loopback speaks plain HTTP, and no
// other one may.
std::string base_url(const std::string& host);
bool is_loopback(std::string_view host);

}  // namespace sluice::oci
