// For each component that changes: revision, routes, traffic, one after the other; what it needs serves before
// it starts. What leaves goes after those that needed it have their new revision. A kit's syncs wait for the concepts
// that they name.
#include "plan/planner.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "base/json_place.h"

namespace sluice::plan {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& each : texts) all += (all.empty() ? "" : " ") + each;
  return all.empty() ? "-" : all;
}

// As much of a digest as tells two apart.
std::string short_digest(const std::string& digest) {
  return digest.substr(0, std::string_view("sha256:").size() + 12);
}

// What a pack's descriptor calls it: "local-process" of sluice.deployer.local-process@1.0.0.
std::string pack_word(const std::string& descriptor) {
  const std::string path = descriptor.substr(0, descriptor.find('@'));
  return path.substr(path.rfind('.') + 1);
}

// What a document says at a place; null if nothing.
const json::value* said_at(const json::value& root, const std::string& pointer) {
  const json::value* at = &root;
  for (size_t begin = 1; at != nullptr && begin <= pointer.size();) {
    const size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string token = pointer.substr(begin, end - begin);
    if (const auto* object = at->if_object()) {
      const auto found = std::ranges::find_if(*object, [&](const auto& each) {
        std::string own;
        append_pointer_token(own, {each.key().data(), each.key().size()});
        return own.compare(1, std::string::npos, token) == 0;
      });
      at = found == object->end() ? nullptr : &found->value();
    } else {
      at = nullptr;
    }
    begin = end + 1;
  }
  return at;
}

class Planner {
 public:
  Planner(const AppManifest& manifest, const Document& document, const Situation& situation)
      : manifest_(manifest), document_(document), situation_(situation) {}

  Planned plan() {
    for (const auto& [name, component] : manifest_.components) components_[name] = {&component, "/components/"};
    for (const auto& [name, component] : manifest_.concepts) components_[name] = {&component, "/concepts/"};
    providers();
    not_yet();
    observability();
    for (const auto& [name, part] : components_) add_component(name, part);
    deployer();
    transports();
    for (const auto& [name, part] : components_) add_needs(name, *part.component);
    for (const KitOffer& each : situation_.kits) add_kit(each);
    add_checks();
    add_leaving();
    if (!planned_.missing.empty() || !planned_.mismatches.empty()) return std::move(planned_);
    MadeGraph made = std::move(maker_).finish();
    planned_.cycle = std::move(made.cycle);
    if (made.graph) planned_.graph = *std::move(made.graph);
    return std::move(planned_);
  }

 private:
  struct Part {
    const Component* component = nullptr;
    std::string_view section;
  };
  // The first and last node of what happens to a component.
  struct Steps {
    std::optional<uint32_t> first;  // which waits for what others do
    uint32_t deploy = 0;
    uint32_t transport = 0;
    uint32_t last = 0;
    bool deploys = false;
  };

  static std::string pointer(std::string_view section, const std::string& name) {
    std::string path(section.substr(0, section.size() - 1));
    append_pointer_token(path, name);
    return path;
  }

  // Where it is said what holds in the environment: by an overlay, if one says something else than the rest.
  std::string origin_of(const std::string& path) const {
    std::string environment = situation_.environment;
    for (size_t i = 0; i <= kMaxExtends; ++i) {
      const std::string own = pointer("/environments/", environment);
      for (const std::string& overlay : {own + "/overrides", own}) {
        const json::value* said = said_at(document_.root, overlay + path);
        if (said == nullptr) continue;
        const json::value* first = said_at(document_.root, path);
        return first != nullptr && *first == *said ? path : overlay + path;
      }
      const json::value* base = said_at(document_.root, own + "/extends");
      if (base == nullptr || !base->is_string()) break;
      environment = std::string(base->get_string());
    }
    return path;
  }

  void miss(const std::string& path, const std::string& message) {
    auto place = document_.position_of(origin_of(path));
    planned_.missing.push_back((place ? to_string(*place) + ": " : "") + message);
  }

