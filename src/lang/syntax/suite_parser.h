// Reads a `suite.yaml`: which concepts, syncs and guards make a kit, in what tiers, and what it needs from others.
// Keys that are not known are errors, with the nearest known one; `infrastructure` and `chainConfigs` belong to Clef's
// own tools and are passed over.
//
// Returns nothing if it is no YAML. After any other error it returns what could be read, so that the rest of the kit
// can be judged; the sink has all errors that were found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/document.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {

// A kit's name is of a-z, 0-9 and -, begins with a letter and has at most 64 characters: it is a folder's name, and is
// printed as it is.
bool is_kit_name(std::string_view name);
constexpr std::string_view kKitName =
    "a kit's name is of a-z, 0-9 and -, begins with a letter and has at most 64 characters";

// Any other name in a suite or an overlay: of a concept, a sync, an alias, a tag.
bool is_rule_name(std::string_view name);
constexpr std::string_view kRuleName =
    "a name is of letters, digits, -, . and _, begins with a letter and has at most 256 characters";

std::optional<Suite> parse_suite(const Document& document, Diagnostics& found);
std::optional<Suite> parse_suite(std::string_view text, const std::string& file, Diagnostics& found);

// The same from a file, which is not read if it is too large.
std::optional<Suite> load_suite(const std::string& path, Diagnostics& found);

}  // namespace sluice::lang
