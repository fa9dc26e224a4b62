// Identity is taken of canonical JSON, so that neither the order of fields nor the style of YAML nor the way to a
// definition changes it.
#include "render/promote/content.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <set>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/yaml.h"
#include "crypto/sha256.h"
#include "render/promote/gzip.h"

namespace sluice::promote {
namespace {

constexpr size_t kMostContent = size_t{4} << 20;

Error wrong(const std::string& what, const std::string& message) {
  return {.code = Code::invalid, .message = what + ": " + message};
}

std::string text_of(const json::value& object, std::string_view pointer) {
  boost::system::error_code failed;
  const auto* found = object.find_pointer(pointer, failed);
  return found && !failed && found->is_string() ? std::string(found->as_string()) : "";
}

// The definition that a `content` stands for: itself, or what its gzip has.
Result<json::value> unpacked(const json::value& content, const std::string& what) {
  const auto* object = content.if_object();
  const auto* packed = object && object->size() == 1 ? object->if_contains("compressed") : nullptr;
  if (!packed) return content;
  if (!packed->is_string()) return wrong(what, "compressed content is base64 of gzip");
  auto text = ungzip(packed->as_string(), kMostContent);
  if (!text) return wrong(what, text.error().message);
  auto parsed = parse_yaml(*text, what);
  if (!parsed) return parsed.error();
  return std::move(parsed->root);
}

Result<Part> part_from(Role role, const std::string& name, json::value definition, std::string_view kind,
                       const std::string& what) {
  if (!definition.is_object()) return wrong(what, "this is no " + std::string(kind));
  definition.as_object().erase("status");
  if (const auto found = text_of(definition, "/kind"); found != kind) {
    return wrong(what, "expected a " + std::string(kind) + ", found " + (found.empty() ? "no kind" : found));
  }
  if (const auto found = text_of(definition, "/metadata/name"); found != name) {
    return wrong(what, "it is called '" + found + "', and the release calls it '" + name + "'");
  }
  auto text = canonical(definition);
  if (!text) return wrong(what, text.error().message);
  Part part{.role = role, .name = name, .text = *std::move(text), .digest = ""};
  part.digest = crypto::to_string(crypto::sha256(part.text));
  return part;
}

class Resolver {
 public:
  Resolver(const ReleaseSpec& spec, const ReadGit& read_git) : spec_(spec), read_git_(read_git) {}

  Result<Content> run() {
    Content content;
    auto own = fetch(Role::component, spec_.component, "Component", "component");
    if (!own) return own.error();
    auto type = fetch(Role::componentTypeDefinition, spec_.componentTypeDefinition, "ComponentTypeDefinition",
                      "componentTypeDefinition");
    if (!type) return type.error();
    content.parts.push_back(*std::move(own));
    content.parts.push_back(*std::move(type));
    std::vector<Part> addons;
    for (size_t index = 0; index < spec_.addons.size(); ++index) {
      auto addon = fetch(Role::addon, spec_.addons[index], "Addon", "addons/" + std::to_string(index));
      if (!addon) return addon.error();
      const auto same =
          std::find_if(addons.begin(), addons.end(), [&](const Part& each) { return each.name == addon->name; });
      if (same == addons.end()) {
        addons.push_back(*std::move(addon));
      } else if (same->digest != addon->digest) {
        return wrong("addons/" + std::to_string(index),
                     "there are two versions of '" + same->name + "' in the release");
      }
    }
    std::sort(addons.begin(), addons.end(), [](const Part& left, const Part& right) { return left.name < right.name; });
    for (auto& each : addons) content.parts.push_back(std::move(each));
    auto workload = part_from(Role::workload, spec_.component.name, spec_.workload, "Workload", "workload");
    if (!workload) return workload.error();
    content.parts.push_back(*std::move(workload));
    const auto kinds = kinds_of(content);
    if (!kinds.faults.empty()) return kinds.faults.front();
    if (auto sound = check(kinds); !sound) return sound.error();
    return content;
  }

