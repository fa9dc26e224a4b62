// sluice serve of a replica that does not lead: it answers at the home's socket and at its address by passing each
// request on to the replica that leads, with the token that the caller has shown; who asks at the socket, the home's
// owner, is known there by the cluster's key. Meanwhile it keeps its home up to date, so that it can lead at once.
//
//   auto following = Following::start(opening, orders);
//   if (*following && *(*following)->run(stop)) …   // nobody leads any more: this one may try
//
// What it says of itself, and its end, are its own: /v1/status and /v1/stop at its socket.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/lock_file.h"
#include "host/certificates.h"
#include "host/kit_watch.h"
#include "host/opening.h"
#include "host/postgres_home.h"
#include "http/client.h"
#include "http/server.h"

namespace sluice::host {

struct FollowingOrders {
  std::string listen;  // ADDRESS:PORT; empty: the socket alone
  CertificateOrders certificates;
  std::string version;
};

class Following {
 public:
  // Null: nobody leads. What the opening refers to must outlive it.
  static Result<std::unique_ptr<Following>> start(const Opening& opening, FollowingOrders orders);
  ~Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  // Until nobody leads any more (true), or the signal or somebody at the socket asks for the end (false).
  bool run(const StopSignal& stop);

 private:
  Following(const Opening& opening, std::unique_ptr<RealClock> clock, OpenedPostgres postgres,
            store::postgres::Lease leader, std::string version);
  Result<void> serve(FollowingOrders orders);
  http::Response answer(const http::Request& request, const http::Peer& peer);
  http::Response about(int status);
  Result<std::unique_ptr<http::Client>> to_leader();
  store::postgres::Lease leader();
  void bring_files();
  // Whoever waits for an answer of the one that led hears that there will be none; otherwise a leader that was paused
  // would be waited for, and nobody else could lead.
  void break_off();
  void log(const std::string& text);

  const Opening& opening_;
  std::unique_ptr<RealClock> clock_;  // of the store, too
  OpenedPostgres postgres_;
  const std::string version_, socket_;
  int64_t since_ms_ = 0;
  uint64_t brought_ = 0;  // the newest version of the files that the home has
  std::mutex mutex_;
  store::postgres::Lease leader_;
  std::map<uint64_t, http::Socket> under_way_;  // connections to the one that leads, by the request's number
  uint64_t requests_ = 0;
  std::atomic<bool> asked_to_stop_ = false, ended_ = false;
  std::optional<LockFile> lock_;
  std::unique_ptr<Certificates> certificates_;
  std::unique_ptr<http::Server> server_, tcp_;
};

}  // namespace sluice::host
