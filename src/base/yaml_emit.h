// A JSON tree as YAML that people like to read: block style, two spaces a level, strings plain where they can be.
//
// parse_yaml(emit_yaml(x)) is x again, to the type of every number and the last space of every string, for every tree
// that parse_yaml could have given: strings are UTF-8 and doubles are finite. (Bytes that are not UTF-8 become U+FFFD;
// infinities and not-a-number become .inf and .nan, which parse_yaml refuses.)
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace sluice {

namespace json = boost::json;

std::string emit_yaml(const json::value& value);

}  // namespace sluice
