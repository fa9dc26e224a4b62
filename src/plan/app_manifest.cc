// Faults are gathered by reading again without what is at fault, until the rest can be read: the strict reader itself
// ends at the first.
#include "plan/app_manifest.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "base/json.h"
#include "base/json_place.h"
#include "base/json_reader.h"
#include "base/json_schema.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/yaml.h"

namespace sluice::plan {
namespace {

constexpr size_t kMaxFaults = 100;
constexpr uint32_t kMaxReplicas = 1'000;
constexpr std::array<std::string_view, 4> kStrategies = {"canary", "blue-green", "rolling", "immediate"};
// Sections that an overlay may say otherwise.
constexpr std::array<std::string_view, 7> kSections = {"runtimes",       "components",    "concepts",  "rollout",
                                                       "infrastructure", "observability", "migrations"};

// ------------------------------------------------------------------------------------------------------- variables

// Fields whose value is a secret keep their ${VARIABLE}: what is in a plan is in the journal.
bool is_secret_field(std::string_view name) {
  return name == "apiKey" || name == "token" || name == "password" || name == "secret";
}

class Variables {
 public:
  Variables(const Document& document, const ManifestSource& source) : document_(document), source_(source) {
    const json::object* app = nullptr;
    if (const auto* root = document.root.if_object()) {
      if (const json::value* found = root->if_contains("app")) app = found->if_object();
    }
    if (app == nullptr) return;
    for (const auto& each : *app) {
      if (each.value().is_string()) app_["app." + std::string(each.key())] = each.value().get_string();
    }
  }

  std::map<std::string, std::string> used;

  void replace(json::value& node, const Place& place, bool secret, std::vector<Error>& faults) {
    if (auto* object = node.if_object()) {
      for (auto& each : *object) {
        const std::string_view key(each.key().data(), each.key().size());
        replace(each.value(), place.member(key), is_secret_field(key), faults);
      }
    } else if (auto* array = node.if_array()) {
      size_t index = 0;
      for (json::value& each : *array) replace(each, place.element(index++), secret, faults);
    } else if (auto* text = node.if_string()) {
      std::string_view view(text->data(), text->size());
      if (view.find("${") == std::string_view::npos) return;
      std::string filled = fill(view, place, secret, faults);
      if (!secret) node = filled;
    }
  }

 private:
  std::string fill(std::string_view text, const Place& place, bool secret, std::vector<Error>& faults) {
    std::string filled;
    while (!text.empty()) {
      const size_t at = text.find("${");
      if (at == std::string_view::npos) break;
      if (at > 0 && text[at - 1] == '$') {  // $${ is ${ itself
        filled += std::string(text.substr(0, at - 1)) + "${";
        text.remove_prefix(at + 2);
        continue;
      }
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos) {
        refuse(faults, place, "a ${ without its }");
        break;
      }
      filled += text.substr(0, at);
      const std::string name(text.substr(at + 2, end - at - 2));
      if (auto value = value_of(name, secret)) {
        filled += *value;
      } else {
        refuse(faults, place, "${" + name + "} is not set");
      }
      text.remove_prefix(end + 1);
    }
    return filled.append(text);
  }

  std::optional<std::string> value_of(const std::string& name, bool secret) {
    if (name == "environment") return source_.environment;
    if (auto found = app_.find(name); found != app_.end()) return found->second;
    auto value = source_.variable ? source_.variable(name) : "${" + name + "}";
    if (value && !secret) used[name] = *value;
    return value;
  }

  void refuse(std::vector<Error>& faults, const Place& place, std::string message) {
    const std::string path = place.pointer();
    faults.push_back(
        {.code = Code::invalid, .message = std::move(message), .path = path, .position = document_.position_of(path)});
  }

  const Document& document_;
  const ManifestSource& source_;
  std::map<std::string, std::string> app_;
};

// ---------------------------------------------------------------------------------------------------- every fault

// Removes nodes from a copy of the tree, and knows what a path of the copy is in the original.
class Pruned {
 public:
  explicit Pruned(json::value root) : root_(std::move(root)) {}

