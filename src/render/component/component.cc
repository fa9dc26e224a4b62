// The steps of a rendering, in their order. Faults are gathered as long as the next step can go on without what failed.
#include "render/component/component.h"

#include <algorithm>
#include <set>

#include "base/canonical_json.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "render/component/patch.h"
#include "render/component/scope.h"

namespace sluice::component {
namespace {

constexpr std::string_view kComponentLabel = "openchoreo.dev/component";
constexpr std::string_view kEnvironmentLabel = "openchoreo.dev/environment";
constexpr std::string_view kConfigHash = "sluice.dev/config-hash";

std::string_view text_at(const json::value& object, std::string_view pointer) {
  boost::system::error_code failed;
  const auto* found = object.find_pointer(pointer, failed);
  return found && !failed && found->is_string() ? std::string_view(found->as_string()) : std::string_view();
}

json::object& object_at(json::value& node, std::string_view name) {
  auto& object = node.as_object();
  if (!object.contains(name) || !object[name].is_object()) object[name] = json::object{};
  return object[name].as_object();
}

std::string short_hash(std::string_view text) { return crypto::to_hex(crypto::sha256(text)).substr(0, 8); }

// Entries of `over` take the place of those with the same key; others come behind.
json::array merged_by_key(const json::value& base, const json::value& over) {
  json::array made = base.is_array() ? base.as_array() : json::array{};
  if (!over.is_array()) return made;
  for (const auto& each : over.as_array()) {
    const auto key = text_at(each, "/key");
    const auto known =
        std::find_if(made.begin(), made.end(), [&](const json::value& other) { return text_at(other, "/key") == key; });
    if (known != made.end() && !key.empty()) {
      *known = each;
    } else {
      made.push_back(each);
    }
  }
  return made;
}

class Renderer {
 public:
  Renderer(const Kinds& kinds, const RenderWish& wish) : kinds_(kinds), wish_(wish) {}

  RenderedComponent run() {
    if (find() && prepare()) {
      check_before();
      make(type_->value.spec.resources, type_->document, "/spec/resources", *context_, made_.parameters.front(),
           type_->value.metadata.name);
      add_addons();
      if (made_.faults.empty()) check_after();
      if (made_.faults.empty()) finish();
    }
    if (!made_.faults.empty()) made_.objects.clear();
    return std::move(made_);
  }

 private:
  void fault(const Document* document, const std::string& path, std::string message, std::string next = "") {
    made_.faults.push_back({.code = Code::invalid,
                            .message = std::move(message),
                            .next = std::move(next),
                            .path = path,
                            .position = document ? document->position_of(path) : std::nullopt});
  }

  // --- what belongs together ----------------------------------------------------------------------------------

  bool find() {
    const auto component = kinds_.components.find(wish_.component);
    if (component == kinds_.components.end()) {
      std::string known;
      for (const auto& [name, unused] : kinds_.components) known += (known.empty() ? "" : ", ") + name;
      made_.faults.push_back({.code = Code::not_found,
                              .message = "there is no Component '" + wish_.component + "'",
                              .next = known.empty() ? "" : "there are " + known});
      return false;
    }
    component_ = &component->second;
    const auto& named = component_->value.spec.componentType;
    const size_t slash = named.find('/');
    const auto type_name = slash == std::string::npos ? named : named.substr(slash + 1);
    const auto type = kinds_.types.find(type_name);
    if (type == kinds_.types.end()) {
      fault(&component_->document, "/spec/componentType", "there is no ComponentTypeDefinition '" + type_name + "'");
      return false;
    }
    type_ = &type->second;
    const auto workload_type = slash == std::string::npos ? std::string() : named.substr(0, slash);
    if (!workload_type.empty() && workload_type != type_->value.spec.workloadType) {
      fault(&component_->document, "/spec/componentType",
            "'" + type_name + "' is of workloadType " + type_->value.spec.workloadType + ", not " + workload_type);
    }
    const auto workload = kinds_.workloads.find(wish_.component);
    if (workload == kinds_.workloads.end()) {
      made_.faults.push_back({.code = Code::not_found, .message = "there is no Workload '" + wish_.component + "'"});
      return false;
    }
    workload_ = &workload->second;
    const auto settings = kinds_.settings.find(wish_.component + "/" + wish_.environment);
    if (settings != kinds_.settings.end()) settings_ = &settings->second;
    return true;
  }

  // --- what expressions see -----------------------------------------------------------------------------------

