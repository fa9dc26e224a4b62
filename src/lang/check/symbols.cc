// Look-ups by name, used only while checking.
#include "lang/check/symbols.h"

#include <algorithm>

namespace sluice::lang {
namespace {

template <typename T>
std::optional<size_t> index_of(const std::vector<T>& all, std::string_view name) {
  auto found = std::ranges::find(all, name, &T::name);
  if (found == all.end()) return std::nullopt;
  return static_cast<size_t>(found - all.begin());
}

}  // namespace

std::optional<size_t> Symbols::find_concept(std::string_view name) const {
  auto found = by_name.find(std::string(name));
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

std::optional<size_t> Symbols::find_action(size_t concept_, std::string_view name) const {
  return index_of(concepts[concept_].actions, name);
}

std::optional<ActionRef> Symbols::find_action(std::string_view name) const {
  size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto owner = find_concept(name.substr(0, slash));
  auto number = owner ? find_action(*owner, name.substr(slash + 1)) : std::nullopt;
  if (!number) return std::nullopt;
  return ActionRef{*owner, *number};
}

std::optional<size_t> find_field(const std::vector<FieldSymbol>& fields, std::string_view name) {
  return index_of(fields, name);
}

std::optional<size_t> find_variant(const ActionSymbol& action, std::string_view name) {
  return index_of(action.variants, name);
}

}  // namespace sluice::lang