  // ---- what must be loaded

  void provider(const std::string& path, const std::string& slot, const std::string& wanted, const std::string& what) {
    auto bound = situation_.packs.find(slot);
    if (bound != situation_.packs.end()) {
      const std::string word = pack_word(bound->second);
      if (word == wanted || (wanted == "local" && word == "local-process")) return;
      miss(path, what + " " + wanted + " is served by no pack: the slot " + slot + " of " + situation_.environment +
                     " has " + bound->second);
      return;
    }
    miss(path, what + " " + wanted + " is served by no pack: nothing is bound to the slot " + slot + " of " +
                   situation_.environment);
  }

  // Where nothing deploys, nothing can be deployed.
  void deployer() {
    if (steps_.empty() || situation_.packs.contains("deployer")) return;
    const std::string& first = steps_.begin()->first;
    miss(pointer(components_.at(first).section, first),
         first + " cannot run: nothing is bound to the slot deployer of " + situation_.environment);
  }

  void storage(const std::string& path, const std::string& wanted) {
    if (wanted != "local" && wanted != "none")
      miss(path, "the storage " + wanted + " is served by no pack; there is local");
  }

  // What is said and not done yet: refused where something would run otherwise than it says, else told.
  void not_yet() {
    for (size_t i = 0; i < manifest_.kits.size(); ++i) {
      const Kit& kit = manifest_.kits[i];
      const std::string path = "/kits/" + std::to_string(i);
      if (kit.path) continue;  // its syncs are registered
      auto here = situation_.deployed.find(kit.name);
      if (here == situation_.deployed.end()) {
        miss(path, "no plan has brought the kit " + kit.name + " to " + situation_.environment);
      } else if (kit.version && *kit.version != here->second) {
        miss(path + "/version", "the kit " + kit.name + " is needed in version " + *kit.version + ", and " +
                                    situation_.environment + " has " + here->second);
      }
    }
  }

  void providers() {
    for (const auto& [name, runtime] : manifest_.runtimes) {
      const std::string path = pointer("/runtimes/", name);
      if (runtime.type) provider(path + "/type", "deployer", *runtime.type, "the runtime");
      if (runtime.storage) storage(path + "/storage", *runtime.storage);
    }
    if (manifest_.infrastructure && manifest_.infrastructure->iac) {
      provider("/infrastructure/iac/provider", "iac", manifest_.infrastructure->iac->provider, "the iac provider");
    }
    if (manifest_.infrastructure && manifest_.infrastructure->gitops) {
      provider("/infrastructure/gitops/controller", "gitops", manifest_.infrastructure->gitops->controller,
               "the gitops controller");
    }
    // Sluice itself speaks OTLP.
    if (manifest_.observability && manifest_.observability->provider.value_or("otlp") != "otlp") {
      provider("/observability/provider", "telemetry", *manifest_.observability->provider, "the telemetry provider");
    }
    if (manifest_.secrets) {
      provider("/secrets/provider", "secrets", manifest_.secrets->provider, "the secrets provider");
    }
  }

  // ---- where telemetry goes

  void observability() {
    const Observability said = manifest_.observability.value_or(Observability());
    const Tracing tracing = said.tracing.value_or(Tracing());
    const DeployMarkers markers = said.deployMarkers.value_or(DeployMarkers());
    const bool traced = said.samplingRate || said.tracing || said.provider == "otlp";
    if (!said.endpoint && traced) miss("/observability", "it says how to trace, and no endpoint to send to");
    if (tracing.storageSpans.value_or(false)) {
      miss("/observability/tracing/storageSpans", "there are no spans of what a storage does; leave storageSpans out");
    }
    const std::string propagation = tracing.propagation.value_or("w3c");
    if (propagation != "w3c" && propagation != "none") {
      miss("/observability/tracing/propagation", "there is no propagation " + propagation + "; it is w3c or none");
    }
    if (said.endpoint) {
      observe("/observability/endpoint", {.provider = "otlp",
                                          .endpoint = *said.endpoint,
                                          .samplingRate = said.samplingRate.value_or(1),
                                          .key = "",
                                          .propagation = propagation,
                                          .conceptSpans = tracing.conceptSpans.value_or(true),
                                          .syncSpans = tracing.syncSpans.value_or(true),
                                          .markers = markers.enabled});
    }
    for (size_t i = 0; markers.enabled && i < markers.backends.size(); ++i) {
      backend("/observability/deployMarkers/backends/" + std::to_string(i), markers.backends[i]);
    }
    std::ranges::sort(planned_.observed, {}, &Observed::provider);
    compare_observed();
  }

