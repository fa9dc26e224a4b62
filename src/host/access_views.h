// Views about the caller: who they are, what they may do, and what they called. They are not read from what the caller
// may see of the store, so that somebody who may see nothing learns that much.
#pragma once

#include <string_view>
#include <vector>

#include "host/authority.h"
#include "lang/run/view.h"

namespace sluice::host {

struct Asking {
  const Authority& authority;
  const engine::Caller& caller;
  store::Store& store;
};
using AccessView = lang::ViewFrom<Asking>;

const std::vector<AccessView>& access_views();
// Null: it is not about the caller.
const AccessView* find_access_view(std::string_view name);

struct WhoamiQuery {};
BOOST_DESCRIBE_STRUCT(WhoamiQuery, (), ())

struct WhoamiView {
  std::string caller;
  bool owner = false;         // of the home, whom no policy binds
  OrNull<std::string> token;  // by which they came
  std::vector<deploy::AccessGrant> grants;
};
BOOST_DESCRIBE_STRUCT(WhoamiView, (), (caller, owner, token, grants))

struct CanQuery {
  std::string action;                      // "Traffic/set"
  std::optional<std::string> environment;  // where; left out: outside of any environment
  std::vector<std::string> labels;         // of the deployment
  std::optional<std::string> input;        // in place of both: the arguments, as JSON
  std::optional<std::string> as;           // another subject than the caller; for admins
  static constexpr std::string_view kDefaulted[] = {"labels"};
};
BOOST_DESCRIBE_STRUCT(CanQuery, (), (action, environment, labels, input, as))

struct CanView {
  std::string caller, action;
  std::string right;  // that the action needs
  bool allowed = false;
  std::string why;
  bool reason_needed = false;  // such a call must say why
};
BOOST_DESCRIBE_STRUCT(CanView, (), (caller, action, right, allowed, why, reason_needed))

struct KeyedCallQuery {
  std::string key;
};
BOOST_DESCRIBE_STRUCT(KeyedCallQuery, (), (key))

// What the caller called under an idempotency key, and how it ended.
struct KeyedCallView {
  std::string flow;
  std::string action;
  json::value input;
  OrNull<std::string> variant;  // none: it has not ended
  json::value fields;
};
BOOST_DESCRIBE_STRUCT(KeyedCallView, (), (flow, action, input, variant, fields))

}  // namespace sluice::host
