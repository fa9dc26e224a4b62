// Globs over paths: `*` is any text within a component, `?` one character of one, `[a-z]` one of a set, `**` any number
// of whole components, `\` takes the next character as it is. Time is at most pattern × path, whatever the two are.
#pragma once

#include <string_view>

namespace sluice::bundle {

// Whether the whole path matches; both have "/" between their components and none before or after.
bool glob_matches(std::string_view pattern, std::string_view path);

// Whether the path or a folder above it matches: a glob that names a folder means all that is in it.
bool glob_covers(std::string_view pattern, std::string_view path);

// Whether something below the folder could match, so that it must be walked. Never false when something does.
bool glob_may_match_below(std::string_view pattern, std::string_view folder);

}  // namespace sluice::bundle
