// The socket is there for exactly as long as the engine can be asked.
#include "host/serving.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/random.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/key_file.h"
#include "host/approvals.h"
#include "host/listening.h"
#include "host/observing.h"
#include "host/postgres_home.h"
#include "host/webhook_feed.h"

namespace sluice::host {
namespace {

constexpr int kLookAtKit_ms = 200;

constexpr size_t kSecretBytes = 32;

uint64_t bytes_of(Disk& disk, const std::string& path) {
  auto stat = disk.stat(path, FollowLinks::no);
  return stat ? stat->size : 0;
}

}  // namespace

Serving::Serving(const Opening& opening, std::string kit_name, std::string kit_folder, std::string version)
    : disk_(opening.disk),
      narrator_(opening.narrator),
      home_place_(opening.home),
      kit_name_(std::move(kit_name)),
      kit_folder_(std::move(kit_folder)),
      version_(std::move(version)) {}

Result<std::unique_ptr<Serving>> Serving::start(const Opening& opening, const KitPlace& place,
                                                std::shared_ptr<const lang::CheckedKit> kit, std::string version,
                                                const MakeService& make_service, const OverTcp& tcp) {
  std::error_code ignored;
  std::string folder = is_built_in(place.folder)
                           ? place.folder
                           : std::filesystem::absolute(place.folder, ignored).lexically_normal().string();
  std::unique_ptr<Serving> made(new Serving(opening, kit->kit().suite.name, folder, std::move(version)));
  Serving& self = *made;
  // Before anybody can ask for a router: one that is killed at once is missed as well.
  self.routers_.emplace(opening.disk, opening.home, self.clock_);
  self.socket_ = socket_of(opening.home);
  if (opening.store) self.replica_ = opening.store->replica;
  self.store_path_ = opening.store ? "PostgreSQL" : (opening.home.root() / "store" / "store.db").string();
  if (self.socket_.size() > http::kMaxUnixPath) {
    return Error{.code = Code::invalid,
                 .message = "the path of the home's socket has " + std::to_string(self.socket_.size()) +
                            " bytes, and the system takes " + std::to_string(http::kMaxUnixPath) + ": " + self.socket_,
                 .next = "export SLUICE_HOME=/a/shorter/path"};
  }
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return error_from(errno, "make", "a pipe");
  self.asked_read_ = http::Socket(ends[0]);
  self.asked_write_ = http::Socket(ends[1]);

  auto started = HomeEngine::start(opening, kit, place.folder);
  if (!started) return started.error();
  self.home_ = *std::move(started);
  self.since_ms_ = self.clock_.wall_ms();
  self.spans_ = std::make_unique<SpanExport>(self.home_->store(), self.home_->blobs(), opening.concepts.tools,
                                             self.clock_, &self.home_->authority());
  self.spans_->start();
  self.measures_ = std::make_unique<MeasureExport>(
      MeasureExport::Of{self.home_->store(), self.home_->blobs(), opening.concepts.tools, self.clock_, opening.disk,
                        &self.home_->authority()},
      (opening.home.root() / "router").string());
  self.measures_->start();
  if (auto opened = self.open_desk(); !opened) return opened.error();
  self.service_ = make_service(
      {.engine = &self.home_->engine(),
       .store = &self.home_->store(),
       .blobs = &self.home_->blobs(),
       .uploads = &self.home_->uploads(),
       .concepts = &opening.concepts,
       .disk = &opening.disk,
       .clock = &self.clock_,
       .home = &self.home_place_,
       .owner = self.home_->owner(),
       .authority = &self.home_->authority(),
       .kit = [&self] { return self.home_->engine().kit(); },
       .about = [&self] { return self.about(); },
       .invite = self.home_->postgres() ? decltype(ServiceParts::invite)([&self] { return self.invite(); }) : nullptr,
       .admit = self.home_->postgres()
                    ? decltype(ServiceParts::admit)([&self](const std::string& token) { return self.admit(token); })
                    : nullptr,
       .routers = self.desk_.get(),
       .stop = [&self] { self.ask_to_stop(); },
       .log = [&self](const std::string& text) { self.log(text); }});
  http::raise_open_files();
  if (!tcp.where.empty()) {
    if (auto listening = self.listen(tcp); !listening) return listening.error();
  }
  // The lock is this process's, so whatever stands at the socket's place belongs to nobody.
  auto listening = http::listen_unix(opening.disk, self.socket_);
  if (!listening) return listening.error();
  auto server = http::Server::start(
      *std::move(listening),
      [&self](const http::Request& request, const http::Peer& peer) { return self.service_->answer(request, peer); },
      self.clock_);
  if (!server) return server.error();
  self.server_ = *std::move(server);
  self.log("serving the kit " + self.kit_name_ + " at " + self.socket_ + ", pid " + std::to_string(::getpid()));
  return made;
}

Result<void> Serving::check_listen(const std::string& where, bool tls) {
  auto parsed = where_in(where, tls);
  return parsed ? Result<void>() : Result<void>(parsed.error());
}

Result<void> Serving::listen(const OverTcp& tcp) {
  CertificateOrders certificates = tcp.certificates;
  auto where = where_in(tcp.where, certificates.any());
  if (!where) return where.error();
  if (certificates.any()) {
    if (certificates.own) add_own_names(certificates.names, where->address);
    auto loaded = Certificates::load(disk_, home_place_, clock_, std::move(certificates));
    if (!loaded) return loaded.error();
    certificates_ = *std::move(loaded);
  }
  std::array<uint8_t, kSecretBytes> random;
  RealRandom().fill(random);
  const std::string token = "slo_" + crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()},
                                                       crypto::Base64::url_unpadded);
  token_path_ = (std::filesystem::path(socket_).parent_path() / "owner.token").string();
  if (auto kept = write_atomically(disk_, token_path_, token + "\n", 0600); !kept) return kept;
  home_->authority().trust_owner_token(token);
  if (!home_->peer_token().empty()) home_->authority().trust_owner_token(home_->peer_token());
  auto listening = http::listen_tcp(where->address, where->port);
  if (!listening) return listening.error();
  const bool six = where->address.find(':') != std::string::npos;
  url_ = (certificates_ ? "https://" : "http://") + (six ? "[" + where->address + "]" : where->address) + ":" +
         std::to_string(http::port_of(*listening));
  auto server = http::Server::start(
      *std::move(listening),
      [this](const http::Request& request, const http::Peer& peer) { return service_->answer(request, peer); }, clock_,
      {}, [](uint64_t) {},
      certificates_ ? http::Server::Shown([this] { return certificates_->now(); }) : http::Server::Shown(),
      [this](const http::Request& request, const http::Peer& peer) { return service_->answer_at_once(request, peer); });
  if (!server) return server.error();
  tcp_ = *std::move(server);
  log("listening at " + url_ + ", the owner's token is in " + token_path_);
  if (certificates_ && !certificates_->fingerprint().empty()) {
    log("its certificate is from this home's authority, " + certificates_->fingerprint());
  }
  return {};
}

