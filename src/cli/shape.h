// A shape says in a line what JSON looks like, and becomes a JSON Schema (draft 2020-12).
//
//   { name: text, size: int, owner: text?, note?: text, files: [{ path: text }] }
//
//   text int number bool time any object    as they are called; `time` is a text with a date and a time in UTC
//   'ready'                                 this text
//   a | b                                   one of them
//   a?                                      a, or null
//   [a]                                     a list of them
//   { name: a, other?: b }                  an object; `other` may be missing. Further members may come with time
//   { *: a }                                an object of any names
//   @name                                   a shape that has a name
//   &name                                   what the view of that name answers
//   =Concept/action                         what a command prints after an action of the kit: the fields of its `ok`
//                                           and the flow
//   ~Concept/action                         the same of a query, without a flow
//   a + b                                   two objects as one
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"

namespace sluice::cli {

// Where names and actions are looked up.
struct ShapeBook {
  // The text of a shape; empty for one that there is not.
  std::function<std::string(std::string_view name)> shape;
  // The schema of the fields of an action's `ok`; null for one that there is not.
  std::function<json::value(std::string_view action)> answer;
  // The schema of a view; null for one that there is not.
  std::function<json::value(std::string_view view)> view;
};

// A shape that is wrong is `invalid`, with the place in it.
Result<json::object> schema_of_shape(std::string_view shape, const ShapeBook& book);

// The same schema for what is read: no object may have a member that it does not name.
json::object closed(json::object schema);

}  // namespace sluice::cli
