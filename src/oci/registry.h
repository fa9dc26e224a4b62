// Registry is one repository of an OCI registry, over HTTP: manifests by tag or digest, blobs by digest.
//
//   Registry registry(outgoing, *parse_reference("registry.example/team/shop:1.4"), login);
//   auto manifest = registry.manifest("1.4");
//   auto pulled = registry.pull_blob(layer, *file);
//
// Whatever is fetched is verified by its digest; bytes that differ are `verification_failed`. Uploads go on with the
// next chunk after a broken connection and downloads with the next byte, as long as there is progress. Errors:
// `not_found`, `unauthenticated` (a login is missing or wrong), `denied`, `unavailable` (nobody answers, or the
// registry is ill), `limit`. A password is sent only to the registry itself and to a token server of its own
// (oci/auth.h: may_login_at).
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "http/outgoing.h"
#include "oci/auth.h"
#include "oci/manifest.h"
#include "oci/reference.h"

namespace sluice::oci {

struct Watch {
  std::function<bool()> cancelled = {};
  std::function<void(uint64_t bytes)> moved = {};  // so many more
};

class Registry {
 public:
  Registry(http::Outgoing& outgoing, Reference reference, std::optional<Login> login, Watch watch = {})
      : outgoing_(outgoing), reference_(std::move(reference)), login_(std::move(login)), watch_(std::move(watch)) {}

  // Whether the registry takes this login.
  Result<void> check();

  struct Fetched {
    std::string bytes;
    std::string media_type;
    std::string digest;
  };
  Result<Fetched> manifest(const std::string& tag_or_digest);
  // Its digest.
  Result<std::string> put_manifest(const std::string& tag_or_digest, const std::string& bytes,
                                   std::string_view media_type);

  Result<bool> has_blob(const std::string& digest);
  // What the registry has already is not sent.
  Result<void> push_blob(File& file, const Descriptor& descriptor);
  Result<void> push_blob(const std::string& bytes, const Descriptor& descriptor);
  // Into a file that is empty, or anew.
  Result<void> pull_blob(const Descriptor& descriptor, File& file);
  Result<std::string> pull_blob(const Descriptor& descriptor, size_t most_bytes);

  // What says more of a manifest: by the registry's own list, else by the tag that stands for it.
  Result<std::vector<Descriptor>> referrers(const std::string& digest);
  // Puts a manifest that has a subject, and names it in the tag where the registry keeps no list.
  Result<std::string> put_referrer(const Manifest& manifest);

  const Reference& reference() const { return reference_; }

 private:
  using Read = std::function<Result<std::string>(uint64_t at, size_t most)>;

  std::string url(const std::string& rest) const;
  Result<http::OutgoingAnswer> send(http::OutgoingRequest request);
  Result<void> authenticate(const http::OutgoingAnswer& answer);
  Error refusal(const http::OutgoingAnswer& answer, const std::string& what) const;
  Result<std::string> location(const http::OutgoingAnswer& answer, const std::string& from) const;
  Result<void> push(const Read& read, const Descriptor& descriptor);
  Result<void> push_once(const Read& read, const Descriptor& descriptor);
  Result<void> pull(const Descriptor& descriptor, const std::function<Result<void>(uint64_t, std::string_view)>& keep);

  http::Outgoing& outgoing_;
  Reference reference_;
  std::optional<Login> login_;
  Watch watch_;
  std::string authorization_;
};

}  // namespace sluice::oci