  bool prepare() {
    const auto& spec = type_->value.spec;
    Placed own{
        .value = &component_->value.spec.parameters, .document = &component_->document, .pointer = "/spec/parameters"};
    Placed over;
    if (settings_) over = {&settings_->value.spec.overrides, &settings_->document, "/spec/overrides"};
    made_.parameters.push_back(Parameters::make(spec.schema, type_->document, own, over, made_.faults));
    check_addon_overrides();

    base_ = std::make_unique<Scope>(wish_.zones);
    auto& types = base_->types();
    base_->set("metadata", metadata(), types.dynamic());
    base_->set("workload", workload(), types.dynamic());
    base_->set("build", json::object{{"image", workload_->value.spec.image}}, types.dynamic());
    base_->set("environment", json::object{{"name", wish_.environment}}, types.dynamic());
    base_->set("dependencies", dependencies(), types.dynamic());
    context_ = std::make_unique<Scope>(*base_, 0);
    set_parameters(*context_, made_.parameters.front());
    return made_.faults.empty();
  }

  static void set_parameters(Scope& scope, const Parameters& parameters) {
    const auto* type = parameters.schema().type(scope.types());
    scope.set("parameters", parameters.value(), type);
    scope.set("spec", parameters.value(), type);
  }

  json::object metadata() const {
    const auto name =
        wish_.component + "-" + wish_.environment + "-" + short_hash(wish_.component + "\n" + wish_.environment);
    json::object selectors{{kComponentLabel, wish_.component}, {kEnvironmentLabel, wish_.environment}};
    return {{"name", name},
            {"namespace", name_space()},
            {"componentName", wish_.component},
            {"environmentName", wish_.environment},
            {"labels", selectors},
            {"annotations", json::object{}},
            {"podSelectors", selectors}};
  }
  std::string name_space() const { return wish_.name_space.empty() ? wish_.environment : wish_.name_space; }

  json::object workload() const {
    const auto& spec = workload_->value.spec;
    json::value container = spec.container.is_object() ? spec.container : json::value(json::object{});
    auto& fields = container.as_object();
    fields["image"] = spec.image;
    const auto* over = settings_ ? &settings_->value.spec.workloadOverrides : nullptr;
    for (const char* list : {"env", "files"}) {
      const auto* given = fields.if_contains(list);
      const json::value none = json::array{};
      fields[list] = merged_by_key(given ? *given : none, !over                             ? none
                                                          : std::string_view(list) == "env" ? over->env
                                                                                            : over->files);
    }
    return {{"image", spec.image}, {"container", container}, {"endpoints", spec.endpoints}};
  }

  // What connections put into the environment of the program.
  json::object dependencies() {
    json::array variables;
    const auto* connections = workload_->value.spec.connections.if_array();
    for (size_t index = 0; connections && index < connections->size(); ++index) {
      const auto& connection = (*connections)[index];
      const auto place = "/spec/connections/" + std::to_string(index);
      const auto provider = std::string(text_at(connection, "/params/componentName"));
      const auto endpoint = text_at(connection, "/params/endpoint");
      const auto port = port_of(provider, endpoint);
      if (!port) {
        fault(&workload_->document, place,
              "there is no endpoint '" + std::string(endpoint) + "' of a component '" + provider + "'");
        continue;
      }
      boost::system::error_code failed;
      const auto* injected = connection.find_pointer("/inject/env", failed);
      if (!injected || failed || !injected->is_array()) continue;
      for (const auto& each : injected->as_array()) {
        std::string value(text_at(each, "/value"));
        replace(value, "{{ .host }}", provider);
        replace(value, "{{ .port }}", *port);
        if (value.find("{{") != std::string::npos) {
          fault(&workload_->document, place, "only {{ .host }} and {{ .port }} are filled in here, found " + value);
        }
        variables.push_back({{"key", text_at(each, "/name")}, {"value", value}});
      }
    }
    return {{"envVars", variables}};
  }

  static void replace(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }

  std::optional<std::string> port_of(const std::string& component, std::string_view endpoint) const {
    const auto provider = kinds_.workloads.find(component);
    if (provider == kinds_.workloads.end() || !provider->second.value.spec.endpoints.is_array()) return std::nullopt;
    for (const auto& each : provider->second.value.spec.endpoints.as_array()) {
      boost::system::error_code failed;
      const auto* port = each.find_pointer("/port", failed);
      if (text_at(each, "/name") == endpoint && port && !failed) return json::serialize(*port);
    }
    return std::nullopt;
  }

  // --- resources ----------------------------------------------------------------------------------------------

