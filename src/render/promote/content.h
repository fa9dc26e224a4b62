// What a release is, apart from how it is written: the component, its type, the addons that both use, and the workload.
//
//   auto spec = freeze(kinds, "checkout");                    // content of what is defined now
//   auto content = resolve(*spec, read_git);                  // gitRefs fetched, gzip undone, parts checked
//   std::string identity = identity_of(*content);             // "sha256:…", the same for any way of writing it
//   auto made = render_component(kinds_of(*content), …);
//
// Two releases with one identity come to the same objects in every environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "render/promote/kinds.h"

namespace sluice::promote {

enum class Role { component, componentTypeDefinition, addon, workload };
BOOST_DESCRIBE_ENUM(Role, component, componentTypeDefinition, addon, workload)

struct Part {
  Role role = Role::component;
  std::string name;
  std::string text;  // canonical JSON, without status
  std::string digest;
};

struct Content {
  std::vector<Part> parts;  // component, type, addons by their names, workload
};

// The text of the file that a gitRef names.
using ReadGit = std::function<Result<std::string>(const GitRef&)>;

// Errors say which reference is wrong. A reference by Git without `read_git` is `unavailable`.
Result<Content> resolve(const ReleaseSpec& spec, const ReadGit& read_git);
std::string identity_of(const Content& content);
component::Kinds kinds_of(const Content& content);
const Part* part_of(const Content& content, Role role);

// A release of what is defined, with all content embedded; with an image, that is the workload's.
Result<ReleaseSpec> freeze(const component::Kinds& kinds, const std::string& component, const std::string& image);

// The image of the workload, and the same content with another one.
std::string image_of(const Content& content);
Result<Content> with_image(Content content, const std::string& image);

// A Release as JSON with digests in the place of definitions that are kept elsewhere, and with what is kept there
// again. A definition that has no digest, or of whose digest there is no text, stays as it is.
json::value without_content(json::value document,
                            const std::function<std::string(Role role, const std::string& name)>& digest_of);
json::value with_content(json::value document,
                         const std::function<std::optional<std::string>(const std::string& digest)>& text_of_digest);

// "checkout-20261119-3": the next of a component on a day, after those that are there.
std::string next_name(const std::string& component, int64_t seconds, const std::vector<std::string>& taken);

}  // namespace sluice::promote
