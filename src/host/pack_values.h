// Values that come from a program that somebody else wrote, held against the types of a `.concept`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/document.h"
#include "lang/check/symbols.h"

namespace sluice::host {

// What is wrong with it, as "entries[2].weight: expected Int, found a text"; empty if nothing is. `name` is how the
// value is called.
std::string fault_of_value(const lang::Types& types, lang::TypeId type, const json::value& value,
                           const std::string& name);

// The same of an object by the fields that it must have; options may be left out, and nothing else may be there.
std::string fault_of_fields(const lang::Types& types, const std::vector<lang::FieldSymbol>& fields,
                            const json::object& object);

// The object with every sealed value in it replaced, wherever it stands.
json::object with_sealed(const lang::Types& types, const std::vector<lang::FieldSymbol>& fields, json::object object,
                         const std::function<std::string(const std::string&)>& replace);

}  // namespace sluice::host