  void check_before() { check_before(type_->value.spec.preRenderValidations, type_->document, *context_); }

  void check_before(const std::vector<Validation>& rules, const Document& document, Scope& scope) {
    for (size_t index = 0; index < rules.size(); ++index) {
      const auto place = "/spec/preRenderValidations/" + std::to_string(index) + "/rule";
      const auto holds = scope.holds(rules[index].rule);
      if (!holds) fault(&document, place, holds.error().message);
      if (holds && !*holds) fault(&document, place, rules[index].message + " (" + rules[index].rule + ")");
    }
  }

  // Calls visit for each turn of forEach, or once.
  template <class Visit>
  void each_turn(const std::optional<std::string>& for_each, const std::optional<std::string>& var,
                 const Document& document, const std::string& place, Scope& scope, Visit visit) {
    if (!for_each) {
      visit(scope);
      return;
    }
    auto turns = scope.turns(*for_each);
    if (!turns) {
      fault(&document, place + "/forEach", turns.error().message);
      return;
    }
    for (const auto& turn : *turns) {
      Scope inner(scope, 0);
      inner.set(var.value_or("item"), turn.value, turn.type);
      visit(inner);
    }
  }

  void make(const std::vector<ResourceTemplate>& templates, const Document& document, const std::string& list,
            Scope& scope, const Parameters& parameters, const std::string& maker) {
    for (size_t index = 0; index < templates.size(); ++index) {
      const auto& each = templates[index];
      const auto place = list + "/" + std::to_string(index);
      if (each.includeWhen) {
        const auto included = scope.holds(*each.includeWhen);
        if (!included) {
          fault(&document, place + "/includeWhen", included.error().message);
          continue;
        }
        if (!*included) continue;
      }
      each_turn(each.forEach, each.var, document, place, scope, [&](Scope& turn) {
        RenderedObject rendered{.made_by = maker + (each.id ? ": " + *each.id : "")};
        auto filled =
            turn.fill(each.template_, [&](const std::string& from, const std::string& to, std::string_view text) {
              rendered.written.push_back(
                  {to, document.position_of(place + "/template" + from), std::string(text), std::nullopt, &parameters});
            });
        if (!filled) {
          fault(&document, place + "/template" + filled.error().path, filled.error().message);
          return;
        }
        rendered.object = std::move(*filled);
        for (const char* needed : {"/apiVersion", "/kind", "/metadata/name"}) {
          if (text_at(rendered.object, needed).empty()) {
            fault(&document, place + "/template", std::string("the object has no ") + (needed + 1));
            return;
          }
        }
        made_.objects.push_back(std::move(rendered));
      });
    }
  }

  // --- addons -------------------------------------------------------------------------------------------------

  void check_addon_overrides() {
    if (!settings_) return;
    for (const auto& [addon, instances] : settings_->value.spec.addonOverrides) {
      for (const auto& [instance, unused] : instances) {
        const auto& uses = component_->value.spec.addons;
        const bool used = std::any_of(uses.begin(), uses.end(), [&](const AddonUse& use) {
          return use.name == addon && use.instanceId == instance;
        });
        if (!used) {
          fault(&settings_->document, "/spec/addonOverrides/" + addon + "/" + instance,
                "the component uses no addon '" + addon + "' as '" + instance + "'");
        }
      }
    }
  }

  void add_addons() {
    std::set<std::string> instances;
    const auto& embedded = type_->value.spec.addons;
    for (size_t index = 0; index < embedded.size(); ++index) {
      const auto place = "/spec/addons/" + std::to_string(index);
      auto config = context_->fill(embedded[index].config);
      if (!config) {
        fault(&type_->document, place + "/config" + config.error().path, config.error().message);
        continue;
      }
      configs_.push_back(std::move(*config));
      add_addon(embedded[index], type_->document, place, configs_.back(), instances, false);
    }
    const auto& own = component_->value.spec.addons;
    for (size_t index = 0; index < own.size(); ++index) {
      add_addon(own[index], component_->document, "/spec/addons/" + std::to_string(index), own[index].config, instances,
                true);
    }
  }

