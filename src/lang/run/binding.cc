// Looking an action up.
#include "lang/run/binding.h"

namespace sluice::lang {

const ActionBinding* ConceptBinding::action(std::string_view action_name) const {
  for (const ActionBinding& candidate : actions) {
    if (candidate.name == action_name) return &candidate;
  }
  return nullptr;
}

}  // namespace sluice::lang
