// The C++ types of a concept's fields. Records and literal unions have no name in a `.concept`; here each gets one from
// the concept and its field (`RolloutStep` for `steps: R -> list { … }`), once, wherever it is used with that name.
//
// It also names all other types of the concept's namespace, so that no two of them share a name: whoever comes later in
// the order `State` and `Effect`, handlers, ids, rows, actions, records and unions gets another one. None of these
// names ends in an underscore, as every member's does that begins with a capital.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

// Boost.Describe describes no more members of one struct.
constexpr size_t kMaxFields = 52;

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

  // `Rollout`: the struct of the handlers.
  const std::string& handlers() const { return handlers_; }
  // `RolloutId`: the id type of a type parameter.
  const std::string& id_of(const std::string& param) const { return ids_.at(param); }
  // `RolloutRecord`, `RolloutFound`: a row of a domain, and the same with its key. `RolloutWhole` has no key.
  const std::string& record_of(const std::string& domain) const { return rows_.at(domain).record; }
  const std::string& found_of(const std::string& domain) const { return rows_.at(domain).found; }
  // `Begin`: the struct of an action; its work is `BeginWork`.
  const std::string& action_of(const Action& action) const { return actions_.at(action.name); }
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

  struct RowTypes {
    std::string record, found;
  };

  std::string id_name(const std::string& param) const;
  // Takes the first free name of `word`, then the word with `more` at its end, then that with a number; `also` are
  // endings with which it must be free as well.
  std::string take(const std::string& word, const std::string& more, const std::vector<std::string>& also = {});
  Result<std::string> record(const Type& type, const std::string& base, const std::string& owner);
  std::string literals(const Type& type, const std::string& field, const std::string& owner);
  // A free name for a type of this shape, or the name under which it is already known; `known` says which.
  std::string claim(const std::string& base, const std::string& owner, const std::string& shape, bool& known);

  const Concept& spec_;
  std::string prefix_;                         // what names of the concept's types begin with
  std::map<std::string, std::string> shapes_;  // name -> what it stands for
  std::string handlers_;
  std::map<std::string, std::string> ids_;  // by type parameter
  std::map<std::string, RowTypes> rows_;    // by domain
  std::map<std::string, std::string> actions_;
  std::string enumerations_;
  std::string records_;
  std::vector<Mapped> mapped_;
};

// The shape of a type as one line of text: equal for equal types.
std::string shape_text(const Type& type);

}  // namespace sluice::lang
