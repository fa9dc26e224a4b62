// Service is the engine as HTTP (docs/internals/api.md): a request becomes a caller, an action or a read, and an answer
// in JSON with a fixed shape; errors are problems with the codes of base/code.h. It is the same code on every listener.
//
//   Service service({.engine = …, .store = …, …});
//   http::Response response = service.answer(request, peer);
//
// A caller is the person behind the home's socket, or the one whose token or session cookie the request carries
// (logins.h). The home's owner may do everything, others what the access policy gives them (host/authority.h); what
// they are denied, the journal says.
#pragma once

#include <atomic>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "api/event_feed.h"
#include "api/logins.h"
#include "api/pages.h"
#include "api/recent_reads.h"
#include "api/sso_logins.h"
#include "api/view_memo.h"
#include "base/clock.h"
#include "base/disk.h"
#include "engine/engine.h"
#include "host/engine_door.h"
#include "host/partial_uploads.h"
#include "host/serving.h"
#include "host/visible_store.h"
#include "http/server.h"
#include "lang/check/check.h"
#include "mcp/endpoint.h"

namespace sluice::api {

class Service final : public host::SocketService {
 public:
  // The pages of the console, if the program has them; they must outlive it.
  explicit Service(host::ServiceParts parts, std::span<const Page> pages = {});

  http::Response answer(const http::Request& request, const http::Peer& peer) override;
  std::optional<http::Response> answer_at_once(const http::Request& request, const http::Peer& peer) override;
  std::optional<http::Response> answer_from_committed(const http::Request& request, const http::Peer& peer) override;
  void stop_waiting() override { stopping_ = true; }

  // Who a request comes from, for a service that answers other paths to the same callers; and what they may do here.
  Result<engine::Caller> who(const http::Request& request, const http::Peer& peer) const;
  host::EngineDoor door_of(const engine::Caller& caller);

 private:
  struct Call;
  struct Route;
  static const std::vector<Route>& routes();
  static std::string denied_thing(const Route& route, const http::Request& request);

  http::Response health();
  http::Response login(const Call& call);
  http::Response logout(const Call& call);
  http::Response session(const Call& call);
  http::Response session_shown(const engine::Caller& caller, const std::optional<Logins::Who>& in);
  http::Response make_code(const Call& call);
  http::Response invite_replica(const Call& call);
  http::Response join_replica(const Call& call);
  http::Response invite_router(const Call& call);
  http::Response join_router(const Call& call);
  http::Response renew_router(const Call& call);
  http::Response link_router(const Call& call);
  http::Response remove_router(const Call& call);
  http::Response sso(const Call& call);
  http::Response sso_start(const Call& call);
  http::Response sso_callback(const Call& call);
  http::Response status(const Call& call);
  http::Response stop(const Call& call);
  http::Response act(const Call& call);
  http::Response reserved(const Call& call);
  http::Response run_action(const Call& call, const std::string& name, json::object input, const std::string& reason,
                            bool dry_run);
  http::Response describe(const Call& call);
  http::Response answer_of(const Call& call);
  http::Response openapi(const Call& call);
  http::Response metrics(const Call& call);
  http::Response views(const Call& call);
  http::Response view(const Call& call);
  void keep_for_a_moment(const Call& call, const http::Response& response, uint64_t position);
  http::Response view_schema(const Call& call);
  http::Response decide(const Call& call);
  http::Response publish_mesh(const Call& call);
  http::Response git_hook(const Call& call);
  http::Response put_blob(const Call& call);
  http::Response patch_blob(const Call& call);
  http::Response head_blob(const Call& call);
  std::optional<http::Response> upload_denied(const Call& call);
  host::PartialUploads partial_uploads() const;
  std::optional<http::Response> precondition_missing(const Call& call, const std::string& name,
                                                     const json::object& input,
                                                     const std::optional<uint64_t>& generation, bool dry_run);
  http::Response flows(const Call& call);
  http::Response flow(const Call& call);
  http::Response steps(const Call& call);
  http::Response state(const Call& call);
  http::Response position(const Call& call);
  http::Response journal(const Call& call);
  http::Response events(const Call& call);
  http::Response logs(const Call& call);
  http::Response exec(const Call& call);
  http::Response mcp(const Call& call);
  http::Response event_kinds(const Call& call);

  // What a caller is told that needs another kit than the one that runs.
  std::optional<Error> other_kit(const http::Request& request) const;
  struct Known;
  Result<Known> caller_of(const http::Request& request, const http::Peer& peer) const;
  // Whether they have logged out, or their token has ended, since they began to read.
  std::function<bool()> gone(const engine::Caller& caller, const std::string& session) const;
  // What is to be told who may not come in here at all.
  std::optional<Error> denied_at(const Route& route, const Call& call) const;
  // The store as the caller may see it; null: all of it.
  std::unique_ptr<host::VisibleStore> visible_to(const engine::Caller& caller) const;
  Result<std::unique_ptr<store::Snapshot>> read_for(const Call& call) const;
  host::EngineDoor door_for(const Call& call);
  bool was_used(const engine::Caller& caller, const std::string& key) const;
  http::Response answered(const Call& call, const host::Answer& answer, bool repeatable = false);
  http::Response answered_with(const Call& call, const host::Answer& answer, json::object shown);
  std::function<bool()> until(const Call& call, int64_t otherwise_ms) const;
  std::optional<http::Response> not_there_yet(const Call& call) const;
  void log(const std::string& text) const {
    if (parts_.log) parts_.log(text);
  }

  host::ServiceParts parts_;
  std::optional<host::CommittedByEngine> by_engine_;
  Logins logins_{parts_};
  SsoLogins sso_{parts_, logins_};
  Pages pages_;
  ViewMemo memo_{*parts_.clock};
  RecentReads recent_;
  std::atomic<bool> stopping_ = false;
  EventHub events_{parts_, stopping_};
  mcp::Endpoint mcp_;
};

}  // namespace sluice::api