  void backend(const std::string& path, const MarkerBackend& said) {
    if (said.type != "otlp" && said.type != "grafana" && said.type != "datadog") {
      return miss(path + "/type", "there is no backend " + said.type + "; it is otlp, grafana or datadog");
    }
    const std::string key = said.apiKey.value_or("");
    const bool named = key.starts_with("${") && key.ends_with('}');
    if (!key.empty() && !named) {
      return miss(path + "/apiKey", "a key is never written down: name its variable, ${NAME}");
    }
    if (!said.endpoint && said.type != "datadog") return miss(path, "the backend " + said.type + " has no endpoint");
    observe(path, {.provider = said.type,
                   .endpoint = said.endpoint.value_or("https://api.datadoghq.com"),
                   .key = key.empty() ? "" : "env:" + key.substr(2, key.size() - 3)});
  }

  void observe(const std::string& path, Observed observed) {
    if (!observed.endpoint.starts_with("http://") && !observed.endpoint.starts_with("https://")) {
      return miss(path, "an endpoint is an http:// or https:// URL, not " + observed.endpoint);
    }
    if (std::ranges::find(planned_.observed, observed.provider, &Observed::provider) != planned_.observed.end()) {
      return miss(path, "there is another endpoint for " + observed.provider);
    }
    planned_.observed.push_back(std::move(observed));
  }

  void compare_observed() {
    if (planned_.observed == situation_.observed) return;
    Change change{.sign = situation_.observed.empty() ? ChangeSign::create
                          : planned_.observed.empty() ? ChangeSign::remove
                                                      : ChangeSign::change,
                  .component = "observability"};
    std::map<std::string, std::pair<std::string, std::string>> texts;
    for (const Observed& each : situation_.observed) texts[each.provider].first = text_of(each);
    for (const Observed& each : planned_.observed) texts[each.provider].second = text_of(each);
    for (const auto& [provider, text] : texts) {
      if (text.first != text.second) change.fields.push_back({provider, text.first, text.second});
    }
    planned_.changes.push_back(std::move(change));
  }

  static std::string text_of(const Observed& each) {
    std::string text = each.endpoint;
    if (each.provider == "otlp") text += ", sampling " + write(json::value(each.samplingRate));
    if (!each.key.empty()) text += ", key " + each.key;
    if (each.propagation != "w3c") text += ", propagation " + each.propagation;
    if (!each.conceptSpans) text += ", no spans of actions";
    if (!each.syncSpans) text += ", no spans of syncs";
    return text + (each.markers ? "" : ", no markers");
  }

  // ---- components

  bool is_wanted(const std::string& name) const {
    return situation_.only.empty() || std::ranges::find(situation_.only, name) != situation_.only.end();
  }

