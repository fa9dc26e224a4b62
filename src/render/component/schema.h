// What parameters may be: a schema as a definition declares it, in one of two forms, and what follows from it.
//
//   replicas: integer | default=1 minimum=1          the short form: a type, then constraints
//   hosts: "[]string | default=[]"
//   resources: {cpu: string | default=100m}          an object of fields
//   size: {$default: {width: 1}, width: integer}     an object with a default of its own
//
//   openAPIV3Schema: {type: object, properties: …}   the long form, as Kubernetes has it
//
// In the short form a field without a default is required. References lead to `$defs` of the same schema, or to `types`
// in the short form.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "render/cel/type.h"

namespace sluice::component {

struct SchemaFault {
  std::string path;  // a JSON pointer into what was checked
  std::string message;

  bool operator==(const SchemaFault&) const = default;
};

class Schema {
 public:
  // `declared` is either form; null declares that there are no parameters. Errors have the path within it.
  static Result<Schema> parse(const json::value& declared);

  // Fills in what is missing and has a default, at every level that is there.
  void add_defaults(json::value& value) const;
  // All faults, in the order of the schema.
  std::vector<SchemaFault> check(const json::value& value) const;
  // The type that expressions see. It lives in the pool.
  const cel::Type* type(cel::TypePool& pool) const;
  // Whether a schema says that this path may be there.
  bool knows(std::string_view pointer) const;

  // The schema in its long form.
  const json::object& document() const { return root_; }

 private:
  const json::object* resolve(const json::object& schema) const;
  void add_defaults(const json::object& schema, json::value& value, int depth) const;
  void check(const json::object& schema, const json::value& value, const std::string& path,
             std::vector<SchemaFault>& faults, int depth) const;
  void check_size(const json::object& schema, const json::value& value, const std::string& path,
                  std::vector<SchemaFault>& faults) const;
  void check_members(const json::object& schema, const json::object& value, const std::string& path,
                     std::vector<SchemaFault>& faults, int depth) const;
  void check_choices(const json::object& schema, const json::value& value, const std::string& path,
                     std::vector<SchemaFault>& faults, int depth) const;
  bool holds(const json::value& schema, const json::value& value, int depth) const;
  const cel::Type* type_of(const json::object& schema, cel::TypePool& pool, int depth) const;

  json::object root_;
};

// The long form of a short one. Errors have the path within it.
Result<json::object> expand_short_schema(const json::object& fields);

}  // namespace sluice::component
