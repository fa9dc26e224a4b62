// A manifest without a platform, as single images have it, is asked for its config.
#include "oci/layout.h"

#include <algorithm>
#include <boost/json.hpp>
#include <span>

#include "base/atomic_file.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::oci {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kPieceBytes = 1 << 20;
constexpr int kDeepestIndex = 3;

std::string blob_path(const std::string& folder, const std::string& digest) {
  return folder + "/blobs/sha256/" + digest.substr(digest.find(':') + 1);
}

Result<std::string> small_blob(Disk& disk, const std::string& folder, const Descriptor& descriptor) {
  auto bytes = read_file(disk, blob_path(folder, descriptor.digest), kMaxManifestBytes);
  if (!bytes) return bytes.error();
  if ("sha256:" + crypto::to_hex(crypto::sha256(*bytes)) != descriptor.digest) {
    return Error{.code = Code::verification_failed,
                 .message = "the bytes of " + descriptor.digest + " in " + folder + " are others"};
  }
  return bytes;
}

std::string octal(uint64_t number, size_t digits) {
  std::string text(digits, '0');
  for (size_t i = digits; i > 0; --i, number >>= 3U) text[i - 1] = static_cast<char>('0' + (number & 7U));
  return text;
}

// The head of a file of a tar (ustar), without owner and time.
std::string tar_head(const std::string& name, uint64_t size) {
  std::string head(kBlock, '\0');
  auto put = [&](size_t at, std::string_view text) { std::copy(text.begin(), text.end(), head.begin() + at); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  // Above 8 GB the length is binary, as GNU tar writes it.
  if (size < uint64_t{1} << 33U) {
    put(124, octal(size, 11));
  } else {
    head[124] = static_cast<char>(0x80);
    for (size_t i = 0; i < 8; ++i) head[135 - i] = static_cast<char>(size >> (8 * i));
  }
  put(136, "00000000000");
  put(148, "        ");
  head[156] = '0';
  put(257, std::string_view("ustar\00000", 8));
  uint32_t sum = 0;
  for (char c : head) sum += static_cast<uint8_t>(c);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return head;
}

// Writes one file of the tar after the other.
class TarFile {
 public:
  explicit TarFile(File& into) : into_(into) {}

  Result<void> add(const std::string& name, const std::string& bytes) {
    if (auto begun = put(tar_head(name, bytes.size())); !begun) return begun;
    if (auto put_all = put(bytes); !put_all) return put_all;
    return pad();
  }

  // A file whose bytes must have this digest.
  Result<void> add(Disk& disk, const std::string& name, const std::string& path, const Descriptor& descriptor) {
    auto file = disk.open(path, {});
    if (!file) return file.error();
    if (auto begun = put(tar_head(name, descriptor.size)); !begun) return begun;
    crypto::Sha256Stream digest;
    std::string piece(kPieceBytes, '\0');
    uint64_t at = 0;
    for (;;) {
      auto got = (*file)->read_at(at, piece);
      if (!got) return got.error();
      const std::string_view bytes = std::string_view(piece).substr(0, *got);
      digest.update(bytes);
      at += *got;
      if (*got == 0 || at > descriptor.size) break;
      if (auto done = put(bytes); !done) return done;
    }
    if (at != descriptor.size || "sha256:" + crypto::to_hex(digest.finish()) != descriptor.digest) {
      return Error{.code = Code::verification_failed, .message = "the bytes of " + path + " are others"};
    }
    return pad();
  }

  Result<void> end() { return put(std::string(2 * kBlock, '\0')); }

 private:
  Result<void> put(std::string_view bytes) {
    if (auto written = into_.write_at(at_, bytes); !written) return written;
    at_ += bytes.size();
    return {};
  }
  Result<void> pad() { return put(std::string((kBlock - at_ % kBlock) % kBlock, '\0')); }

  File& into_;
  uint64_t at_ = 0;
};

Result<LaidOutImage> find_in(Disk& disk, const std::string& folder, const std::vector<Descriptor>& manifests,
                             const Platform& platform, int deep) {
  for (const Descriptor& each : manifests) {
    if (each.platform && !fits(*each.platform, platform)) continue;
    auto bytes = small_blob(disk, folder, each);
    if (!bytes) return bytes.error();
    if (is_index(each.media_type)) {
      if (deep == kDeepestIndex) return Error{.code = Code::invalid, .message = folder + ": indexes lie too deep"};
      auto index = parse_index(*bytes);
      if (!index) return index.error();
      auto found = find_in(disk, folder, index->manifests, platform, deep + 1);
      if (found || found.error().code != Code::not_found) return found;
      continue;
    }
    auto manifest = parse_manifest(*bytes);
    if (!manifest) return manifest.error();
    if (!each.platform) {
      auto config = small_blob(disk, folder, manifest->config);
      if (!config) return config.error();
      auto has = platform_in(*config);
      if (!has) return has.error();
      if (!fits(*has, platform)) continue;
    }
    return LaidOutImage{.digest = each.digest, .manifest = std::move(*manifest)};
  }
  return Error{.code = Code::not_found, .message = folder + " has no image for " + to_string(platform)};
}

}  // namespace

bool fits(const Platform& has, const Platform& wanted) {
  return has.os == wanted.os && has.architecture == wanted.architecture &&
         (wanted.variant.empty() || has.variant.empty() || has.variant == wanted.variant);
}

Result<Platform> platform_in(std::string_view config) {
  boost::system::error_code failure;
  const boost::json::value document = boost::json::parse(config, failure);
  const auto* object = failure ? nullptr : document.if_object();
  if (object == nullptr) return Error{.code = Code::invalid, .message = "the config of an image is no JSON object"};
  auto text = [&](const char* name) {
    const auto* found = object->if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
  };
  return Platform{.os = text("os"), .architecture = text("architecture"), .variant = text("variant")};
}

Result<LaidOutImage> image_in(Disk& disk, const std::string& folder, const Platform& platform) {
  auto text = read_file(disk, folder + "/index.json", kMaxManifestBytes);
  if (!text && text.error().code == Code::not_found) {
    return Error{.code = Code::invalid, .message = folder + " is no OCI layout: it has no index.json"};
  }
  if (!text) return text.error();
  auto index = parse_index(*text);
  if (!index) return index.error();
  return find_in(disk, folder, index->manifests, platform, 0);
}

Result<void> write_docker_archive(Disk& disk, const std::string& folder, const LaidOutImage& image,
                                  const std::string& name, File& into) {
  auto hex = [](const std::string& digest) { return digest.substr(digest.find(':') + 1); };
  TarFile tar(into);
  const std::string config = hex(image.manifest.config.digest) + ".json";
  if (auto added = tar.add(disk, config, blob_path(folder, image.manifest.config.digest), image.manifest.config);
      !added) {
    return added;
  }
  boost::json::array layers;
  std::vector<std::string> added_layers;
  for (const Descriptor& each : image.manifest.layers) {
    const std::string file = hex(each.digest) + ".tar";
    layers.emplace_back(file);
    if (std::ranges::find(added_layers, file) != added_layers.end()) continue;
    added_layers.push_back(file);
    if (auto added = tar.add(disk, file, blob_path(folder, each.digest), each); !added) return added;
  }
  const boost::json::array list = {{{"Config", config}, {"RepoTags", {name}}, {"Layers", std::move(layers)}}};
  if (auto added = tar.add("manifest.json", boost::json::serialize(list)); !added) return added;
  return tar.end();
}

}  // namespace sluice::oci