  void add_addon(const AddonUse& use, const Document& document, const std::string& place, const json::value& config,
                 std::set<std::string>& instances, bool overridable) {
    if (!instances.insert(use.instanceId).second) {
      fault(&document, place + "/instanceId", "two addons are called '" + use.instanceId + "' here");
      return;
    }
    const auto found = kinds_.addons.find(use.name);
    if (found == kinds_.addons.end()) {
      fault(&document, place + "/name", "there is no Addon '" + use.name + "'");
      return;
    }
    const auto& addon = found->second;
    Placed over;
    if (overridable && settings_) {
      const auto& all = settings_->value.spec.addonOverrides;
      const auto named = all.find(use.name);
      if (named != all.end()) {
        if (const auto instance = named->second.find(use.instanceId); instance != named->second.end()) {
          over = {&instance->second, &settings_->document, "/spec/addonOverrides/" + use.name + "/" + use.instanceId};
        }
      }
    }
    const size_t before = made_.faults.size();
    made_.parameters.push_back(Parameters::make(addon.value.spec.schema, addon.document,
                                                {.value = &config, .document = &document, .pointer = place + "/config"},
                                                over, made_.faults));
    if (made_.faults.size() > before) return;
    const auto& parameters = made_.parameters.back();
    Scope scope(*base_, 0);
    set_parameters(scope, parameters);
    scope.set("instanceId", json::value(use.instanceId), scope.types().basic(cel::TypeKind::string));
    check_before(addon.value.spec.preRenderValidations, addon.document, scope);
    make(addon.value.spec.creates, addon.document, "/spec/creates", scope, parameters, use.name + " " + use.instanceId);
    for (size_t index = 0; index < addon.value.spec.patches.size(); ++index) {
      patch(addon.value.spec.patches[index], addon.document, "/spec/patches/" + std::to_string(index), scope,
            parameters);
    }
  }

  bool fits(const PatchTarget& target, const json::value& object) const {
    if (text_at(object, "/kind") != target.kind) return false;
    const auto api = text_at(object, "/apiVersion");
    const size_t slash = api.find('/');
    const auto group = slash == std::string_view::npos ? std::string_view() : api.substr(0, slash);
    const auto version = slash == std::string_view::npos ? api : api.substr(slash + 1);
    return group == target.group && (target.version.empty() || version == target.version);
  }

  // The objects that a target selects, by their index.
  std::vector<size_t> selected(const PatchTarget& target, const Document& document, const std::string& place,
                               Scope& scope) {
    std::vector<size_t> chosen;
    for (size_t index = 0; index < made_.objects.size(); ++index) {
      if (!fits(target, made_.objects[index].object)) continue;
      if (target.where) {
        Scope inner(scope, 0);
        inner.set("resource", made_.objects[index].object, inner.types().dynamic());
        const auto holds = inner.holds(*target.where);
        if (!holds) {
          fault(&document, place + "/where", holds.error().message);
          return {};
        }
        if (!*holds) continue;
      }
      chosen.push_back(index);
    }
    return chosen;
  }

  void patch(const Patch& patch, const Document& document, const std::string& place, Scope& scope,
             const Parameters& parameters) {
    each_turn(patch.forEach, patch.var, document, place, scope, [&](Scope& turn) {
      const size_t before = made_.faults.size();
      const auto chosen = selected(patch.target, document, place + "/target", turn);
      if (made_.faults.size() > before) return;
      if (chosen.empty() && !patch.optional) {
        fault(&document, place + "/target", "no object fits this patch: " + patch.target.kind,
              "write optional: true if that may be");
      }
      for (const size_t index : chosen) {
        for (size_t number = 0; number < patch.operations.size(); ++number) {
          operate(patch.operations[number], document, place + "/operations/" + std::to_string(number), turn, parameters,
                  made_.objects[index]);
        }
      }
    });
  }

  void operate(const PatchOperation& operation, const Document& document, const std::string& place, Scope& scope,
               const Parameters& parameters, RenderedObject& target) {
    const auto path = scope.text(operation.path);
    if (!path) {
      fault(&document, place + "/path", path.error().message);
      return;
    }
    std::vector<std::string> texts;
    auto value = scope.fill(operation.value, [&](const std::string&, const std::string&, std::string_view text) {
      texts.emplace_back(text);
    });
    if (!value) {
      fault(&document, place + "/value" + value.error().path, value.error().message);
      return;
    }
    auto changed = apply_patch(target.object, operation.op, *path, *value);
    if (!changed) {
      fault(&document, place + "/path", changed.error().message);
      return;
    }
    std::string shown = *path;
    for (const auto& text : texts) shown += " " + text;
    for (auto& each : *changed) {
      target.written.push_back(
          {each.pointer, document.position_of(place), shown, std::move(each.displaced), &parameters});
    }
  }

  // --- the whole ----------------------------------------------------------------------------------------------

