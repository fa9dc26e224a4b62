// The root as Trust/export tells it.
#include "cli/home_trust.h"

#include "cli/command_door.h"
#include "trust.gen.h"

namespace sluice::cli {

Result<bundle::TrustRoot> trust_root_of_home(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto exported = (*door)->read<deploy::trust::Export::Ok>("trust-root");
  if (!exported) return exported.error();
  return bundle::parse_trust_root(exported->root, "the home's trust root");
}

}  // namespace sluice::cli
