// What callers may do, the Authority says.
#include "host/access_views.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "host/flows/flow_view.h"

namespace sluice::host {
namespace {

Result<WhoamiView> read_whoami(const Asking& asking, const WhoamiQuery&) {
  WhoamiView view{.caller = asking.caller.name, .owner = asking.authority.is_unbound(asking.caller)};
  if (!asking.caller.token.empty()) view.token = {asking.caller.token};
  if (!view.owner) view.grants = asking.authority.grants_of(asking.caller);
  return view;
}

Result<CanView> read_can(const Asking& asking, const CanQuery& query) {
  const Authority& authority = asking.authority;
  engine::Caller who = asking.caller;
  if (query.as && *query.as != who.name) {
    if (auto may = authority.may_globally(who, "administer", "ask what others may do"); !may) return may.error();
    if (auto sound = deploy::check_subject(*query.as); !sound) return sound.error();
    who = {.name = *query.as};
  }
  auto right = authority.right_of(query.action);
  if (!right) return right.error();
  json::object input;
  if (query.input) {
    auto parsed = parse_json(*query.input, "input");
    if (!parsed) return parsed.error();
    if (!parsed->root.is_object()) return Error{.code = Code::invalid, .message = "input is a JSON object"};
    input = parsed->root.get_object();
  }
  deploy::Wanted wanted{.action = query.action, .right = *right};
  if (query.environment) wanted.environments = {*query.environment};
  if (!query.labels.empty()) wanted.labels = {query.labels.begin(), query.labels.end()};
  const auto verdict = query.input ? authority.judge(who, query.action, input) : authority.judge(who, wanted);
  const bool why =
      query.input ? authority.demands_reason(who, query.action, input) : authority.demands_reason(who, wanted);
  return CanView{who.name, query.action, *right, verdict.allowed, verdict.why, why};
}

// Nothing for a key that is not known, or whose flow is too long ago.
Result<OrNull<KeyedCallView>> read_keyed_call(const Asking& asking, const KeyedCallQuery& query) {
  auto snapshot = asking.store.read();
  if (!snapshot) return snapshot.error();
  auto used = (*snapshot)->key(asking.caller.name, query.key);
  if (!used) return used.error();
  if (!*used) return OrNull<KeyedCallView>();
  auto row = (*snapshot)->flow((*used)->flow);
  if (!row) return row.error();
  if (!*row) return OrNull<KeyedCallView>();
  auto flow = view_flow(**snapshot, **row);
  if (!flow) return flow.error();
  const auto& all = flow->history.invocations;
  auto first = std::ranges::find(all, (*used)->invocation, &engine::PastInvocation::id);
  if (first == all.end()) return OrNull<KeyedCallView>();
  KeyedCallView view{.flow = to_string((*row)->id), .action = first->action, .input = first->input};
  view.fields = json::object();
  if (first->end) {
    view.variant = {first->end->variant};
    view.fields = first->end->fields;
  }
  return OrNull<KeyedCallView>(std::move(view));
}

}  // namespace

const std::vector<AccessView>& access_views() {
  static const std::vector<AccessView> kViews = {
      lang::make_view("access-can", "Whether the caller may call an action, and why", read_can),
      lang::make_view("keyed-call", "What the caller called under an idempotency key", read_keyed_call),
      lang::make_view("whoami", "Who the caller is, and what the access policy gives them", read_whoami)};
  return kViews;
}

const AccessView* find_access_view(std::string_view name) {
  const auto& views = access_views();
  auto found = std::ranges::find(views, name, &AccessView::name);
  return found == views.end() ? nullptr : &*found;
}

}  // namespace sluice::host