  void check_after() {
    check_after(type_->value.spec.postRenderValidations, type_->document, *context_);
    size_t index = 1;
    for (const auto* uses : {&type_->value.spec.addons, &component_->value.spec.addons}) {
      for (const auto& use : *uses) {
        const auto& addon = kinds_.addons.find(use.name)->second;
        Scope scope(*base_, 0);
        set_parameters(scope, made_.parameters[index++]);
        scope.set("instanceId", json::value(use.instanceId), scope.types().basic(cel::TypeKind::string));
        check_after(addon.value.spec.postRenderValidations, addon.document, scope);
      }
    }
  }

  void check_after(const std::vector<PostValidation>& rules, const Document& document, Scope& scope) {
    for (size_t index = 0; index < rules.size(); ++index) {
      const auto& rule = rules[index];
      const auto place = "/spec/postRenderValidations/" + std::to_string(index);
      const auto ask = [&](Scope& asked) {
        const auto holds = asked.holds(rule.rule);
        if (!holds) fault(&document, place + "/rule", holds.error().message);
        if (holds && !*holds) fault(&document, place + "/rule", rule.message + " (" + rule.rule + ")");
      };
      if (rule.when) {
        const auto applies = scope.holds(*rule.when);
        if (!applies) fault(&document, place + "/when", applies.error().message);
        if (!applies || !*applies) continue;
      }
      if (!rule.target) {
        ask(scope);
        continue;
      }
      const auto chosen = selected(*rule.target, document, place + "/target", scope);
      if (chosen.empty() && rule.mustMatch)
        fault(&document, place + "/target", "no object fits this rule: " + rule.target->kind);
      for (const size_t number : chosen) {
        Scope inner(scope, 0);
        inner.set("resource", made_.objects[number].object, inner.types().dynamic());
        ask(inner);
      }
    }
  }

  void finish() {
    json::array others;
    for (auto& each : made_.objects) {
      auto& labels = object_at(object_value(each.object, "metadata"), "labels");
      labels[kComponentLabel] = wish_.component;
      labels[kEnvironmentLabel] = wish_.environment;
      if (is_workload(each.object)) continue;
      json::value plain = each.object;
      plain.as_object().erase("metadata");
      others.push_back(std::move(plain));
    }
    std::sort(others.begin(), others.end(), [](const json::value& left, const json::value& right) {
      return json::serialize(left) < json::serialize(right);
    });
    const auto hash = short_hash(hashed_text(others));
    std::set<std::string> names;
    for (auto& each : made_.objects) {
      if (is_workload(each.object) && !others.empty()) {
        auto& pod = object_value(object_value(each.object, "spec"), "template");
        object_at(object_value(pod, "metadata"), "annotations")[kConfigHash] = hash;
      }
      if (!names.insert(key_of(each.object)).second) {
        made_.faults.push_back(
            {.code = Code::conflict,
             .message = "two objects are " + key_of(each.object) + "; one is made by " + each.made_by});
      }
    }
    std::sort(made_.objects.begin(), made_.objects.end(), [](const RenderedObject& left, const RenderedObject& right) {
      return key_of(left.object) < key_of(right.object);
    });
  }

  static std::string hashed_text(const json::array& objects) {
    auto text = sluice::canonical(json::value(objects));
    return text ? *text : json::serialize(objects);
  }

  static json::value& object_value(json::value& node, std::string_view name) {
    object_at(node, name);
    return node.as_object()[name];
  }

  // A change of what it reads restarts it.
  static bool is_workload(const json::value& object) {
    return text_at(object, "/kind") == "Deployment" || text_at(object, "/kind") == "StatefulSet";
  }

  static std::string key_of(const json::value& object) {
    std::string key(text_at(object, "/kind"));
    for (const char* part : {"/apiVersion", "/metadata/namespace", "/metadata/name"})
      key += " " + std::string(text_at(object, part));
    return key;
  }

  const Kinds& kinds_;
  const RenderWish& wish_;
  RenderedComponent made_;
  const Defined<ComponentKind>* component_ = nullptr;
  const Defined<ComponentTypeKind>* type_ = nullptr;
  const Defined<WorkloadKind>* workload_ = nullptr;
  const Defined<EnvSettingsKind>* settings_ = nullptr;
  std::unique_ptr<Scope> base_, context_;
  std::deque<json::value> configs_;  // of the type's addons
};

}  // namespace

RenderedComponent render_component(const Kinds& kinds, const RenderWish& wish) { return Renderer(kinds, wish).run(); }

}  // namespace sluice::component
