// Only what is not as it should be is said, and that everybody obeys.
#include "cli/routers_told.h"

namespace sluice::cli {

void tell_of_routers(Context& context, const deploy::views::States& states, const std::string& environment) {
  const deploy::router::RouterId id(environment);
  auto table = states.router().get(id);
  auto members = states.router().members(id).values();
  if (members.empty()) {
    context.output.note("no router serves " + environment + ", so nobody obeys it yet; next: sluice router run");
    return;
  }
  std::string obey;
  for (const auto& each : members) {
    if (table && each.acknowledged >= table->generation && each.trouble.empty()) {
      obey += (obey.empty() ? "" : ", ") + each.name;
    } else {
      context.output.warn("the router " + each.name + " does not obey it yet" +
                          (each.trouble.empty() ? "" : ": " + each.trouble));
    }
  }
  if (!obey.empty()) context.output.note("obeyed by the router " + obey);
}

}  // namespace sluice::cli
