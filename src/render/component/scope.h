// The expressions of templates, `${…}`, and the values that they see.
//
//   Scope scope(zones);
//   scope.set("parameters", parameters, schema.type(scope.types()));
//   auto object = scope.fill(template_, trace);      // every ${…} in keys and texts
//   auto yes = scope.holds("${parameters.replicas > 1}");
//
// A text that is one expression becomes its value, with its type; in other texts the value's text is put in, and never
// read again. What an expression gives up by oc_omit() is left out. Expressions are compiled once for each scope.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "render/cel/program.h"

namespace sluice::component {

// Told of each text with expressions: where it stands in the template and in the result, as JSON pointers.
using Trace = std::function<void(const std::string& from, const std::string& to, std::string_view text)>;

class Scope {
 public:
  explicit Scope(const TimeZones* zones = nullptr) : environment_(zones), zones_(zones) {}
  // All that `outer` has, and more. It must outlive this one.
  explicit Scope(const Scope& outer, int);

  void set(const std::string& name, const json::value& value, const cel::Type* type);
  void set(const std::string& name, const cel::Value& value, const cel::Type* type);
  cel::TypePool& types() { return environment_.types(); }

  // Errors have the path of the text within the template.
  Result<json::value> fill(const json::value& template_, const Trace& trace = {});
  Result<std::string> text(std::string_view text);
  // Of a text that is one expression, which must give a bool.
  Result<bool> holds(std::string_view text);

  // What can be said before there are values: the faults of a template's expressions, each with the path of its text.
  void check(const json::value& template_, const std::function<void(Error)>& fault);
  // Of a text that is one expression.
  Result<const cel::Type*> type_of(std::string_view text);
  // The type of what turns() gives for a text of this type; null if it can give no turns.
  const cel::Type* type_of_turn(const cel::Type& type);

  struct Turn {
    cel::Value value;
    const cel::Type* type;
  };
  // Of a text that is one expression, which must give a list, or a map, whose entries come as {key, value}, by key.
  Result<std::vector<Turn>> turns(std::string_view text);

 private:
  // A text taken apart: literal pieces and programs by turns.
  struct Piece {
    std::string literal;
    const cel::Program* program = nullptr;
  };

  Result<std::vector<Piece>> pieces_of(std::string_view text);
  Result<const cel::Program*> program(std::string_view expression);
  Result<const cel::Program*> only_program(std::string_view text);
  void check(const json::value& template_, const std::string& at, const std::function<void(Error)>& fault);
  void check_text(std::string_view text, bool is_key, const std::string& at, const std::function<void(Error)>& fault);
  Result<cel::Value> run(const cel::Program& program);
  Result<cel::Value> value_of(std::string_view text, bool& traced);
  Result<bool> fill(const json::value& template_, const std::string& from, const std::string& to, json::value& made,
                    const Trace& trace);

  cel::Environment environment_;
  const TimeZones* zones_;
  cel::Arena arena_{size_t{64} << 20};
  std::vector<cel::Value> values_;
  std::vector<std::pair<std::string, const cel::Type*>> declared_;
  std::unordered_map<std::string, std::unique_ptr<cel::Program>> programs_;
};

// The expressions within a text, without `${` and `}`; an error names what is wrong.
Result<std::vector<std::string>> expressions_of(std::string_view text);

}  // namespace sluice::component