  const json::value& root() const { return root_; }

  // Removes the node at a pointer, or its parent if it is not there; the member that it removed; none of an element.
  std::optional<std::string> remove(std::string pointer) {
    while (!pointer.empty()) {
      const size_t slash = pointer.rfind('/');
      const std::string parent = pointer.substr(0, slash);
      const std::string token = unescaped(pointer.substr(slash + 1));
      boost::system::error_code ignored;
      json::value* owner = root_.find_pointer(parent, ignored);
      if (owner != nullptr && owner->is_object() && owner->get_object().erase(token) > 0) return pointer;
      if (owner != nullptr && owner->is_array()) {
        size_t index = 0;
        std::from_chars(token.data(), token.data() + token.size(), index);
        if (index < owner->get_array().size()) {
          const std::string original = original_path(parent);
          removed_[original].push_back(original_index(original, index));
          owner->get_array().erase(owner->get_array().begin() + static_cast<std::ptrdiff_t>(index));
          return std::nullopt;
        }
      }
      pointer = parent;
    }
    over_ = true;
    return std::nullopt;
  }
  bool over() const { return over_; }

  std::string original_path(const std::string& pointer) const {
    std::string original;
    for (size_t at = 0; at < pointer.size();) {
      size_t end = pointer.find('/', at + 1);
      if (end == std::string::npos) end = pointer.size();
      std::string token = pointer.substr(at + 1, end - at - 1);
      if (auto found = removed_.find(original); found != removed_.end()) {
        size_t index = 0;
        std::from_chars(token.data(), token.data() + token.size(), index);
        token = std::to_string(original_index(original, index));
      }
      original += "/" + token;
      at = end;
    }
    return original;
  }

 private:
  static std::string unescaped(std::string token) {
    for (const auto& [from, to] : {std::pair<std::string_view, char>{"~1", '/'}, {"~0", '~'}}) {
      for (size_t at = token.find(from); at != std::string::npos; at = token.find(from, at + 1)) {
        token.replace(at, 2, 1, to);
      }
    }
    return token;
  }

  size_t original_index(const std::string& array, size_t index) const {
    auto found = removed_.find(array);
    if (found == removed_.end()) return index;
    std::vector<size_t> gone = found->second;
    std::ranges::sort(gone);
    for (size_t each : gone) index += each <= index ? 1 : 0;
    return index;
  }