Result<void> Serving::open_desk() {
  auto desk = RouterDesk::start(
      {.hub = {.disk = disk_,
               .home = home_place_,
               .clock = clock_,
               .key =
                   [this] {
                     return crypto::load_private_key(disk_, (home_place_.root() / "keys/operator.pem").string());
                   },
               .token = home_->postgres() != nullptr ? home_->postgres()->token() : 0,
               .urls = [this] { return urls(); },
               .log = [this](const std::string& text) { log(text); }},
       .url = [this] { return url_; },
       .fingerprint = [this] { return certificates_ ? certificates_->fingerprint() : std::string(); }});
  if (!desk) return desk.error();
  desk_ = *std::move(desk);
  return {};
}

// Where routers reach the replicas. Of a control plane without any they know where they joined.
std::vector<std::string> Serving::urls() const {
  std::vector<std::string> all;
  if (home_->postgres() == nullptr) return all;
  for (const json::value& each : replicas_document(*home_->postgres())) {
    const json::value* url = each.as_object().if_contains("url");
    if (url != nullptr && url->is_string() && !url->get_string().empty()) all.emplace_back(url->get_string());
  }
  return all;
}

Result<json::object> Serving::invite() {
  if (url_.empty()) {
    return Error{.code = Code::conflict,
                 .message = "this replica listens at no address where another home could join",
                 .next = "sluice serve --replica NAME --listen ADDRESS:PORT --tls-own --store URL"};
  }
  auto made = join_tokens_.make(certificates_ ? certificates_->fingerprint() : "");
  if (!made) return made.error();
  return json::object{{"token", made->token}, {"expires", utc_text(made->expires_ms)}, {"url", url_}};
}

