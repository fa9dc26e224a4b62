// sluice serve of a replica that does not lead. It answers at the home's socket and at its address: who reads, from
// what is committed, also while nobody leads; everybody else by passing the request on to the replica that leads, with
// the token or the certificate that the caller has shown. Who asks at the socket, the home's owner, is known there by
// the cluster's key. Meanwhile it keeps its home up to date, so that it can lead at once.
//
//   auto following = Following::start(opening, orders);
//   if (*following && *(*following)->run(stop)) …   // nobody leads any more: this one may try
//   (*following)->make_way();                       // and then listens in its place
//
// A call under a key whose answer is lost is asked for again, of whoever leads then. What it says of itself, and its
// end, are its own: /v1/status and /v1/stop at its socket.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/lock_file.h"
#include "host/authority.h"
#include "host/certificates.h"
#include "host/committed.h"
#include "host/kit_watch.h"
#include "host/opening.h"
#include "host/postgres_home.h"
#include "host/serving.h"
#include "http/client.h"
#include "http/server.h"

namespace sluice::host {

struct FollowingOrders {
  std::string listen;  // ADDRESS:PORT; empty: the socket alone
  CertificateOrders certificates;
  std::string version;
  std::shared_ptr<const lang::CheckedKit> kit = {};  // null: it reads nothing itself
  MakeService make_service = {};
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
  // Leaves its place to another one in this process. Those whose calls are under way hear from whoever leads then.
  void make_way();
  bool has_left() const { return left_; }  // all of them have heard

 private:
  Following(const Opening& opening, std::unique_ptr<RealClock> clock, OpenedPostgres postgres,
            store::postgres::Lease leader, std::string version);
  Result<void> serve(FollowingOrders orders);
  void read_with(FollowingOrders& orders);
  http::Response answer(const http::Request& request, const http::Peer& peer);
  std::optional<http::Response> answer_here(const http::Request& request, const http::Peer& peer);
  Result<http::Response> pass_on(const http::Request& request, const http::Peer& peer);
  Result<http::Response> ask_leader(http::Request onward, const http::Request& request);
  boost::json::object said_of_itself();
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
  std::mutex bringing_;
  uint64_t brought_ = 0;  // the newest version of the files that the home has
  std::mutex mutex_;
  store::postgres::Lease leader_;
  std::map<uint64_t, http::Socket> under_way_;  // connections to the one that leads, by the request's number
  uint64_t requests_ = 0;
  std::atomic<bool> asked_to_stop_ = false, ended_ = false, makes_way_ = false, left_ = false;
  std::optional<LockFile> lock_;
  std::optional<store::BlobStore> blobs_, uploads_;
  std::unique_ptr<Authority> authority_;
  CommittedElsewhere committed_;
  std::unique_ptr<SocketService> service_;  // that reads; null: there is none
  std::unique_ptr<Certificates> certificates_;
  std::unique_ptr<http::Server> server_, tcp_;
  std::thread leaving_;  // waits for calls under way, once it has made way
};

}  // namespace sluice::host