  void add_component(const std::string& name, const Part& part) {
    const Component& component = *part.component;
    const std::string path = pointer(part.section, name);
    if (component.storage) storage(path + "/storage", *component.storage);
    auto offered = situation_.offered.find(name);
    if (offered == situation_.offered.end()) {
      if (!is_wanted(name)) return;
      const bool said = component.folder || component.bundle || component.image;
      miss(path, said ? "there is no bundle of " + name
                      : "nothing says what " + name + " is made of (folder, bundle, image)");
      return;
    }
    Change change{.component = name, .kit = component.kit.value_or("")};
    auto running = situation_.running.find(name);
    const bool there = running != situation_.running.end() && !running->second.revision.empty();
    const WantedRoutes routes = routes_of(component, offered->second);
    bool deploys = true, routed = true;
    if (there) {
      compare(change, component, offered->second, running->second, routes, deploys, routed);
    } else {
      change.sign = ChangeSign::create;
      change.fields = {{"version", "", offered->second.version}, {"bundle", "", offered->second.tree}};
      if (!routes.path_prefixes.empty()) change.fields.push_back({"routes", "", route_text(routes)});
      for (const auto& [key, value] : component.settings)
        change.fields.push_back({"settings." + key, "", write(value)});
      if (component.replicas) change.fields.push_back({"replicas", "", std::to_string(*component.replicas)});
      if (component.health) change.fields.push_back({"health", "", write(*component.health)});
      secrets(change, {}, offered->second.secrets);
      migrations(change, offered->second);
    }
    if (!is_wanted(name)) {
      change = {.component = name, .kit = change.kit};
      deploys = routed = false;
    }
    if (deploys || routed) add_steps(name, offered->second, there ? &running->second : nullptr, deploys);
    planned_.changes.push_back(std::move(change));
  }

  static std::string route_text(const WantedRoutes& routes) {
    return joined(routes.hosts.empty() ? std::vector<std::string>{"any host"} : routes.hosts) + " " +
           joined(routes.path_prefixes);
  }

  static void compare(Change& change, const Component& component, const Offered& offered, const Running& running,
                      const WantedRoutes& routes, bool& deploys, bool& routed) {
    auto differs = [&](std::string name, std::string before, std::string after) {
      change.fields.push_back({std::move(name), std::move(before), std::move(after)});
    };
    if (offered.version != running.version) differs("version", running.version, offered.version);
    if (offered.tree != running.tree) differs("bundle", running.tree, offered.tree);
    settings(change, "settings.", running.settings, component.settings);
    std::map<std::string, json::value> refs;
    for (const auto& [name, ref] : component.runtimeRefs) refs[name] = ref;
    settings(change, "runtimeRefs.", running.runtime_refs, refs);
    const std::optional<uint32_t> replicas = component.replicas && running.scaled ? running.scaled : running.replicas;
    if (replicas != component.replicas) differs("replicas", number_text(replicas), number_text(component.replicas));
    if (component.health != running.health) differs("health", value_text(running.health), value_text(component.health));
    deploys = !change.fields.empty();
    // A new version of a secret reaches what runs without a plan; here it only comes along.
    if (deploys) secrets(change, running.secrets, offered.secrets);
    if (deploys) migrations(change, offered);
    if (!routes.path_prefixes.empty() &&
        (routes.hosts != running.hosts || routes.path_prefixes != running.path_prefixes)) {
      differs("routes", route_text({running.hosts, running.path_prefixes}), route_text(routes));
    }
    if (running.shares) differs("traffic", "shared", "100%");
    routed = change.fields.size() > 0;
    if (routed) change.sign = ChangeSign::change;
  }

  static void secrets(Change& change, const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
    for (const auto& [variable, version] : after) {
      auto had = before.find(variable);
      const std::string old = had == before.end() ? "" : had->second;
      if (old != version) change.fields.push_back({"secrets." + variable, old, version});
    }
  }

  static void migrations(Change& change, const Offered& offered) {
    for (const auto& [name, text] : offered.migrations) change.fields.push_back({"migrations." + name, "", text});
  }

  static constexpr std::string_view kAsBundle = "as its bundle says";
  static std::string number_text(const std::optional<uint32_t>& number) {
    return number ? std::to_string(*number) : std::string(kAsBundle);
  }
  static std::string value_text(const std::optional<json::value>& value) {
    return value ? write(*value) : std::string(kAsBundle);
  }

