// The functions of CEL: each is declared once, by a signature as text, and both the checker and the evaluator go by it.
//
//   {"(string).charAt(int) -> string", char_at}      'abc'.charAt(1)
//   {"math.ceil(double) -> double", ceil}            math.ceil(1.5)
//   {"_+_(int, int) -> int", add_integers}           1 + 2
//
// A single capital letter is a type parameter. Of several overloads that fit, the first is called.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/cel/type.h"
#include "render/cel/value.h"

namespace sluice {
class TimeZones;
}

namespace sluice::cel {

struct Call {
  std::span<const Value> given;
  Arena& arena;
  uint32_t offset = 0;
  const TimeZones* zones = nullptr;

  const Value& operator[](size_t index) const { return given[index]; }
  Value fault(std::string_view text) const { return arena.fault(text, offset); }
  Value string(std::string_view text) const { return arena.string(text); }
};

using Native = Value (*)(const Call&);

// For functions that are alike on both kinds of whole numbers.
inline constexpr auto kInteger = &Value::integer;
inline constexpr auto kUnsigned = &Value::unsigned_integer;

struct Declared {
  std::string_view signature;
  Native native;
};

struct Overload {
  std::vector<const Type*> parameters;  // with the receiver first
  const Type* result = nullptr;
  bool receiver = false;
  Native native = nullptr;

  bool takes(std::span<const Value> values) const;
};

struct Function {
  std::string name;
  std::vector<Overload> overloads;
};

// "no '+' takes (int, string)"
std::string no_overload(std::string_view name, std::span<const Value> given);

class Library {
 public:
  void add(std::span<const Declared> declared);
  void add(std::string_view signature, Native native);
  const Function* find(std::string_view name) const;
  const std::map<std::string, Function, std::less<>>& functions() const { return functions_; }

 private:
  TypePool pool_;
  std::map<std::string, Function, std::less<>> functions_;
};

// The standard functions; optionals, strings, math, lists, sets, encoders; and the oc_ functions of templates.
const Library& standard_library();

// What standard_library() is made of, a file each.
void add_ordering(Library& library);  // < <= > >=
std::span<const Declared> operators();
std::span<const Declared> conversions();
std::span<const Declared> text_functions();
std::span<const Declared> format_functions();
std::span<const Declared> math_functions();
std::span<const Declared> time_functions();
std::span<const Declared> collection_functions();
std::span<const Declared> optional_functions();
std::span<const Declared> template_functions();
void add_template_functions(Library& library);  // those that take any number of arguments

}  // namespace sluice::cel
