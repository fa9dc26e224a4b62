// Only what is not as it should be is said, and that everybody obeys.
#include "cli/routers_told.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
#include "router/control_client.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kLocal = "local";
constexpr int64_t kRouterAnswer_ms = 5'000;

}  // namespace

Result<deploy::views::RoutersView> routers_of(CommandDoor& door, const std::string& environment) {
  constexpr int64_t kMoment_ns = 5'000'000'000;
  constexpr int64_t kLook_ms = 50;
  RealClock clock;
  const int64_t until_ns = clock.monotonic_ns() + kMoment_ns;
  while (true) {
    auto routers = door.read<deploy::views::RoutersView>("routers", {{"environment", environment}});
    if (!routers) return routers;
    const bool on_its_way =
        std::ranges::any_of(routers->members, [](const auto& each) { return !each.obeys && each.trouble.empty(); });
    if (!on_its_way || clock.monotonic_ns() >= until_ns) return routers;
    clock.sleep_ms(kLook_ms);
  }
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

Result<void> introduce_router(CommandDoor& door, const host::RouterHere& here) {
  namespace views = deploy::views;
  auto routers = door.read<views::RoutersView>("routers", {{"environment", kLocal}});
  if (!routers) return routers.error();
  const host::RunningRouter& router = here.router;
  const bool known =
      std::ranges::find(routers->members, router.name, &views::RouterMemberView::name) != routers->members.end();
  if (known && !here.started) return {};
  auto client = ::sluice::router::ControlClient::connect(router.control, kRouterAnswer_ms);
  auto stats = client ? client->ask({{"op", "stats"}, {"deployment", "-"}}) : client.error();
  if (!stats) return stats.error();
  const json::value* environment = stats->if_contains("environment");
  const json::value* generation = stats->if_contains("generation");
  const bool fresh = environment == nullptr || !environment->is_string() || environment->get_string().empty();
  if (!fresh && environment->get_string() != kLocal) {
    return Error{.code = Code::conflict,
                 .message = "the router main obeys " + std::string(environment->get_string()) + ", not local"};
  }
  auto answer = door.call("Router/register",
                          {{"environment", kLocal},
                           {"router", router.router},
                           {"name", router.name},
                           {"control", router.control},
                           {"generation", generation != nullptr && generation->is_int64() ? *generation : 0}},
                          host::WaitFor::answer, "register");
  if (!answer) return answer.error();
  return {};
}

}  // namespace sluice::cli
