// The parameters of a component, or of an addon, in one environment: what its author set, what the environment's
// settings say over it, and the defaults of the schema; and of each value who set it.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "render/component/kinds.h"
#include "render/component/schema.h"

namespace sluice::component {

// A value in a document.
struct Placed {
  const json::value* value = nullptr;
  const Document* document = nullptr;
  std::string pointer;  // of the value in the document
};

struct Origin {
  std::string owner;  // "default", "component", "settings"
  json::value value;
  std::optional<Position> position;
};

class Parameters {
 public:
  // Faults name the file where what is wrong stands. `settings` may have no value.
  static Parameters make(const ParameterSchemas& schemas, const Document& schema_document, const Placed& own,
                         const Placed& settings, std::vector<Error>& faults);

  const json::value& value() const { return value_; }
  const Schema& schema() const { return schema_; }
  // Who set the value at this pointer, and what it displaced: the winner first.
  std::vector<Origin> origins(const std::string& pointer) const;

 private:
  json::value value_ = json::object{};
  Schema schema_;
  Placed own_, settings_;
  const Document* schema_document_ = nullptr;
};

// Schemas of parameters and of what environments may override are one for those who read values. Errors have the path
// within the definition.
Result<Schema> whole_schema(const ParameterSchemas& schemas);

// Maps are merged, everything else is replaced.
void overlay(json::value& base, const json::value& over);

}  // namespace sluice::component
