// What an action is called with, from `name=value` words or a JSON file, typed by the action's parameters: text stays
// text, everything else (numbers, true and false, lists, records) is written as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"
#include "lang/check/symbols.h"

namespace sluice::cli {

struct CalledAction {
  const lang::Symbols& symbols;
  lang::ActionRef ref;
  std::string command = "sluice kit run KIT";  // by which it is called
  std::string file_option = "--input";         // and by which option it takes a file of arguments

  const lang::ActionSymbol& action() const { return symbols.action(ref); }
  std::string name() const { return symbols.name(ref); }
  // "item=TEXT count=NUMBER [note=TEXT]", without what the engine fills in.
  std::string usage() const;
};

// "Concept/action" of the kit; `not_found` names what was probably meant.
Result<CalledAction> find_action(const lang::Symbols& symbols, std::string_view name);

// What `name=value` gives a field of this type.
Result<json::value> typed_value(const lang::Types& types, const lang::FieldSymbol& field, const std::string& text);

// Whether the words are all there is, or more may come from elsewhere: check_whole looks at all of it then. What is
// sealed is refused in words.
enum class Whole { no, yes };
Result<void> check_whole(const CalledAction& called, const json::object& input);
Result<json::object> input_from_words(const CalledAction& called, std::span<const std::string> words,
                                      Whole whole = Whole::yes);
Result<json::object> input_from_text(const CalledAction& called, std::string_view text, const std::string& file);

}  // namespace sluice::cli
