// The kinds of which a component is made, as people write them in YAML (openchoreo.dev/v1alpha1).
//
//   auto kinds = read_kinds(documents);
//   for (const Error& fault : kinds.faults) …     // component.yaml:9:5: /spec/parametres: unknown field …
//
// What a field may hold is checked here; what belongs together (the type that a component names) when it is rendered.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::component {

inline constexpr std::string_view kKindsVersion = "openchoreo.dev/v1alpha1";

struct Metadata {
  std::string name;
  std::optional<std::string> namespace_;
  std::map<std::string, std::string> labels, annotations;
  static constexpr std::string_view kDefaulted[] = {"labels", "annotations"};
};
BOOST_DESCRIBE_STRUCT(Metadata, (), (name, namespace_, labels, annotations))

// An addon that a component, or a type, uses under a name of its own.
struct AddonUse {
  std::string name;
  std::string instanceId;
  json::value config = json::object{};
  static constexpr std::string_view kDefaulted[] = {"config"};
};
BOOST_DESCRIBE_STRUCT(AddonUse, (), (name, instanceId, config))

struct ComponentSpec {
  std::string componentType;  // "deployment/web-app": the kind of workload and the name of the type
  std::optional<json::value> owner;
  json::value parameters = json::object{};
  std::vector<AddonUse> addons;
  static constexpr std::string_view kDefaulted[] = {"parameters", "addons"};
};
BOOST_DESCRIBE_STRUCT(ComponentSpec, (), (componentType, owner, parameters, addons))

