// A call that the leader has got is never repeated here: its caller hears that nobody knows, and asks again under the
// same key.
#include "host/following.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>

#include "base/atomic_file.h"
#include "base/utc_time.h"
#include "crypto/x509.h"
#include "host/caller.h"
#include "host/exchange.h"
#include "host/forwarding.h"
#include "host/home_store.h"
#include "host/listening.h"
#include "host/problem.h"
#include "host/remote_door.h"
#include "store/mirrored_disk.h"

namespace sluice::host {
namespace {

constexpr int kLookAtLease_ms = 200;
constexpr int64_t kBringEvery_ns = 5'000'000'000;
http::Response problem_response(const Error& error) {
  const json::object said = problem(error);
  return {.status = static_cast<int>(said.at("status").to_number<int64_t>()),
          .content_type = std::string(kProblemType),
          .body = json::serialize(said)};
}

}  // namespace

Following::Following(const Opening& opening, std::unique_ptr<RealClock> clock, OpenedPostgres postgres,
                     store::postgres::Lease leader, std::string version)
    : opening_(opening),
      clock_(std::move(clock)),
      postgres_(std::move(postgres)),
      version_(std::move(version)),
      socket_(socket_of(opening.home)),
      since_ms_(clock_->wall_ms()),
      leader_(std::move(leader)) {}

Result<std::unique_ptr<Following>> Following::start(const Opening& opening, FollowingOrders orders) {
  auto clock = std::make_unique<RealClock>();
  auto run = opening.home.folder("run");
  if (!run) return run.error();
  auto lock = LockFile::acquire(opening.disk, *clock, (*run / "store.lock").string(), opening.lock_timeout_ms);
  if (!lock) return lock.error();
  const std::string own = (opening.home.root() / "store" / "store.db").string();
  auto exists = opening.disk.exists(own);
  if (!exists) return exists.error();
  if (*exists) return has_a_store_of_its_own(own);
  auto postgres = open_postgres(opening, *clock, true);
  if (!postgres) return postgres.error();
  auto lease = postgres->store->lease();
  if (!lease) return lease.error();
  if (!*lease || (*lease)->left_ms <= 0) return std::unique_ptr<Following>();
  // The lease that this home held when it was killed.
  if ((*lease)->name == opening.store->replica && (*lease)->instance == postgres->store->instance()) {
    return std::unique_ptr<Following>();
  }
  std::unique_ptr<Following> made(
      new Following(opening, std::move(clock), *std::move(postgres), **std::move(lease), orders.version));
  made->lock_.emplace(*std::move(lock));
  auto* mirror = opening.concepts.tools.find<store::MirroredDisk>();
  if (mirror == nullptr) return Error{.code = Code::unavailable, .message = "this program cannot follow"};
  auto brought = mirror->bring(*made->postgres_.store, opening.home.root().string(), made->postgres_.key);
  if (!brought) return brought.error();
  made->brought_ = *brought;
  if (auto serving = made->serve(std::move(orders)); !serving) return serving.error();
  return made;
}

Result<void> Following::serve(FollowingOrders orders) {
  http::raise_open_files();
  auto handler = [this](const http::Request& request, const http::Peer& peer) { return answer(request, peer); };
  auto listening = http::listen_unix(opening_.disk, socket_);
  if (!listening) return listening.error();
  auto server = http::Server::start(*std::move(listening), handler, *clock_);
  if (!server) return server.error();
  server_ = *std::move(server);
  log("following " + leader_.name + " at " + leader_.url + ", as " + opening_.store->replica + ", pid " +
      std::to_string(::getpid()));
  if (orders.listen.empty()) return {};
  auto where = where_in(orders.listen, orders.certificates.any());
  if (!where) return where.error();
  if (orders.certificates.any()) {
    if (orders.certificates.own) add_own_names(orders.certificates.names, where->address);
    auto loaded = Certificates::load(opening_.disk, opening_.home, *clock_, std::move(orders.certificates));
    if (!loaded) return loaded.error();
    certificates_ = *std::move(loaded);
  }
  auto tcp = http::listen_tcp(where->address, where->port);
  if (!tcp) return tcp.error();
  auto there = http::Server::start(
      *std::move(tcp), handler, *clock_, {}, {},
      certificates_ ? http::Server::Shown([this] { return certificates_->now(); }) : http::Server::Shown());
  if (!there) return there.error();
  tcp_ = *std::move(there);
  return {};
}

Following::~Following() {
  ended_ = true;
  break_off();
  if (tcp_) tcp_->stop();
  if (server_) {
    server_->stop();
    (void)opening_.disk.remove(socket_);
  }
  tcp_.reset();
  server_.reset();
  postgres_.store->resign();
}

bool Following::run(const StopSignal& stop) {
  int64_t brought_ns = clock_->monotonic_ns();
  while (true) {
    pollfd ready{stop.fd(), POLLIN, 0};
    if (::poll(&ready, 1, kLookAtLease_ms) > 0 && !(certificates_ && stop.wait() == SIGHUP)) return false;
    if (asked_to_stop_) return false;
    if (certificates_) {
      if (auto said = certificates_->look()) log(*said);
    }
    auto lease = postgres_.store->lease();
    if (!lease) continue;  // without the server nobody can tell
    if (!*lease || (*lease)->left_ms <= 0) return true;
    const bool another = (*lease)->token != leader().token;
    {
      const std::lock_guard guard(mutex_);
      leader_ = **lease;
    }
    if (another) break_off();
    (void)postgres_.store->say_here();
    if (clock_->monotonic_ns() - brought_ns < kBringEvery_ns) continue;
    brought_ns = clock_->monotonic_ns();
    bring_files();
  }
}

void Following::break_off() {
  const std::lock_guard guard(mutex_);
  for (const auto& [number, socket] : under_way_) ::shutdown(socket.fd(), SHUT_RDWR);
}

void Following::bring_files() {
  auto* mirror = opening_.concepts.tools.find<store::MirroredDisk>();
  auto brought = mirror->bring(*postgres_.store, opening_.home.root().string(), postgres_.key, brought_);
  if (brought) brought_ = *brought;
}

store::postgres::Lease Following::leader() {
  const std::lock_guard guard(mutex_);
  return leader_;
}

void Following::log(const std::string& text) { opening_.narrator.note(utc_text(clock_->wall_ms()) + " " + text); }

http::Response Following::about(int status) {
  const auto leads = leader();
  json::object about{{"pid", ::getpid()},
                     {"version", version_},
                     {"since", utc_text(since_ms_)},
                     {"socket", socket_},
                     {"storePath", "PostgreSQL"},
                     {"storeBytes", postgres_.store->bytes()},
                     {"replica", opening_.store->replica},
                     {"leader", leads.name},
                     {"replicas", replicas_document(*postgres_.store)}};
  return {.status = status, .body = json::serialize(about)};
}

// Authorities that are the cluster's own are in the home; others, the system believes.
Result<std::unique_ptr<http::Client>> Following::to_leader() {
  const auto leads = leader();
  ServerContext context{.url = leads.url, .token = "", .ca = ""};
  auto authority =
      read_file(opening_.disk, (opening_.home.root() / "keys" / "tls-ca.pem").string(), crypto::kMaxChainBytes);
  if (authority) context.ca = *authority;
  auto client = leads.url.empty() ? Error{.message = "it listens at no address"} : connect_to(context, *clock_);
  if (client) return client;
  return Error{.code = Code::unavailable,
               .message = "the replica " + leads.name + " leads, and does not answer at " + leads.url + ": " +
                          client.error().message,
               .next = "sluice replicas list"};
}

http::Response Following::answer(const http::Request& request, const http::Peer& peer) {
  const bool at_socket = peer.credentials.has_value();
  if (at_socket && peer.credentials->user != ::geteuid()) {
    return problem_response(
        {.code = Code::denied, .message = name_of_user(peer.credentials->user) + " may not use this home"});
  }
  const auto is = [&](std::string_view method, std::string_view last) {
    return request.method == method && request.path.size() == 2 && request.path[0] == "v1" && request.path[1] == last;
  };
  if (request.method == "GET" && request.path.size() == 1 && request.path[0] == "healthz") {
    return {.content_type = "text/plain", .body = "ok\n"};
  }
  if (at_socket && is("GET", "status")) return about(200);
  if (at_socket && is("POST", "stop")) {
    asked_to_stop_ = true;
    auto response = about(202);
    response.close = true;
    return response;
  }
  const auto& path = request.path;
  if (path.size() == 4 && path[0] == "v1" && path[1] == "routers" && path[3] == "link") {
    http::Response there{.status = 307, .headers = {{"Location", leader().url}}, .body = "{}", .close = true};
    return there;
  }
  if (is("POST", "exec")) {
    const auto leads = leader();
    return problem_response({.code = Code::unavailable,
                             .message = "commands in replicas are run through " + leads.name + ", which leads",
                             .next = leads.url.empty() ? "sluice replicas list" : "sluice login " + leads.url});
  }
  if (!peer.certificate.empty() && request.header("Authorization") == nullptr) {
    return problem_response(
        {.code = Code::denied,
         .message = "a client's certificate is believed by " + leader().name + " alone, which leads",
         .next = "show a token, or ask " + leader().url});
  }
  auto client = to_leader();
  if (!client) return problem_response(client.error());
  uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    number = ++requests_;
    under_way_.emplace(number, (*client)->hold());
  }
  if (ended_) break_off();
  http::Request onward{.method = request.method,
                       .target = request.target,
                       .path = {},
                       .query = {},
                       .headers = request.headers,
                       .body = request.body};
  // Only the owner comes by the socket, and may say whom they act for by a token.
  if (at_socket && request.header("Authorization") == nullptr) {
    onward.headers.push_back({"Authorization", "Bearer " + postgres_.peer_token});
  }
  auto answer = forward(*std::move(client), std::move(onward), request.more);
  {
    const std::lock_guard guard(mutex_);
    under_way_.erase(number);
  }
  return answer ? *std::move(answer) : problem_response(answer.error());
}

}  // namespace sluice::host