  json::value root_;
  bool over_ = false;                                   // nothing more can be removed
  std::map<std::string, std::vector<size_t>> removed_;  // by array, in the original
};

std::optional<AppManifest> read_telling_all(const Document& document, std::vector<Error>& faults) {
  Pruned tree(document.root);
  std::set<std::string> told;
  while (faults.size() < kMaxFaults) {
    auto manifest = read<AppManifest>(tree.root());
    if (manifest) return *std::move(manifest);
    Error error = manifest.error();
    const std::string at = error.path;
    error.path = tree.original_path(at);
    error.position = document.position_of(error.path);
    // What is missing because it was removed has been told already.
    if (told.insert(error.path).second) {
      faults.push_back(std::move(error));
    }
    if (auto gone = tree.remove(at)) told.insert(tree.original_path(*gone));
    if (tree.over()) return std::nullopt;
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------------------ the rules

class ManifestRules {
 public:
  ManifestRules(const AppManifest& manifest, const Document& document, std::vector<Error>& faults)
      : manifest_(manifest), document_(document), faults_(faults) {}

  void check() {
    if (manifest_.app.name.empty()) refuse("/app/name", "an app has a name");
    if (manifest_.app.version.empty()) refuse("/app/version", "an app has a version");
    kits();
    for (const auto& [name, component] : manifest_.components) {
      this->component("/components/" + escaped(name), name, component, true);
    }
    for (const auto& [name, component] : manifest_.concepts) {
      const std::string path = "/concepts/" + escaped(name);
      this->component(path, name, component, false);
      if (manifest_.components.contains(name)) refuse(path, name + " is a component already");
    }
    if (manifest_.rollout) rollout("/rollout", *manifest_.rollout);
    if (manifest_.observability) sampling("/observability/samplingRate", manifest_.observability->samplingRate);
    environments();
  }

 private:
  static std::string escaped(const std::string& name) {
    std::string pointer;
    append_pointer_token(pointer, name);
    return pointer.substr(1);
  }

  void refuse(const std::string& path, std::string message) {
    if (faults_.size() >= kMaxFaults) return;
    faults_.push_back(
        {.code = Code::invalid, .message = std::move(message), .path = path, .position = document_.position_of(path)});
  }

  void kits() {
    std::set<std::string> names;
    for (size_t i = 0; i < manifest_.kits.size(); ++i) {
      const std::string path = "/kits/" + std::to_string(i);
      if (manifest_.kits[i].name.empty()) refuse(path + "/name", "a kit has a name");
      if (!names.insert(manifest_.kits[i].name).second) refuse(path + "/name", "this kit is named twice");
      if (manifest_.kits[i].name == "deploy") refuse(path + "/name", "deploy is Sluice's own kit");
    }
  }

  static bool is_name(const std::string& name) {
    return !name.empty() && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
  }

  void component(const std::string& path, const std::string& name, const Component& component, bool whole) {
    if (!is_name(name)) refuse(path, "a component's name has letters, digits, - and _, 63 at most");
    const int sources = (component.folder ? 1 : 0) + (component.bundle ? 1 : 0) + (component.image ? 1 : 0);
    if (sources > 1) refuse(path, "only one of \"folder\", \"bundle\" and \"image\" says what it is made of");
    if (whole && sources == 0) refuse(path, "one of \"folder\", \"bundle\" and \"image\" says what it is made of");
    if (component.runtime && !manifest_.runtimes.contains(*component.runtime)) {
      refuse(path + "/runtime", "there is no runtime " + *component.runtime + known(manifest_.runtimes));
    }
    for (size_t i = 0; i < component.needs.size(); ++i) {
      const std::string at = path + "/needs/" + std::to_string(i);
      const std::string& need = component.needs[i];
      if (!manifest_.components.contains(need) && !manifest_.concepts.contains(need)) {
        refuse(at, "there is no component " + need + known(manifest_.components));
      }
    }
    for (size_t i = 0; i < component.routes.size(); ++i) {
      if (!component.routes[i].path.starts_with('/')) {
        refuse(path + "/routes/" + std::to_string(i) + "/path", "a path begins with /");
      }
    }
    if (component.replicas && (*component.replicas < 1 || *component.replicas > kMaxReplicas)) {
      refuse(path + "/replicas", "from 1 to 1000");
    }
  }

  template <class Map>
  static std::string known(const Map& map) {
    std::string names;
    for (const auto& [name, each] : map) names += (names.empty() ? "; there is " : ", ") + name;
    return names;
  }

  void rollout(const std::string& path, const Rollout& rollout) {
    if (std::ranges::find(kStrategies, rollout.strategy) == kStrategies.end()) {
      refuse(path + "/strategy", "expected canary, blue-green, rolling or immediate");
    }
    const bool blue_green = rollout.strategy == "blue-green";
    double before = -1;
    for (size_t i = 0; i < rollout.steps.size(); ++i) {
      const std::string at = path + "/steps/" + std::to_string(i) + "/weight";
      const double weight = rollout.steps[i].weight;
      if (blue_green) {
        if (weight != 0 && weight != 100) refuse(at, "blue-green gives 0 or 100 per cent, nothing between");
      } else if (!(weight >= 0.01 && weight <= 100)) {
        refuse(at, "a weight is at least 0.01 and at most 100 per cent");
      }
      if (weight <= before) refuse(at, "a step's weight is above that of the step before");
      if (weight == 100 && rollout.steps[i].pause) {
        refuse(path + "/steps/" + std::to_string(i) + "/pause",
               "nothing comes after 100 per cent; `after` says how long it is judged then");
      }
      before = weight;
    }
    if (rollout.strategy == "immediate" && !rollout.steps.empty()) {
      refuse(path + "/steps", "immediate gives everything at once and has no steps");
    }
    const bool rolling = rollout.strategy == "rolling";
    if (rolling && !rollout.steps.empty()) {
      refuse(path + "/steps", "rolling makes its steps of the replicas; `batch` says how many are replaced at a time");
    }
    if (!rolling && rollout.batch) refuse(path + "/batch", "a batch is of rolling alone");
    if (!rolling && rollout.pause) refuse(path + "/pause", "a pause of all steps is of rolling alone");
    if (rollout.batch && (*rollout.batch < 1 || *rollout.batch > 1'000)) refuse(path + "/batch", "from 1 to 1000");
    if (rollout.analysis && rollout.analysis->maxErrorRate &&
        !(*rollout.analysis->maxErrorRate >= 0 && *rollout.analysis->maxErrorRate <= 1)) {
      refuse(path + "/analysis/maxErrorRate", "a share from 0 to 1");
    }
  }

  void sampling(const std::string& path, const std::optional<double>& rate) {
    if (rate && !(*rate >= 0 && *rate <= 1)) refuse(path, "a share from 0 to 1");
  }

  void environments() {
    for (const auto& [name, each] : manifest_.environments) {
      const std::string path = "/environments/" + escaped(name);
      if (each.observability) sampling(path + "/observability/samplingRate", each.observability->samplingRate);
      if (each.overrides && each.overrides->observability) {
        sampling(path + "/overrides/observability/samplingRate", each.overrides->observability->samplingRate);
      }
      for (const auto* overlay : {static_cast<const Overlay*>(&each), each.overrides ? &*each.overrides : nullptr}) {
        if (overlay == nullptr || !overlay->components) continue;
        const std::string at = path + (overlay == &each ? "" : "/overrides") + "/components/";
        for (const auto& [part, ignored] : *overlay->components) {
          if (!manifest_.components.contains(part)) {
            refuse(at + escaped(part), "there is no component " + part + known(manifest_.components));
          }
        }
      }
    }
  }

  const AppManifest& manifest_;
  const Document& document_;
  std::vector<Error>& faults_;
};

// --------------------------------------------------------------------------------------------------------- overlays

// Where a value was said last.
using Origins = std::map<std::string, std::string>;

void note_origin(const json::value& value, const std::string& path, const std::string& from, Origins& origins) {
  if (const auto* object = value.if_object()) {
    for (const auto& each : *object) {
      std::string inner = path;
      append_pointer_token(inner, {each.key().data(), each.key().size()});
      note_origin(each.value(), inner, from, origins);
    }
  } else {
    origins[path] = from;
  }
}

// Lays `over` on `base`: maps are merged, everything else replaces what was there.
void lay(json::value& base, const json::value& over, const std::string& path, const std::string& from, Origins& origins,
         std::vector<std::string>& conflicts) {
  if (!base.is_object() || !over.is_object()) {
    if (!base.is_null() && base.is_object() != over.is_object()) {
      conflicts.push_back(path + ": " + from + " says " + (over.is_object() ? "a map" : write(over)) + " over " +
                          (base.is_object() ? "a map" : write(base)));
      return;
    }
    base = over;
    note_origin(over, path, from, origins);
    return;
  }
  for (const auto& each : over.get_object()) {
    std::string inner = path;
    append_pointer_token(inner, {each.key().data(), each.key().size()});
    lay(base.get_object()[each.key()], each.value(), inner, from, origins, conflicts);
  }
}

// The same value said twice by one environment, otherwise each time.
void find_doubles(const json::value& a, const json::value& b, const std::string& path, const std::string& place,
                  std::vector<std::string>& conflicts) {
  if (a.is_object() && b.is_object()) {
    for (const auto& each : a.get_object()) {
      const json::value* other = b.get_object().if_contains(each.key());
      std::string inner = path;
      append_pointer_token(inner, {each.key().data(), each.key().size()});
      if (other != nullptr) find_doubles(each.value(), *other, inner, place, conflicts);
    }
  } else if (a != b) {
    conflicts.push_back(path + ": " + place + path + " says " + write(a) + ", " + place + "/overrides" + path +
                        " says " + write(b));
  }
}

ResolveOutcome unresolved(ResolveFault fault, std::vector<std::string> details) {
  return {.resolved = std::nullopt, .unresolved = Unresolved{fault, std::move(details)}};
}

void list_values(const json::value& value, const std::string& path, std::map<std::string, json::value>& all) {
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    for (const auto& each : *object) {
      std::string inner = path;
      append_pointer_token(inner, {each.key().data(), each.key().size()});
      list_values(each.value(), inner, all);
    }
  } else {
    all[path] = value;
  }
}

}  // namespace

ParsedManifest parse_app_manifest(std::string_view text, const std::string& file, const ManifestSource& source) {
  ParsedManifest parsed;
  if (text.size() > kMaxManifestBytes) {
    parsed.faults.push_back({.code = Code::limit,
                             .message = file + " has " + std::to_string(text.size()) +
                                        " bytes; a manifest has at most " + std::to_string(kMaxManifestBytes)});
    return parsed;
  }
  auto document = parse_yaml(text, file);
  if (!document) {
    parsed.faults.push_back(document.error());
    return parsed;
  }
  parsed.document = *std::move(document);
  json::value filled = parsed.document.root;
  Variables variables(parsed.document, source);
  variables.replace(filled, Place(), false, parsed.faults);
  parsed.used = std::move(variables.used);
  parsed.document.root = std::move(filled);
  auto manifest = read_telling_all(parsed.document, parsed.faults);
  if (manifest) ManifestRules(*manifest, parsed.document, parsed.faults).check();
  std::ranges::stable_sort(parsed.faults, {}, [](const Error& each) {
    return each.position ? std::pair(each.position->line, each.position->column) : std::pair(0U, 0U);
  });
  if (parsed.faults.empty()) parsed.manifest = std::move(manifest);
  return parsed;
}

ResolveOutcome resolve_overlays(const Document& document, const std::string& environment) {
  Resolved resolved;
  resolved.root = document.root;
  if (!resolved.root.is_object()) return unresolved(ResolveFault::invalid, {"the manifest is not a map"});
  json::object& root = resolved.root.get_object();
  json::object environments;
  if (auto found = root.find("environments"); found != root.end()) {
    if (found->value().is_object()) environments = found->value().get_object();
    root.erase(found);
  }
  std::vector<std::string> chain;  // the environment first, what it extends after it
  for (std::string name = environment; environments.contains(name);) {
    if (std::ranges::find(chain, name) != chain.end()) {
      std::string loop;
      for (const std::string& each : chain) loop += each + " extends ";
      return unresolved(ResolveFault::too_deep, {loop + name});
    }
    chain.push_back(name);
    if (chain.size() > kMaxExtends) {
      return unresolved(ResolveFault::too_deep, {environment + " extends more than 8 environments in a row"});
    }
    const json::value* said = environments.at(name).as_object().if_contains("extends");
    if (said == nullptr) break;
    const std::string base(said->as_string());
    if (!environments.contains(base)) {
      return unresolved(ResolveFault::missing_base, {name + " extends " + base + ", which the manifest does not have"});
    }
    name = base;
  }
  std::vector<std::string> conflicts;
  for (auto name = chain.rbegin(); name != chain.rend(); ++name) {
    const json::object& overlay = environments.at(*name).as_object();
    const std::string place = "environments/" + *name;
    json::object direct;
    for (std::string_view section : kSections) {
      if (const json::value* said = overlay.if_contains(section)) direct[section] = *said;
    }
    json::value said(direct);
    const json::value* overrides = overlay.if_contains("overrides");
    if (overrides != nullptr) find_doubles(said, *overrides, "", place, conflicts);
    lay(resolved.root, said, "", place, resolved.origins, conflicts);
    if (overrides != nullptr) {
      lay(resolved.root, *overrides, "", place + "/overrides", resolved.origins, conflicts);
    }
    if (const json::value* secrets = overlay.if_contains("secrets")) {
      lay(resolved.root, json::object{{"secrets", *secrets}}, "", place, resolved.origins, conflicts);
    }
  }
  if (!conflicts.empty()) return unresolved(ResolveFault::conflicting, std::move(conflicts));
  auto manifest = read<AppManifest>(resolved.root);
  if (!manifest) return unresolved(ResolveFault::conflicting, {to_string(manifest.error())});
  resolved.manifest = *std::move(manifest);
  return {.resolved = std::move(resolved), .unresolved = std::nullopt};
}

std::vector<std::string> differences(const Resolved& a, const std::string& name_a, const Resolved& b,
                                     const std::string& name_b) {
  std::map<std::string, json::value> values_a, values_b;
  list_values(a.root, "", values_a);
  list_values(b.root, "", values_b);
  auto told = [](const std::map<std::string, json::value>& values, const Resolved& of, const std::string& name,
                 const std::string& path) {
    auto found = values.find(path);
    if (found == values.end()) return name + ": nothing";
    auto origin = of.origins.find(path);
    return name + ": " + write(found->second) + " (" + (origin == of.origins.end() ? "manifest" : origin->second) + ")";
  };
  std::set<std::string> paths;
  for (const auto& [path, value] : values_a) paths.insert(path);
  for (const auto& [path, value] : values_b) paths.insert(path);
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    auto in_a = values_a.find(path), in_b = values_b.find(path);
    if (in_a != values_a.end() && in_b != values_b.end() && in_a->second == in_b->second) continue;
    lines.push_back(path + "  " + told(values_a, a, name_a, path) + ", " + told(values_b, b, name_b, path));
  }
  return lines;
}

json::value app_manifest_schema() {
  return json_schema<AppManifest>("A deploy manifest, app.deploy.yaml", "urn:sluice:schema:app-manifest");
}

std::string app_manifest_template(const std::string& app,
                                  const std::vector<std::pair<std::string, std::string>>& components) {
  std::string text =
      R"(# What this app is made of, and how it is deployed. `sluice deploy plan --env local` shows what would change;
# `sluice deploy --env local` makes it so.
app:
  name: )" +
      app + R"(
  version: 0.1.0

# A component is a folder with a bundle.yaml, which is built when the plan is made, or a bundle that was built before.
components:
)";
  for (const auto& [name, folder] : components) text += "  " + name + ":\n    folder: " + folder + "\n";
  text += R"(    # routes: [{ path: /shop }]      # else those of its bundle.yaml, else NAME.localhost
    # needs: [other]                 # components that must serve before this one starts
    # settings: { GREETING: hello }  # answers to what its bundle.yaml asks under `config`
    # replicas: 2                    # else as its bundle.yaml says, and so of
    # health: { path: /ready }       # the fields of its health check

# What differs between environments; `extends` takes over what another one says. Outside local, each component runs for
# a customer.
# environments:
#   staging:
#     components:
#       NAME: { customer: acme, settings: { GREETING: hello from staging } }

# After a failure: rollback (undo what was done) or stop.
# onFailure: rollback
# While another plan of the environment runs: queue or supersede.
# concurrency: queue
)";
  return text;
}

}  // namespace sluice::plan
