// A BundleDeployment is read strictly; other objects go to the cluster as they are.
#include "render/promote/target.h"

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "crypto/sha256.h"

namespace sluice::promote {
namespace {

constexpr std::string_view kOurs = "sluice.dev/v1";

struct BundleObject {
  std::string apiVersion, kind;
  json::value metadata;
  BundleSpec spec;
};
BOOST_DESCRIBE_STRUCT(BundleObject, (), (apiVersion, kind, metadata, spec))

bool is_bundle(const json::value& object) {
  const auto* members = object.if_object();
  const auto* version = members ? members->if_contains("apiVersion") : nullptr;
  return version && version->is_string() && version->as_string() == kOurs;
}

}  // namespace

Result<Target> target_of(const std::vector<json::value>& objects) {
  Target target;
  json::array all;
  for (const json::value& each : objects) {
    all.push_back(each);
    if (!is_bundle(each)) {
      target.objects.push_back(each);
      continue;
    }
    auto read_object = read<BundleObject>(each);
    if (!read_object) return read_object.error();
    if (read_object->kind != "BundleDeployment") {
      return Error{.code = Code::invalid, .message = "sluice.dev/v1 has no kind '" + read_object->kind + "'"};
    }
    if (target.bundle) return Error{.code = Code::invalid, .message = "a component makes one BundleDeployment"};
    if (!read_object->spec.config.is_object()) {
      return Error{.code = Code::invalid, .message = "expected an object", .path = "/spec/config"};
    }
    if (read_object->spec.replicas && *read_object->spec.replicas < 1) {
      return Error{.code = Code::invalid, .message = "expected 1 or more", .path = "/spec/replicas"};
    }
    const auto& rollout = read_object->spec.rollout;
    if (rollout && !rollout->analysis.is_null() && !rollout->analysis.is_object()) {
      return Error{.code = Code::invalid, .message = "expected an object", .path = "/spec/rollout/analysis"};
    }
    target.bundle = std::move(read_object->spec);
  }
  if (target.bundle && !target.objects.empty()) {
    return Error{.code = Code::invalid, .message = "a component makes a BundleDeployment or other objects, not both"};
  }
  auto text = canonical(json::value(std::move(all)));
  if (!text) return text.error();
  target.text = *std::move(text);
  target.hash = crypto::to_string(crypto::sha256(target.text));
  return target;
}

Result<Target> parse_target(const std::string& text) {
  auto parsed = parse_json_value(text);
  if (!parsed) return parsed.error();
  const auto* all = parsed->if_array();
  if (!all) return Error{.code = Code::invalid, .message = "expected a list of objects"};
  return target_of({all->begin(), all->end()});
}

}  // namespace sluice::promote
