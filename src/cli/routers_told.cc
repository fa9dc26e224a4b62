// Only what is not as it should be is said, and that everybody obeys.
#include "cli/routers_told.h"

#include <algorithm>

#include "router.gen.h"

namespace sluice::cli {

namespace {

bool obeys(const deploy::router::RouterMember& member, int64_t generation) {
  return member.acknowledged >= generation && member.trouble.empty();
}

}  // namespace

bool routers_obey(const deploy::views::States& states, const std::string& environment) {
  const deploy::router::RouterId id(environment);
  const auto table = states.router().get(id);
  return std::ranges::all_of(states.router().members(id).values(),
                             [&](const auto& each) { return table && obeys(each, table->generation); });
}

void tell_of_routers(Context& context, const deploy::views::States& states, const std::string& environment) {
  const deploy::router::RouterId id(environment);
  auto table = states.router().get(id);
  auto members = states.router().members(id).values();
  if (members.empty()) {
    context.output.note("no router serves " + environment + " yet; next: sluice router run");
    return;
  }
  std::string obey;
  for (const auto& each : members) {
    if (table && obeys(each, table->generation)) {
      obey += (obey.empty() ? "" : ", ") + each.name;
    } else {
      context.output.warn("the router " + each.name + " does not obey it yet" +
                          (each.trouble.empty() ? "" : ": " + each.trouble));
    }
  }
  if (!obey.empty()) context.output.note("obeyed by the router " + obey);
}

}  // namespace sluice::cli
