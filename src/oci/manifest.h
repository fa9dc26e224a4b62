// What registries and layouts keep besides plain bytes: manifests, which name a config and layers, and indexes, which
// name manifests. They are other people's documents: fields that are not needed here are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::oci {

inline constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view kDockerManifestType = "application/vnd.docker.distribution.manifest.v2+json";
inline constexpr std::string_view kDockerIndexType = "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr std::string_view kEmptyType = "application/vnd.oci.empty.v1+json";
inline constexpr size_t kMaxManifestBytes = 4 << 20;

using Annotations = std::map<std::string, std::string>;

struct Platform {
  std::string os;
  std::string architecture;
  std::string variant;  // "v7" of arm; empty if there is none

  bool operator==(const Platform&) const = default;
};
// "linux/arm/v7"
std::string to_string(const Platform& platform);

struct Descriptor {
  std::string media_type;
  std::string digest;  // "sha256:…"
  uint64_t size = 0;
  std::string artifact_type = {};
  std::optional<Platform> platform = {};
  Annotations annotations = {};

  bool operator==(const Descriptor&) const = default;
};

// The descriptor of these bytes.
Descriptor describe(std::string_view bytes, std::string_view media_type);

struct Manifest {
  std::string media_type;
  std::string artifact_type;  // what it is, if it is no image
  Descriptor config;
  std::vector<Descriptor> layers;
  std::optional<Descriptor> subject = {};  // what it says more of
  Annotations annotations = {};
};

struct Index {
  std::string media_type;
  std::vector<Descriptor> manifests;
};

bool is_index(std::string_view media_type);

// Both are `invalid` for what is no such document, `limit` for one of more than 4 MB.
Result<Manifest> parse_manifest(std::string_view text);
Result<Index> parse_index(std::string_view text);

// The same bytes for the same manifest.
std::string write_manifest(const Manifest& manifest);
std::string write_index(const Index& index);

}  // namespace sluice::oci
