// Finds what a person probably meant: the known name nearest to a mistyped word.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// How many insertions, deletions, replacements and swaps of neighbours turn one word into the other. Costs the product
// of the lengths.
size_t edit_distance(std::string_view from, std::string_view to);

// The candidate with the least distance to the word, the first of equals; nothing if none is near enough to be what
// was meant (a third of the word's length, at least one), or if the word is longer than any name (64 bytes).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates);
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace sluice