  static void settings(Change& change, const std::string& prefix, const json::value& before,
                       const std::map<std::string, json::value>& after) {
    const json::object none;
    const json::object& old = before.is_object() ? before.get_object() : none;
    for (const auto& [name, value] : after) {
      const json::value* was = old.if_contains(name);
      if (was == nullptr) change.fields.push_back({prefix + name, "", write(value)});
      if (was != nullptr && *was != value) change.fields.push_back({prefix + name, write(*was), write(value)});
    }
    for (const auto& each : old) {
      const std::string name(each.key());
      if (!after.contains(name)) change.fields.push_back({prefix + name, write(each.value()), ""});
    }
  }

  void add_steps(const std::string& name, const Offered& offered, const Running* running, bool deploys) {
    Steps steps{.deploys = deploys};
    std::optional<uint32_t> before;
    auto follow = [&](NodeKind kind) {
      const uint32_t node = maker_.add(kind, name);
      if (before) maker_.edge(*before, node);
      before = node;
      return node;
    };
    if (deploys) {
      if (running != nullptr && running->spec_version && offered.spec_version &&
          *running->spec_version != *offered.spec_version) {
        follow(NodeKind::migrate_storage);
      }
      if (!offered.storages.empty()) steps.first = follow(NodeKind::provision_storage);
      steps.deploy = follow(NodeKind::deploy_concept);
    }
    steps.transport = follow(NodeKind::configure_transport);
    if (!deploys) steps.deploy = steps.transport;
    if (!steps.first) steps.first = steps.deploy;
    steps.last = follow(NodeKind::traffic_split);
    steps_[name] = steps;
  }

  void add_needs(const std::string& name, const Component& component) {
    auto own = steps_.find(name);
    if (own == steps_.end()) return;
    for (const std::string& need : component.needs) {
      if (auto other = steps_.find(need); other != steps_.end()) maker_.edge(other->second.last, own->second.deploy);
    }
  }

  // ---- transports

  std::optional<Transport> transport_of(const std::string& name) const {
    auto part = components_.find(name);
    if (part == components_.end()) return std::nullopt;
    const Component& component = *part->second.component;
    if (component.transport) return component.transport;
    if (component.runtime) {
      auto runtime = manifest_.runtimes.find(*component.runtime);
      if (runtime != manifest_.runtimes.end() && runtime->second.transport) return runtime->second.transport;
    }
    auto offered = situation_.offered.find(name);
    return offered == situation_.offered.end() ? std::nullopt : offered->second.transport;
  }

  static std::string_view word(Transport transport) {
    return fields::enumerator_names<Transport>()[static_cast<size_t>(transport)];
  }

  // Unix sockets carry HTTP here, and a router speaks both versions of it; stdio has an adapter to HTTP.
  static bool reach(Transport a, Transport b) {
    auto family = [](Transport transport) { return transport == Transport::tcp ? 1 : 0; };
    return family(a) == family(b);
  }

  void transports() {
    for (const auto& [name, part] : components_) {
      const auto own = transport_of(name);
      if (!own) continue;
      for (size_t i = 0; i < part.component->needs.size(); ++i) {
        const std::string& need = part.component->needs[i];
        const auto other = transport_of(need);
        if (!other || reach(*own, *other)) continue;
        auto place = document_.position_of(pointer(part.section, name) + "/needs/" + std::to_string(i));
        planned_.mismatches.push_back((place ? to_string(*place) + ": " : "") + name + " speaks " +
                                      std::string(word(*own)) + " and needs " + need + ", which speaks " +
                                      std::string(word(*other)) + "; no adapter leads from one to the other");
      }
    }
  }

  // ---- what leaves, and kits