Result<json::object> Serving::admit(const std::string& token) {
  if (auto taken = join_tokens_.take(token); !taken) {
    log("a home was refused that wanted to join: " + taken.error().message);
    return taken.error();
  }
  auto key = cluster_key(disk_, home_place_);
  if (!key) return key.error();
  log("a home has joined the cluster");
  return json::object{{"key", crypto::to_hex({reinterpret_cast<const uint8_t*>(key->reveal().data()), key->size()})}};
}

void Serving::note_used_tokens() {
  const int64_t now_ns = clock_.monotonic_ns();
  auto due = [&](UseNotes& notes, const std::set<std::string>& used) {
    json::array all;
    for (const std::string& each : notes.due(used, now_ns)) all.emplace_back(each);
    return all;
  };
  json::array tokens = due(used_tokens_, home_->authority().take_used());
  json::array sessions = due(used_sessions_, home_->authority().take_used_sessions());
  if (!tokens.empty()) note("Access/noteUse", {{"tokens", std::move(tokens)}});
  if (!sessions.empty()) note("Session/noteUse", {{"sessions", std::move(sessions)}});
}

void Serving::note(const std::string& action, json::object input) {
  (void)home_->engine().start(
      {.action = action, .input = std::move(input), .caller = {.name = std::string(kObserverName)}, .of_kit = true});
}

Serving::~Serving() {
  bool served = server_ != nullptr;
  if (service_) service_->stop_waiting();
  if (tcp_) {
    tcp_->stop();
    (void)disk_.remove(token_path_);
    tcp_.reset();
  }
  if (served) {
    server_->stop();
    (void)disk_.remove(socket_);
    server_.reset();
  }
  desk_.reset();
  spans_.reset();  // it reads the home's store
  home_.reset();
  if (served) log("stopped");
}

void Serving::run(const StopSignal& stop, KitReload& reload) {
  Approvals approvals(home_->engine(), home_->store(), [this](const std::string& text) { log(text); });
  WebhookFeed webhooks(home_->engine(), home_->store(), home_->authority());
  while (true) {
    std::array<pollfd, 2> ready = {{{stop.fd(), POLLIN, 0}, {asked_read_.fd(), POLLIN, 0}}};
    int found = ::poll(ready.data(), ready.size(), kLookAtKit_ms);
    // Who has certificates in files says by SIGHUP that they are new.
    const bool hangup =
        found > 0 && certificates_ && ready[0].revents != 0 && ready[1].revents == 0 && stop.wait() == SIGHUP;
    if (found > 0 && !hangup) break;
    if (certificates_) {
      if (auto said = certificates_->look(hangup)) log(*said);
    }
    reload.look(home_->engine());
    if (auto done = routers_->look()) log(*done);
    note_used_tokens();
    if (has_approvals(*home_->engine().kit())) approvals.look();
    if (has_webhooks(*home_->engine().kit())) webhooks.look();
  }
  log("stopping");
}

void Serving::ask_to_stop() { (void)!::write(asked_write_.fd(), "x", 1); }

json::object Serving::about() const {
  auto* postgres = home_->postgres();
  const uint64_t bytes =
      postgres != nullptr ? postgres->bytes() : bytes_of(disk_, store_path_) + bytes_of(disk_, store_path_ + "-wal");
  json::object about{{"pid", ::getpid()},        {"version", version_},      {"since", utc_text(since_ms_)},
                     {"kit", kit_name_},         {"kitFolder", kit_folder_}, {"socket", socket_},
                     {"storePath", store_path_}, {"storeBytes", bytes}};
  if (!url_.empty()) about["url"] = url_;
  if (postgres != nullptr) {
    about["replica"] = replica_;
    about["leader"] = replica_;
    about["replicas"] = replicas_document(*postgres);
  }
  if (certificates_ && !certificates_->fingerprint().empty()) about["fingerprint"] = certificates_->fingerprint();
  return about;
}

void Serving::log(const std::string& text) { narrator_.note(utc_text(clock_.wall_ms()) + " " + text); }

}  // namespace sluice::host
