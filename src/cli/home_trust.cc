// The root as Trust/export tells it.
#include "cli/home_trust.h"

#include "cli/deploy_home.h"

namespace sluice::cli {

Result<bundle::TrustRoot> trust_root_of_home(Context& context) {
  auto home = open_deploy_home_to_read(context);
  if (!home) return home.error();
  if (!*home) return bundle::TrustRoot();
  auto answer = (*home)->ask("Trust/export", {});
  if (!answer) return answer.error();
  return bundle::parse_trust_root(answer->text("root"), "the home's trust root");
}

}  // namespace sluice::cli
