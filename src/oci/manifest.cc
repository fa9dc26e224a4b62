// Digests other than SHA-256 are refused: nothing here could verify them.
#include "oci/manifest.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/sha256.h"

namespace sluice::oci {
namespace {

namespace json = boost::json;

Error no_document(const std::string& why) { return {.code = Code::invalid, .message = "the manifest " + why}; }

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Annotations annotations_in(const json::object& object) {
  Annotations annotations;
  const json::value* all = object.if_contains("annotations");
  if (all == nullptr || !all->is_object()) return annotations;
  for (const auto& [key, value] : all->get_object()) {
    if (value.is_string()) annotations[std::string(key)] = std::string(value.get_string());
  }
  return annotations;
}

Result<Descriptor> descriptor_of(const json::value* value, const std::string& what) {
  if (value == nullptr || !value->is_object()) return no_document("has no " + what);
  const json::object& object = value->get_object();
  Descriptor descriptor{.media_type = text_in(object, "mediaType"),
                        .digest = text_in(object, "digest"),
                        .artifact_type = text_in(object, "artifactType"),
                        .annotations = annotations_in(object)};
  if (!crypto::parse_sha256(descriptor.digest))
    return no_document("has a digest in its " + what + " that is no SHA-256");
  const json::value* size = object.if_contains("size");
  if (size == nullptr || !size->is_int64() || size->get_int64() < 0) return no_document("has no size in its " + what);
  descriptor.size = static_cast<uint64_t>(size->get_int64());
  if (const json::value* platform = object.if_contains("platform"); platform != nullptr && platform->is_object()) {
    const json::object& fields = platform->get_object();
    descriptor.platform = Platform{text_in(fields, "os"), text_in(fields, "architecture"), text_in(fields, "variant")};
  }
  return descriptor;
}

Result<std::vector<Descriptor>> descriptors_in(const json::object& object, std::string_view name) {
  std::vector<Descriptor> all;
  const json::value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return no_document("has no " + std::string(name));
  for (const json::value& each : list->get_array()) {
    auto descriptor = descriptor_of(&each, std::string(name));
    if (!descriptor) return descriptor.error();
    all.push_back(*std::move(descriptor));
  }
  return all;
}

Result<json::object> object_of(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return Error{.code = Code::limit, .message = "the manifest has more than 4 MB"};
  }
  auto document = parse_json_value(text);
  if (!document) return no_document("is no JSON: " + document.error().message);
  if (!document->is_object()) return no_document("is no JSON object");
  const json::value* version = document->get_object().if_contains("schemaVersion");
  if (version == nullptr || *version != json::value(2)) return no_document("is not of schema version 2");
  return document->get_object();
}

json::object json_of(const Annotations& annotations) {
  json::object object;
  for (const auto& [key, value] : annotations) object[key] = value;
  return object;
}

json::object json_of(const Descriptor& descriptor) {
  json::object object{{"mediaType", descriptor.media_type}, {"digest", descriptor.digest}, {"size", descriptor.size}};
  if (!descriptor.artifact_type.empty()) object["artifactType"] = descriptor.artifact_type;
  if (descriptor.platform) {
    json::object platform{{"architecture", descriptor.platform->architecture}, {"os", descriptor.platform->os}};
    if (!descriptor.platform->variant.empty()) platform["variant"] = descriptor.platform->variant;
    object["platform"] = std::move(platform);
  }
  if (!descriptor.annotations.empty()) object["annotations"] = json_of(descriptor.annotations);
  return object;
}

}  // namespace

std::string to_string(const Platform& platform) {
  return platform.os + "/" + platform.architecture + (platform.variant.empty() ? "" : "/" + platform.variant);
}

Descriptor describe(std::string_view bytes, std::string_view media_type) {
  return {
      .media_type = std::string(media_type), .digest = crypto::to_string(crypto::sha256(bytes)), .size = bytes.size()};
}

bool is_index(std::string_view media_type) { return media_type == kIndexType || media_type == kDockerIndexType; }

Result<Manifest> parse_manifest(std::string_view text) {
  auto object = object_of(text);
  if (!object) return object.error();
  auto config = descriptor_of(object->if_contains("config"), "config");
  if (!config) return config.error();
  auto layers = descriptors_in(*object, "layers");
  if (!layers) return layers.error();
  Manifest manifest{.media_type = text_in(*object, "mediaType"),
                    .artifact_type = text_in(*object, "artifactType"),
                    .config = *std::move(config),
                    .layers = *std::move(layers),
                    .annotations = annotations_in(*object)};
  // Before there was a field for it, the config's type said what an artifact is.
  if (manifest.artifact_type.empty() && manifest.config.media_type != kEmptyType) {
    manifest.artifact_type = manifest.config.media_type;
  }
  if (const json::value* subject = object->if_contains("subject")) {
    auto of = descriptor_of(subject, "subject");
    if (!of) return of.error();
    manifest.subject = *std::move(of);
  }
  return manifest;
}

Result<Index> parse_index(std::string_view text) {
  auto object = object_of(text);
  if (!object) return object.error();
  auto manifests = descriptors_in(*object, "manifests");
  if (!manifests) return manifests.error();
  return Index{.media_type = text_in(*object, "mediaType"), .manifests = *std::move(manifests)};
}

std::string write_manifest(const Manifest& manifest) {
  json::array layers;
  for (const Descriptor& each : manifest.layers) layers.push_back(json_of(each));
  json::object object{{"schemaVersion", 2}, {"mediaType", manifest.media_type}};
  if (!manifest.artifact_type.empty()) object["artifactType"] = manifest.artifact_type;
  object["config"] = json_of(manifest.config);
  object["layers"] = std::move(layers);
  if (manifest.subject) object["subject"] = json_of(*manifest.subject);
  if (!manifest.annotations.empty()) object["annotations"] = json_of(manifest.annotations);
  return write(object);
}

std::string write_index(const Index& index) {
  json::array manifests;
  for (const Descriptor& each : index.manifests) manifests.push_back(json_of(each));
  return write(
      json::object{{"schemaVersion", 2}, {"mediaType", index.media_type}, {"manifests", std::move(manifests)}});
}

}  // namespace sluice::oci