struct Validation {
  std::string rule;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(Validation, (), (rule, message))

struct PatchTarget {
  std::string group, version, kind;
  std::optional<std::string> where;
  static constexpr std::string_view kDefaulted[] = {"group", "version"};
};
BOOST_DESCRIBE_STRUCT(PatchTarget, (), (group, version, kind, where))

// A rule over what was rendered: of each object that the target selects, as `resource`; without a target it is asked
// once.
struct PostValidation {
  std::optional<std::string> when;
  std::optional<PatchTarget> target;
  bool mustMatch = true;
  std::string rule;
  std::string message;
  static constexpr std::string_view kDefaulted[] = {"mustMatch"};
};
BOOST_DESCRIBE_STRUCT(PostValidation, (), (when, target, mustMatch, rule, message))

struct ParameterSchemas {
  json::value parameters;    // null: there are none
  json::value envOverrides;  // null: every parameter may be overridden
  static constexpr std::string_view kDefaulted[] = {"parameters", "envOverrides"};
};
BOOST_DESCRIBE_STRUCT(ParameterSchemas, (), (parameters, envOverrides))

// An object, or several, that a type or an addon makes.
struct ResourceTemplate {
  std::optional<std::string> id;
  std::optional<std::string> includeWhen, forEach, var;
  json::value template_;
};
BOOST_DESCRIBE_STRUCT(ResourceTemplate, (), (id, includeWhen, forEach, var, template_))

struct ComponentTypeSpec {
  std::string workloadType;
  ParameterSchemas schema;
  std::vector<AddonUse> addons;
  std::vector<Validation> preRenderValidations;
  std::vector<PostValidation> postRenderValidations;
  std::vector<ResourceTemplate> resources;
  static constexpr std::string_view kDefaulted[] = {"schema", "addons", "preRenderValidations",
                                                    "postRenderValidations"};
};
BOOST_DESCRIBE_STRUCT(ComponentTypeSpec, (),
                      (workloadType, schema, addons, preRenderValidations, postRenderValidations, resources))

enum class PatchOp { add, replace, remove, mergeShallow };
BOOST_DESCRIBE_ENUM(PatchOp, add, replace, remove, mergeShallow)

struct PatchOperation {
  PatchOp op = PatchOp::add;
  std::string path;
  json::value value;
  static constexpr std::string_view kDefaulted[] = {"value"};
};
BOOST_DESCRIBE_STRUCT(PatchOperation, (), (op, path, value))

struct Patch {
  PatchTarget target;
  std::optional<std::string> forEach, var;
  bool optional = false;
  std::vector<PatchOperation> operations;
  static constexpr std::string_view kDefaulted[] = {"optional"};
};
BOOST_DESCRIBE_STRUCT(Patch, (), (target, forEach, var, optional, operations))

struct AddonSpec {
  ParameterSchemas schema;
  std::vector<Validation> preRenderValidations;
  std::vector<PostValidation> postRenderValidations;
  std::vector<ResourceTemplate> creates;
  std::vector<Patch> patches;
  static constexpr std::string_view kDefaulted[] = {"schema", "preRenderValidations", "postRenderValidations",
                                                    "creates", "patches"};
};
BOOST_DESCRIBE_STRUCT(AddonSpec, (), (schema, preRenderValidations, postRenderValidations, creates, patches))

struct WorkloadSpec {
  std::string image;
  json::value endpoints = json::array{};
  json::value connections = json::array{};
  json::value container = json::object{};  // env[], files[], command, args
  std::optional<json::value> owner;
  static constexpr std::string_view kDefaulted[] = {"endpoints", "connections", "container"};
};
BOOST_DESCRIBE_STRUCT(WorkloadSpec, (), (image, endpoints, connections, container, owner))

struct SettingsOwner {
  std::string componentName;
  std::optional<std::string> projectName;
};
BOOST_DESCRIBE_STRUCT(SettingsOwner, (), (componentName, projectName))

struct WorkloadOverrides {
  json::value env = json::array{};
  json::value files = json::array{};
  static constexpr std::string_view kDefaulted[] = {"env", "files"};
};
BOOST_DESCRIBE_STRUCT(WorkloadOverrides, (), (env, files))

struct EnvSettingsSpec {
  SettingsOwner owner;
  std::string environment;
  json::value overrides = json::object{};
  std::map<std::string, std::map<std::string, json::value>> addonOverrides;  // by addon, then by instance
  WorkloadOverrides workloadOverrides;
  static constexpr std::string_view kDefaulted[] = {"overrides", "addonOverrides", "workloadOverrides"};
};
BOOST_DESCRIBE_STRUCT(EnvSettingsSpec, (), (owner, environment, overrides, addonOverrides, workloadOverrides))

template <class Spec>
struct Kind {
  std::string apiVersion, kind;
  Metadata metadata;
  Spec spec;
};
using ComponentKind = Kind<ComponentSpec>;
using ComponentTypeKind = Kind<ComponentTypeSpec>;
using AddonKind = Kind<AddonSpec>;
using WorkloadKind = Kind<WorkloadSpec>;
using EnvSettingsKind = Kind<EnvSettingsSpec>;
BOOST_DESCRIBE_STRUCT(ComponentKind, (), (apiVersion, kind, metadata, spec))
BOOST_DESCRIBE_STRUCT(ComponentTypeKind, (), (apiVersion, kind, metadata, spec))
BOOST_DESCRIBE_STRUCT(AddonKind, (), (apiVersion, kind, metadata, spec))
BOOST_DESCRIBE_STRUCT(WorkloadKind, (), (apiVersion, kind, metadata, spec))
BOOST_DESCRIBE_STRUCT(EnvSettingsKind, (), (apiVersion, kind, metadata, spec))

// A definition with the text that it stands in, for places.
template <class K>
struct Defined {
  K value;
  Document document;
};

struct Kinds {
  std::map<std::string, Defined<ComponentKind>, std::less<>> components;
  std::map<std::string, Defined<ComponentTypeKind>, std::less<>> types;
  std::map<std::string, Defined<AddonKind>, std::less<>> addons;
  std::map<std::string, Defined<WorkloadKind>, std::less<>> workloads;
  std::map<std::string, Defined<EnvSettingsKind>, std::less<>> settings;  // by "component/environment"
  std::vector<Error> faults;                                              // all of them
};

// Each document is one object. A name that stands twice in a kind is a fault, and so is a kind that is not known.
Kinds read_kinds(std::vector<Document> documents);

}  // namespace sluice::component
