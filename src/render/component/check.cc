// Expressions see the same names as in a rendering (component.cc), with types and without values.
#include "render/component/check.h"

#include <string>

#include "render/component/parameters.h"
#include "render/component/scope.h"

namespace sluice::component {
namespace {

class Checker {
 public:
  Checker(const Document& document, const ParameterSchemas& schemas) : document_(document) {
    for (const char* name : {"metadata", "workload", "build", "environment", "dependencies"}) {
      scope_.set(name, json::value(), scope_.types().dynamic());
    }
    if (const auto schema = whole_schema(schemas)) {
      for (const char* name : {"parameters", "spec"}) scope_.set(name, json::value(), schema->type(scope_.types()));
    }
  }

  std::vector<Error> check(const ComponentTypeSpec& spec) {
    check_rules(spec.preRenderValidations, spec.postRenderValidations);
    check_templates(spec.resources, "/spec/resources");
    for (size_t index = 0; index < spec.addons.size(); ++index) {
      check_tree(scope_, spec.addons[index].config, "/spec/addons/" + std::to_string(index) + "/config");
    }
    return std::move(faults_);
  }

  std::vector<Error> check(const AddonSpec& spec) {
    scope_.set("instanceId", json::value(), scope_.types().basic(cel::TypeKind::string));
    check_rules(spec.preRenderValidations, spec.postRenderValidations);
    check_templates(spec.creates, "/spec/creates");
    for (size_t index = 0; index < spec.patches.size(); ++index) {
      const Patch& patch = spec.patches[index];
      const auto place = "/spec/patches/" + std::to_string(index);
      Scope turn(scope_, 0);
      if (!check_loop(turn, patch.forEach, patch.var, place)) continue;
      check_target(turn, patch.target, place + "/target");
      for (size_t number = 0; number < patch.operations.size(); ++number) {
        const auto at = place + "/operations/" + std::to_string(number);
        check_tree(turn, json::value(patch.operations[number].path), at + "/path");
        check_tree(turn, patch.operations[number].value, at + "/value");
      }
    }
    return std::move(faults_);
  }

 private:
  void fault(const std::string& path, std::string message) {
    faults_.push_back(
        {.code = Code::invalid, .message = std::move(message), .path = path, .position = document_.position_of(path)});
  }

  void check_tree(Scope& scope, const json::value& tree, const std::string& place) {
    scope.check(tree, [&](Error error) { fault(place + error.path, error.message); });
  }

  void check_bool(Scope& scope, const std::string& text, const std::string& place) {
    const auto type = scope.type_of(text);
    if (!type) return fault(place, type.error().message);
    if ((*type)->kind == cel::TypeKind::boolean || (*type)->kind == cel::TypeKind::dynamic) return;
    fault(place, text + " must give a bool, and gives " + cel::to_string(**type));
  }

  // Adds the loop's variable; false if what it loops over cannot be.
  bool check_loop(Scope& scope, const std::optional<std::string>& for_each, const std::optional<std::string>& var,
                  const std::string& place) {
    if (!for_each) return true;
    const auto type = scope.type_of(*for_each);
    if (!type) {
      fault(place + "/forEach", type.error().message);
      return false;
    }
    const auto* turn = scope.type_of_turn(**type);
    if (turn == nullptr) {
      fault(place + "/forEach", *for_each + " must give a list or a map, and gives " + cel::to_string(**type));
      return false;
    }
    scope.set(var.value_or("item"), json::value(), turn);
    return true;
  }

  void check_target(Scope& scope, const PatchTarget& target, const std::string& place) {
    if (!target.where) return;
    Scope inner(scope, 0);
    inner.set("resource", json::value(), inner.types().dynamic());
    check_bool(inner, *target.where, place + "/where");
  }

  void check_templates(const std::vector<ResourceTemplate>& templates, const std::string& list) {
    for (size_t index = 0; index < templates.size(); ++index) {
      const auto& each = templates[index];
      const auto place = list + "/" + std::to_string(index);
      if (each.includeWhen) check_bool(scope_, *each.includeWhen, place + "/includeWhen");
      Scope turn(scope_, 0);
      if (check_loop(turn, each.forEach, each.var, place)) check_tree(turn, each.template_, place + "/template");
    }
  }

  void check_rules(const std::vector<Validation>& before, const std::vector<PostValidation>& after) {
    for (size_t index = 0; index < before.size(); ++index) {
      check_bool(scope_, before[index].rule, "/spec/preRenderValidations/" + std::to_string(index) + "/rule");
    }
    for (size_t index = 0; index < after.size(); ++index) {
      const auto place = "/spec/postRenderValidations/" + std::to_string(index);
      if (after[index].when) check_bool(scope_, *after[index].when, place + "/when");
      Scope inner(scope_, 0);
      if (after[index].target) {
        check_target(scope_, *after[index].target, place + "/target");
        inner.set("resource", json::value(), inner.types().dynamic());
      }
      check_bool(inner, after[index].rule, place + "/rule");
    }
  }

  const Document& document_;
  Scope scope_;
  std::vector<Error> faults_;
};

}  // namespace

std::vector<Error> check_expressions(const Defined<ComponentTypeKind>& type) {
  return Checker(type.document, type.value.spec.schema).check(type.value.spec);
}

std::vector<Error> check_expressions(const Defined<AddonKind>& addon) {
  return Checker(addon.document, addon.value.spec.schema).check(addon.value.spec);
}

}  // namespace sluice::component
