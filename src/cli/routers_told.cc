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

void tell_of_routers(Context& context, const deploy::views::RoutersView& routers) {
  if (routers.members.empty()) {
    context.output.note("no router serves " + routers.environment + " yet; next: sluice router run" +
                        (routers.environment == "local" ? "" : " --name " + routers.environment));
    return;
  }
  std::string obey;
  for (const deploy::views::RouterMemberView& each : routers.members) {
    if (each.obeys) {
      obey += (obey.empty() ? "" : ", ") + each.name;
    } else {
      context.output.warn("the router " + each.name + " does not obey it yet" +
                          (each.trouble.empty() ? "" : ": " + each.trouble));
    }
  }
  if (!obey.empty()) context.output.note("obeyed by the router " + obey);
}

void tell_of_routers(Context& context, const deploy::views::States& states, const std::string& environment) {
  const deploy::router::RouterId id(environment);
  auto table = states.router().get(id);
  deploy::views::RoutersView routers{.environment = environment};
  for (const auto& each : states.router().members(id).values()) {
    routers.members.push_back({.name = each.name,
                               .acknowledged = each.acknowledged,
                               .obeys = table && obeys(each, table->generation),
                               .trouble = each.trouble});
  }
  tell_of_routers(context, routers);
}

}  // namespace sluice::cli
