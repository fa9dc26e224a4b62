// The C++ types of a concept's fields. Records and literal unions have no name in a `.concept`; here each gets one from
// the concept and its field (`RolloutStep` for `steps: R -> list { … }`), once, wherever it is used with that name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lang/ast.h"

namespace sluice::lang {

struct CppMember {
  std::string type;
  std::string name;
  std::string initial;  // " = 0", or empty where the type's own default will do
};

// Members, one a line.
std::string cpp_members(const std::vector<CppMember>& members, size_t indent);
// BOOST_DESCRIBE_STRUCT of a struct with these members.
std::string cpp_describe(const std::string& type, const std::vector<CppMember>& members);

class CppTypes {
 public:
  explicit CppTypes(const Concept& spec);

  // A field as a member of a struct. The types that it needs are defined on the way. `owner` makes a further name when
  // two fields of one name have different types.
  Result<CppMember> member(const FieldDecl& field, const std::string& owner);
  Result<std::vector<CppMember>> members(const std::vector<FieldDecl>& fields, const std::string& owner);
  // The C++ type of a field, and of the elements of one that is a list or a set.
  Result<std::string> of(const Type& type, const std::string& field, const std::string& owner);
  Result<std::string> element_of(const Type& element, const std::string& field, const std::string& owner);

  // `RolloutId`: the id type of a type parameter.
  std::string id_of(const std::string& param) const;
  // The type of a key: an id type, or std::string.
  std::string key_of(const std::string& domain) const;

  // What has been defined so far: id types, enumerations, records in the order in which C++ needs them.
  std::string ids() const;
  const std::string& enumerations() const { return enumerations_; }
  const std::string& records() const { return records_; }
  // How unions whose literals are no C++ names stand in JSON, for namespace sluice; `ns` is that of the types.
  std::string scalars(const std::string& ns) const;

 private:
  struct Mapped {  // a union whose literals need a mapping
    std::string type;
    std::vector<std::pair<std::string, std::string>> names;  // enumerator, literal
  };

  Result<std::string> record(const Type& type, const std::string& base, const std::string& owner);
  std::string literals(const Type& type, const std::string& field, const std::string& owner);
  // A free name for a type of this shape, or the name under which it is already known; `known` says which.
  std::string claim(const std::string& base, const std::string& owner, const std::string& shape, bool& known);

  const Concept& spec_;
  std::map<std::string, std::string> shapes_;  // name -> what it stands for
  std::string enumerations_;
  std::string records_;
  std::vector<Mapped> mapped_;
};

// The struct of an action: `Begin`.
std::string action_type(const Concept& spec, const Action& action);

// The shape of a type as one line of text: equal for equal types.
std::string shape_text(const Type& type);

}  // namespace sluice::lang
