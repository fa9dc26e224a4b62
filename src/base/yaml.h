// YAML text into a Document: libyaml's events become the JSON tree, with the place of every node.
//
// The types of plain scalars are those of the YAML 1.2 core schema, not of YAML 1.1: `no`, `on` and `12:30` are
// strings, `012` is twelve, `0o14` too. Beyond what the schema settles:
//
//   integers    must fit into 64 bits (signed or unsigned): digits are never lost by turning one into a double
//   floats      must be finite; .inf and .nan are refused, as JSON has neither
//   tags        !!str !!int !!float !!bool !!null !!map !!seq are honoured, every other tag is refused
//   keys        are the text of a scalar as it is written (`1.0: x` has the key "1.0"); a map or a list as key is
//   refused duplicates  are refused, also where they are spelled differently (`a` and "a") anchors     are expanded,
//   within the limits below; an alias inside the node that it names is refused merge keys  `<<` takes a map or a list
//   of maps; a map's own keys win, then the earlier map. Merged keys come after
//               the map's own
//   characters  control characters, U+FEFF inside the text and the line breaks of YAML 1.1 that 1.2 gave up (U+0085,
//               U+2028, U+2029) are refused unless they are escaped in double quotes
//
// A member's mark is the place of its key, any other node's its own place; nodes that came by an alias or a merge keep
// the marks of where they are written. All errors have a position; their code is `limit` if
// the text is beyond the limits below, else `invalid`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice {

// What a text may at most become; aliases and merges count as if they were written out. Time and memory follow from
// these, whatever the text says.
struct YamlLimits {
  size_t max_depth = 128;                   // maps and lists inside one another
  size_t max_nodes = 1'000'000;             // values of all documents of the text
  size_t max_bytes = 64 * size_t{1} << 20;  // the text itself, and the strings and keys of all documents
  size_t max_anchors = 10'000;              // in one document
  // What aliases and merges may add to the text's own values and strings. Small, because here a short text would
  // otherwise ask for much memory; people who repeat a setting a hundred times are far below it.
  size_t max_added_nodes = 20'000;
  size_t max_added_bytes = size_t{1} << 20;
};

// The one document of a text; null if the text is empty.
Result<Document> parse_yaml(std::string_view text, std::string file = "", YamlLimits limits = {});

// All documents of a text, in order; none if the text is empty.
Result<std::vector<Document>> parse_yaml_stream(std::string_view text, std::string file = "", YamlLimits limits = {});

}  // namespace sluice