 private:
  Result<Part> fetch(Role role, const Reference& reference, std::string_view kind, const std::string& what) {
    if (reference.content) {
      auto definition = unpacked(*reference.content, what);
      if (!definition) return definition.error();
      return part_from(role, reference.name, *std::move(definition), kind, what);
    }
    if (!reference.gitRef) return wrong(what, "there is neither gitRef nor content");
    if (!read_git_) return Error{.code = Code::unavailable, .message = what + ": there is no Git to read from"};
    auto text = read_git_(*reference.gitRef);
    if (!text) {
      Error error = text.error();
      error.message = what + ": " + error.message;
      return error;
    }
    auto documents = parse_yaml_stream(*text, reference.gitRef->path);
    if (!documents) return documents.error();
    for (auto& each : *documents) {
      if (text_of(each.root, "/kind") == kind && text_of(each.root, "/metadata/name") == reference.name) {
        return part_from(role, reference.name, std::move(each.root), kind, what);
      }
    }
    return wrong(what, reference.gitRef->path + " has no " + std::string(kind) + " '" + reference.name + "'");
  }

  Result<void> check(const component::Kinds& kinds) const {
    const auto& own = kinds.components.begin()->second.value.spec;
    const auto& type = kinds.types.begin()->second.value;
    const auto named = own.componentType.substr(own.componentType.find('/') + 1);
    if (named != type.metadata.name) {
      return wrong("component", "it is of the type '" + named + "', and the release has '" + type.metadata.name + "'");
    }
    for (const auto* uses : {&type.spec.addons, &own.addons}) {
      for (const auto& use : *uses) {
        if (!kinds.addons.contains(use.name)) return wrong("addons", "the release lacks the addon '" + use.name + "'");
      }
    }
    return {};
  }

