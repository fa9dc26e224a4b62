// A Document is a JSON tree together with where each of its nodes stands in the text, whether that text was JSON or
// YAML. Readers of typed values take a Document, so that an error says file:line:column as well as a JSON pointer.
//
// Marks are one per node in pre-order (a node, then its children in order; object keys have no mark of their own but
// share that of their value's key). That costs eight bytes a node while parsing; only an error walks the tree.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

namespace json = boost::json;

struct Mark {
  uint32_t line = 0;  // both counted from 1
  uint32_t column = 0;

  bool operator==(const Mark&) const = default;
};

struct Document {
  json::value root;
  std::string file;         // as errors name it; may be empty
  std::vector<Mark> marks;  // pre-order; empty when the tree was not parsed from text

  // Where the node at a JSON pointer (RFC 6901) stands; the nearest ancestor if there is no such node.
  std::optional<Position> position_of(std::string_view pointer) const;
};

// A node and everything beneath it.
size_t count_nodes(const json::value& node);

}  // namespace sluice