  // In reverse order: what was needed goes after what needed it, and all of it after everything else has succeeded. The
  // first one waits for the rest of the plan and the others for it, so that there are few edges.
  void add_leaving() {
    if (!situation_.only.empty() || situation_.leaving.empty()) return;
    std::map<std::string, uint32_t> nodes;
    std::set<std::string> needed;
    for (const Leaving& each : situation_.leaving) {
      planned_.changes.push_back(
          {.sign = ChangeSign::remove, .component = each.component, .fields = {{"version", each.version, ""}}});
      for (const std::string& need : each.needs) needed.insert(need);
    }
    const size_t before = maker_.size();
    for (const Leaving& each : situation_.leaving) {
      nodes[each.component] = maker_.add(NodeKind::remove_concept, each.component);
    }
    for (const Leaving& each : situation_.leaving) {
      for (const std::string& need : each.needs) {
        if (auto found = nodes.find(need); found != nodes.end()) maker_.edge(nodes[each.component], found->second);
      }
    }
    auto free =
        std::ranges::find_if(situation_.leaving, [&](const Leaving& each) { return !needed.contains(each.component); });
    if (free == situation_.leaving.end()) return;
    const uint32_t first = nodes[free->component];
    for (uint32_t node = 0; node < before; ++node) maker_.edge(node, first);
    for (const auto& [name, node] : nodes) {
      if (node != first) maker_.edge(first, node);
    }
  }

  // What others deploy must be well before anything here changes.
  void add_checks() {
    if (steps_.empty()) return;
    for (const Kit& kit : manifest_.kits) {
      if (kit.path || checks_.contains(kit.name)) continue;
      const uint32_t check = maker_.add(NodeKind::external_dependency_check, kit.name);
      checks_[kit.name] = check;
      for (const auto& [name, steps] : steps_) maker_.edge(check, *steps.first);
    }
  }

  // A plan of some of the components leaves rules as they are.
  void add_kit(const KitOffer& kit) {
    if (!situation_.only.empty()) return;
    for (const auto& [name, digest] : kit.active) {
      if (std::ranges::find(kit.rules, name, &KitRule::name) != kit.rules.end()) continue;
      maker_.add(NodeKind::register_sync, kit.name + "." + name);
      planned_.changes.push_back({.sign = ChangeSign::remove,
                                  .component = "sync " + name,
                                  .kit = kit.name,
                                  .fields = {{"sync", short_digest(digest), ""}}});
    }
    for (const KitRule& rule : kit.rules) {
      auto active = kit.active.find(rule.name);
      const bool there = active != kit.active.end();
      if (there && active->second == rule.digest) continue;
      planned_.changes.push_back(
          {.sign = there ? ChangeSign::change : ChangeSign::create,
           .component = "sync " + rule.name,
           .kit = kit.name,
           .fields = {{"sync", there ? short_digest(active->second) : "", short_digest(rule.digest)}}});
      const uint32_t node = maker_.add(rule.integration ? NodeKind::register_integration : NodeKind::register_sync,
                                       kit.name + "." + rule.name);
      for (const std::string& each : rule.concepts) {
        if (auto found = steps_.find(each); found != steps_.end()) maker_.edge(found->second.last, node);
      }
      if (rule.external.empty()) continue;
      auto [check, fresh] = checks_.try_emplace(rule.external, 0);
      if (fresh) check->second = maker_.add(NodeKind::external_dependency_check, rule.external);
      maker_.edge(check->second, node);
    }
  }

  const AppManifest& manifest_;
  const Document& document_;
  const Situation& situation_;
  std::map<std::string, Part> components_;
  std::map<std::string, Steps> steps_;
  std::map<std::string, uint32_t> checks_;
  GraphMaker maker_;
  Planned planned_;
};

}  // namespace

WantedRoutes routes_of(const Component& component, const Offered& offered) {
  if (component.routes.empty()) return {offered.hosts, offered.path_prefixes};
  WantedRoutes routes;
  bool any_host = false;
  auto add = [](std::vector<std::string>& to, const std::string& text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  };
  for (const Route& each : component.routes) {
    any_host = any_host || !each.host;
    if (each.host) add(routes.hosts, *each.host);
    add(routes.path_prefixes, each.path);
  }
  if (any_host) routes.hosts.clear();
  return routes;
}

Planned make_plan(const AppManifest& manifest, const Document& document, const Situation& situation) {
  return Planner(manifest, document, situation).plan();
}

}  // namespace sluice::plan