  const ReleaseSpec& spec_;
  const ReadGit& read_git_;
};

}  // namespace

Result<Content> resolve(const ReleaseSpec& spec, const ReadGit& read_git) { return Resolver(spec, read_git).run(); }

std::string identity_of(const Content& content) {
  json::array parts;
  for (const Part& each : content.parts) {
    parts.push_back({{"role", boost::describe::enum_to_string(each.role, "")}, {"digest", each.digest}});
  }
  const auto text = canonical(json::value(std::move(parts)));
  return crypto::to_string(crypto::sha256(text ? *text : ""));
}

component::Kinds kinds_of(const Content& content) {
  std::vector<Document> documents;
  for (const Part& each : content.parts) {
    auto parsed = parse_json(each.text, std::string(boost::describe::enum_to_string(each.role, "")) + " " + each.name);
    if (parsed) documents.push_back(std::move(*parsed));
  }
  return component::read_kinds(std::move(documents));
}

const Part* part_of(const Content& content, Role role) {
  for (const Part& each : content.parts) {
    if (each.role == role) return &each;
  }
  return nullptr;
}

Result<ReleaseSpec> freeze(const component::Kinds& kinds, const std::string& component, const std::string& image) {
  const auto missing = [&](const std::string& what) {
    return Error{.code = Code::not_found, .message = "there is no " + what, .next = "apply it first"};
  };
  const auto own = kinds.components.find(component);
  if (own == kinds.components.end()) return missing("Component '" + component + "'");
  const auto& named = own->second.value.spec.componentType;
  const auto type_name = named.substr(named.find('/') + 1);
  const auto type = kinds.types.find(type_name);
  if (type == kinds.types.end()) return missing("ComponentTypeDefinition '" + type_name + "'");
  const auto workload = kinds.workloads.find(component);
  if (workload == kinds.workloads.end()) return missing("Workload '" + component + "'");
  ReleaseSpec spec{.component = {.name = component, .content = own->second.document.root},
                   .componentTypeDefinition = {.name = type_name, .content = type->second.document.root},
                   .workload = workload->second.document.root};
  std::set<std::string> seen;
  for (const auto* uses : {&type->second.value.spec.addons, &own->second.value.spec.addons}) {
    for (const auto& use : *uses) {
      const auto addon = kinds.addons.find(use.name);
      if (addon == kinds.addons.end()) return missing("Addon '" + use.name + "'");
      if (seen.insert(use.name).second) {
        spec.addons.push_back({.name = use.name, .content = addon->second.document.root});
      }
    }
  }
  if (!image.empty()) spec.workload.as_object()["spec"].as_object()["image"] = image;
  return spec;
}

std::string image_of(const Content& content) {
  const Part* workload = part_of(content, Role::workload);
  if (!workload) return "";
  const auto parsed = parse_json(workload->text);
  return parsed ? text_of(parsed->root, "/spec/image") : "";
}

Result<Content> with_image(Content content, const std::string& image) {
  for (Part& each : content.parts) {
    if (each.role != Role::workload) continue;
    auto parsed = parse_json(each.text);
    if (!parsed) return parsed.error();
    parsed->root.as_object()["spec"].as_object()["image"] = image;
    auto text = canonical(parsed->root);
    if (!text) return text.error();
    each.text = *std::move(text);
    each.digest = crypto::to_string(crypto::sha256(each.text));
  }
  return content;
}

namespace {

// Calls visit for each place of a Release where a definition stands.
void each_definition(json::value& document,
                     const std::function<void(Role role, const std::string& name, json::value& content)>& visit) {
  auto* object = document.if_object();
  json::value* spec = object ? object->if_contains("spec") : nullptr;
  if (!spec || !spec->is_object()) return;
  const auto reference = [&](Role role, json::value* each) {
    json::value* content = each && each->is_object() ? each->as_object().if_contains("content") : nullptr;
    if (content && !content->is_null()) visit(role, text_of(*each, "/name"), *content);
  };
  reference(Role::component, spec->as_object().if_contains("component"));
  reference(Role::componentTypeDefinition, spec->as_object().if_contains("componentTypeDefinition"));
  json::value* addons = spec->as_object().if_contains("addons");
  if (addons && addons->is_array()) {
    for (json::value& each : addons->as_array()) reference(Role::addon, &each);
  }
  if (json::value* workload = spec->as_object().if_contains("workload")) {
    visit(Role::workload, text_of(*spec, "/component/name"), *workload);
  }
}

}  // namespace

json::value without_content(json::value document,
                            const std::function<std::string(Role role, const std::string& name)>& digest_of) {
  each_definition(document, [&](Role role, const std::string& name, json::value& content) {
    if (auto digest = digest_of(role, name); !digest.empty()) content = digest;
  });
  return document;
}

json::value with_content(json::value document,
                         const std::function<std::optional<std::string>(const std::string& digest)>& text_of_digest) {
  each_definition(document, [&](Role, const std::string&, json::value& content) {
    if (!content.is_string()) return;
    const auto text = text_of_digest(std::string(content.as_string()));
    auto parsed = text ? parse_json_value(*text) : Result<json::value>(Error{});
    if (text && parsed) content = *std::move(parsed);
  });
  return document;
}

std::string next_name(const std::string& component, int64_t seconds, const std::vector<std::string>& taken) {
  const auto moment = static_cast<std::time_t>(seconds);
  std::tm day{};
  gmtime_r(&moment, &day);
  char text[16];
  std::strftime(text, sizeof(text), "%Y%m%d", &day);
  const std::string prefix = component + "-" + text + "-";
  int64_t most = 0;
  for (const std::string& name : taken) {
    if (!name.starts_with(prefix)) continue;
    int64_t number = 0;
    const char* end = name.data() + name.size();
    const auto [stopped, failed] = std::from_chars(name.data() + prefix.size(), end, number);
    if (failed == std::errc() && stopped == end) most = std::max(most, number);
  }
  return prefix + std::to_string(most + 1);
}

}  // namespace sluice::promote
