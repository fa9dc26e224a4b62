// A call that the leader has got is repeated here under its caller's key alone: without one the caller hears that
// nobody knows.
#include "host/following.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <csignal>

#include "base/atomic_file.h"
#include "base/utc_time.h"
#include "crypto/base64.h"
#include "crypto/x509.h"
#include "host/caller.h"
#include "host/exchange.h"
#include "host/forwarding.h"
#include "host/home_store.h"
#include "host/listening.h"
#include "host/problem.h"
#include "host/remote_door.h"
#include "host/wire_words.h"
#include "store/mirrored_disk.h"

namespace sluice::host {
namespace {

constexpr int kLookAtLease_ms = 200;
constexpr int64_t kBringEvery_ns = 5'000'000'000;
// For a lease to lapse, and for the next one to start on a large store.
constexpr int64_t kNextLeader_ns = 60'000'000'000;
constexpr int64_t kAskAgain_ms = 100;
constexpr size_t kMostShownBytes = 8192;  // of a certificate in base64, which goes on in a header

// What they say is about programs, routers or files of the machine that leads.
constexpr std::array<std::string_view, 13> kViewsOfTheMachine = {
    "audit-report", "fleet",  "instance", "instances",   "name-uses",    "replicas", "rollout",
    "rollouts",     "series", "status",   "stored-data", "usage-unkept", "why"};

constexpr int kServerFailed = 500;

// The client's own, without those who signed it.
std::string first_certificate(const std::string& chain_pem) {
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  const size_t end = chain_pem.find(kEnd);
  return end == std::string::npos ? chain_pem : chain_pem.substr(0, end + kEnd.size()) + "\n";
}

bool looks_at_the_machine(const http::Request& request) {
  return request.path.size() == 3 && request.path[1] == "views" &&
         std::ranges::find(kViewsOfTheMachine, request.path[2]) != kViewsOfTheMachine.end();
}

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
      leader_(std::move(leader)),
      committed_(*postgres_.store, *clock_) {}

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
  if (orders.kit != nullptr) made->read_with(orders);
  if (auto serving = made->serve(std::move(orders)); !serving) return serving.error();
  return made;
}

void Following::read_with(FollowingOrders& orders) {
  const std::string folder = (opening_.home.root() / "blobs").string();
  const std::string owner = name_of_user(::geteuid());
  blobs_.emplace(opening_.disk, folder);
  uploads_.emplace(opening_.disk, folder + "/uploads");
  authority_ = std::make_unique<Authority>(AuthorityParts{
      .store = postgres_.store.get(), .blobs = &*blobs_, .clock = clock_.get(), .owner = owner, .kit = orders.kit});
  service_ = orders.make_service({.committed = &committed_,
                                  .store = postgres_.store.get(),
                                  .blobs = &*blobs_,
                                  .uploads = &*uploads_,
                                  .concepts = &opening_.concepts,
                                  .disk = &opening_.disk,
                                  .clock = clock_.get(),
                                  .home = &opening_.home,
                                  .owner = owner,
                                  .authority = authority_.get(),
                                  .kit = [kit = orders.kit] { return kit; },
                                  .about = [this] { return said_of_itself(); },
                                  .stop = [this] { asked_to_stop_ = true; },
                                  .log = [this](const std::string& text) { log(text); }});
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

void Following::make_way() {
  {
    const std::lock_guard guard(bringing_);
    makes_way_ = true;
  }
  if (service_) service_->stop_waiting();
  break_off();
  if (tcp_) tcp_->close();
  server_->close();
  (void)opening_.disk.remove(socket_);
  lock_.reset();
  leaving_ = std::thread([this] {
    if (tcp_) tcp_->stop();
    server_->stop();
    left_ = true;
  });
}

Following::~Following() {
  ended_ = true;
  if (service_) service_->stop_waiting();
  break_off();
  if (makes_way_) {
    leaving_.join();
    return;
  }
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
  const std::lock_guard guard(bringing_);
  if (makes_way_) return;  // whoever takes the place brings them
  auto* mirror = opening_.concepts.tools.find<store::MirroredDisk>();
  auto brought = mirror->bring(*postgres_.store, opening_.home.root().string(), postgres_.key, brought_);
  if (brought) brought_ = *brought;
}

store::postgres::Lease Following::leader() {
  const std::lock_guard guard(mutex_);
  return leader_;
}

void Following::log(const std::string& text) { opening_.narrator.note(utc_text(clock_->wall_ms()) + " " + text); }

json::object Following::said_of_itself() {
  const auto leads = leader();
  return {{"pid", ::getpid()},
          {"version", version_},
          {"since", utc_text(since_ms_)},
          {"socket", socket_},
          {"storePath", "PostgreSQL"},
          {"storeBytes", postgres_.store->bytes()},
          {"replica", opening_.store->replica},
          {"leader", leads.name},
          {"replicas", replicas_document(*postgres_.store)}};
}

http::Response Following::about(int status) { return {.status = status, .body = json::serialize(said_of_itself())}; }

// Authorities that are the cluster's own are in the home; others, the system believes.
Result<std::unique_ptr<http::Client>> Following::to_leader() {
  if (makes_way_) {  // this process may lead now
    if (auto lease = postgres_.store->lease(); lease && *lease) {
      const std::lock_guard guard(mutex_);
      leader_ = **lease;
    }
  }
  const auto leads = leader();
  if (makes_way_ && leads.instance == postgres_.store->instance() && leads.url.empty()) {
    return http::Client::to_unix(socket_, *clock_);
  }
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
  const bool by_the_leader = looks_at_the_machine(request);
  if (!by_the_leader) {
    auto read = answer_here(request, peer);
    if (read && read->status < kServerFailed) return *std::move(read);
  }
  auto passed = pass_on(request, peer);
  if (passed) return *std::move(passed);
  // What can be known without whoever leads.
  auto read = by_the_leader ? answer_here(request, peer) : std::nullopt;
  return read ? *std::move(read) : problem_response(passed.error());
}

// Views read files of the home as well, which must not be older than the rows.
std::optional<http::Response> Following::answer_here(const http::Request& request, const http::Peer& peer) {
  if (!service_) return std::nullopt;
  const bool view = request.path.size() > 1 && request.path[1] == "views";
  if (view) bring_files();
  return service_->answer_from_committed(request, peer);
}

// As whoever has called: by their token, by the certificate that they have shown here, or as the owner at the socket,
// who may say by a token whom they act for.
Result<http::Response> Following::pass_on(const http::Request& request, const http::Peer& peer) {
  http::Request onward{.method = request.method,
                       .target = request.target,
                       .path = {},
                       .query = {},
                       .headers = request.headers,
                       .body = request.body};
  std::erase_if(onward.headers,
                [](const http::Header& each) { return http::find_header({each}, kCertificateHeader) != nullptr; });
  const bool says_who = request.header("Authorization") != nullptr || request.header("Cookie") != nullptr;
  if (!says_who && (peer.credentials || !peer.certificate.empty())) {
    onward.headers.push_back({"Authorization", "Bearer " + postgres_.peer_token});
  }
  if (!says_who && !peer.credentials && !peer.certificate.empty()) {
    std::string shown = crypto::to_base64(first_certificate(peer.certificate));
    if (shown.size() > kMostShownBytes) {
      return Error{.code = Code::limit, .message = "the certificate is too large to be passed on to whoever leads"};
    }
    onward.headers.push_back({std::string(kCertificateHeader), std::move(shown)});
  }
  const bool has_key = request.header("Idempotency-Key") != nullptr && !request.more;
  const int64_t until_ns = clock_->monotonic_ns() + kNextLeader_ns;
  while (true) {
    auto answer = ask_leader(onward, request);
    if (answer || !has_key || clock_->monotonic_ns() >= until_ns) return answer;
    if (ended_ || (asked_to_stop_ && !makes_way_)) return answer;
    clock_->sleep_ms(kAskAgain_ms);
  }
}

Result<http::Response> Following::ask_leader(http::Request onward, const http::Request& request) {
  auto client = to_leader();
  if (!client) return client.error();
  uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    number = ++requests_;
    under_way_.emplace(number, (*client)->hold());
  }
  if (ended_) break_off();
  auto answer = forward(*std::move(client), std::move(onward), request.more);
  const std::lock_guard guard(mutex_);
  under_way_.erase(number);
  return answer;
}

}  // namespace sluice::host
