// A layer is looked for by its media type; others are passed over.
#include "deploy/registry_bundles.h"

#include <algorithm>

#include "bundle/archive/inspect.h"
#include "bundle/trust/sidecar.h"
#include "crypto/sha256.h"

namespace sluice::deploy {
namespace {

constexpr std::string_view kEmptyJson = "{}";
constexpr size_t kMostReferrers = 64;

const oci::Descriptor* layer_of(const oci::Manifest& manifest, std::string_view type) {
  const auto found = std::ranges::find(manifest.layers, type, &oci::Descriptor::media_type);
  return found == manifest.layers.end() ? nullptr : &*found;
}

Result<std::pair<oci::Manifest, std::string>> manifest_of_type(oci::Registry& registry, std::string_view type) {
  auto fetched = registry.manifest(registry.reference().wanted());
  if (!fetched) return fetched.error();
  auto manifest = oci::parse_manifest(fetched->bytes);
  const std::string name = to_string(registry.reference());
  if (!manifest) return Error{.code = manifest.error().code, .message = name + ": " + manifest.error().message};
  if (manifest->artifact_type != type || layer_of(*manifest, kArchiveLayer) == nullptr) {
    return Error{.code = Code::invalid,
                 .message = name + " is no " + (type == kPackType ? "pack" : "bundle") + "; its type is '" +
                            printable(manifest->artifact_type) + "'"};
  }
  return std::pair(*std::move(manifest), std::move(fetched->digest));
}

// Adds the signatures of one sidecar to another; one of something else is passed over.
void unite(crypto::Envelope& all, const std::string& more) {
  auto envelope = bundle::parse_sidecar(more);
  if (!envelope || envelope->payload != all.payload) return;
  for (crypto::EnvelopeSignature& each : envelope->signatures) {
    const bool there = std::ranges::any_of(all.signatures, [&](const auto& one) { return one.key_id == each.key_id; });
    if (!there) all.signatures.push_back(std::move(each));
  }
}

Result<std::string> sidecar_of(oci::Registry& registry, const oci::Manifest& manifest, const std::string& digest) {
  const oci::Descriptor* layer = layer_of(manifest, kSidecarLayer);
  if (layer == nullptr) return std::string();
  auto sidecar = registry.pull_blob(*layer, bundle::kMaxSidecarBytes);
  if (!sidecar) return sidecar;
  auto referrers = registry.referrers(digest);
  if (!referrers) return referrers.error();
  std::erase_if(*referrers, [](const oci::Descriptor& each) { return each.artifact_type != kSignaturesType; });
  if (referrers->empty()) return sidecar;
  auto all = bundle::parse_sidecar(*sidecar);
  if (!all) return sidecar;  // staging says what is wrong with it
  if (referrers->size() > kMostReferrers) referrers->resize(kMostReferrers);
  for (const oci::Descriptor& each : *referrers) {
    auto fetched = registry.manifest(each.digest);
    if (!fetched) return fetched.error();
    auto signatures = oci::parse_manifest(fetched->bytes);
    const oci::Descriptor* more = signatures ? layer_of(*signatures, kSidecarLayer) : nullptr;
    if (more == nullptr || !signatures->subject || signatures->subject->digest != digest) continue;
    auto text = registry.pull_blob(*more, bundle::kMaxSidecarBytes);
    if (!text) return text;
    unite(*all, *text);
  }
  return bundle::write_sidecar_text(*all);
}

struct ToPush {
  std::string_view type;
  std::string path;
  std::string sidecar;  // the file
  std::string name;
  std::string version;
};

Result<PushedBundle> push_archive(Disk& disk, oci::Registry& registry, const bundle::Inspected& inspected,
                                  const ToPush& what) {
  auto sidecar = bundle::read_sidecar(disk, what.sidecar);
  if (!sidecar) return sidecar.error();
  if (!*sidecar) {
    return Error{.code = Code::invalid,
                 .message = what.path + " has no signatures beside it; nothing was pushed",
                 .next = "sign it first"};
  }
  const oci::Descriptor papers = oci::describe(**sidecar, kSidecarLayer);
  const oci::Descriptor archive{.media_type = std::string(kArchiveLayer),
                                .digest = "sha256:" + inspected.archive_sha256,
                                .size = inspected.archive_bytes};
  oci::Manifest manifest{.media_type = std::string(oci::kManifestType),
                         .artifact_type = std::string(what.type),
                         .config = oci::describe(kEmptyJson, oci::kEmptyType),
                         .layers = {archive, papers},
                         .annotations = {{"org.opencontainers.image.title", what.name},
                                         {"org.opencontainers.image.version", what.version},
                                         {"dev.sluice.tree", "sha256:" + inspected.tree.digest()}}};
  PushedBundle pushed{.bundle = what.name, .version = what.version};
  if (!registry.reference().digest.empty()) {
    auto there = manifest_of_type(registry, what.type);
    if (!there) return there.error();
    if (layer_of(there->first, kArchiveLayer)->digest != archive.digest) {
      return Error{.code = Code::conflict,
                   .message = to_string(registry.reference()) + " is of another archive than " + what.path +
                              "; nothing was pushed"};
    }
    auto fetched = registry.manifest(there->second);
    if (!fetched) return fetched.error();
    manifest.artifact_type = kSignaturesType;
    manifest.layers = {papers};
    manifest.subject = oci::describe(fetched->bytes, oci::kManifestType);
    manifest.annotations.clear();
    pushed.signatures = true;
    pushed.digest = there->second;
  }
  for (const oci::Descriptor& each : manifest.layers) {
    if (each.media_type == kSidecarLayer) continue;
    auto file = disk.open(what.path, {});
    if (!file) return file.error();
    if (auto sent = registry.push_blob(**file, each); !sent) return sent.error();
  }
  if (auto sent = registry.push_blob(**sidecar, papers); !sent) return sent.error();
  if (auto sent = registry.push_blob(std::string(kEmptyJson), manifest.config); !sent) return sent.error();
  if (pushed.signatures) {
    auto put = registry.put_referrer(manifest);
    return put ? Result<PushedBundle>(std::move(pushed)) : put.error();
  }
  auto put = registry.put_manifest(registry.reference().tag, write_manifest(manifest), oci::kManifestType);
  if (!put) return put.error();
  pushed.digest = *std::move(put);
  return pushed;
}

}  // namespace

Result<PushedBundle> push_bundle(Disk& disk, oci::Registry& registry, const std::string& path) {
  auto inspected = bundle::inspect_archive(disk, path);
  if (!inspected) return inspected.error();
  auto about = bundle::manifest_of(*inspected, path);
  if (!about) return about.error();
  return push_archive(disk, registry, *inspected,
                      {.type = kBundleType,
                       .path = path,
                       .sidecar = bundle::sidecar_path(path),
                       .name = about->name.text,
                       .version = about->version.text});
}

Result<PushedBundle> push_pack(Disk& disk, oci::Registry& registry, const PackToPush& pack) {
  auto inspected = bundle::inspect_archive(disk, pack.archive);
  if (!inspected) return inspected.error();
  return push_archive(
      disk, registry, *inspected,
      {.type = kPackType, .path = pack.archive, .sidecar = pack.sidecar, .name = pack.name, .version = pack.version});
}

Result<PulledBundle> pull_bundle(oci::Registry& registry, File& file, std::string_view type) {
  auto found = manifest_of_type(registry, type);
  if (!found) return found.error();
  const auto& [manifest, digest] = *found;
  const oci::Descriptor* archive = layer_of(manifest, kArchiveLayer);
  auto sidecar = sidecar_of(registry, manifest, digest);
  if (!sidecar) return sidecar.error();
  if (auto pulled = registry.pull_blob(*archive, file); !pulled) return pulled.error();
  return PulledBundle{.digest = digest, .archive = archive->digest, .sidecar = *std::move(sidecar)};
}

http::Outgoing::Settings way_to(const Variables& variables, const std::string& host) {
  return {.proxy = http::proxy_of([&](const std::string& name) { return variables(name).value_or(""); },
                                  oci::base_url(host))};
}

std::string login_secret_of(const std::string& host) {
  std::string word = host;
  std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
  std::ranges::replace(word, ':', '_');
  return "registry/" + word;
}

Result<void> BundleRegistry::check(const std::string& host, const oci::Login& login) {
  http::Outgoing outgoing(way_to(variables_, host), clock_);
  return oci::Registry(outgoing, {.host = host}, login).check();
}

Result<BundleRegistry::Kept> BundleRegistry::fetch(const oci::Reference& reference,
                                                   const std::optional<oci::Login>& login, const std::string& by,
                                                   const std::function<bool()>& cancelled) {
  http::Outgoing outgoing(way_to(variables_, reference.host), clock_);
  oci::Registry registry(outgoing, reference, login, {.cancelled = cancelled});
  PulledBundle pulled;
  auto archive = shelf_.keep(by, [&](File& file) -> Result<void> {
    auto got = pull_bundle(registry, file);
    if (!got) return got.error();
    pulled = *std::move(got);
    return {};
  });
  if (!archive) return archive.error();
  Kept kept{.source = *archive, .digest = pulled.digest};
  if (!pulled.sidecar.empty()) {
    auto papers = shelf_.keep(by, [&](File& file) { return file.write_at(0, pulled.sidecar); });
    if (!papers) return papers.error();
    kept.source += "," + *papers;
  }
  auto seen = shelf_.look(kept.source);
  if (!seen) return seen.error();
  kept.seen = *std::move(seen);
  return kept;
}

}  // namespace sluice::deploy
