// The socket is there for exactly as long as the engine can be asked.
#include "host/serving.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>

namespace sluice::host {
namespace {

constexpr int kLookAtKit_ms = 200;

uint64_t bytes_of(Disk& disk, const std::string& path) {
  auto stat = disk.stat(path, FollowLinks::no);
  return stat ? stat->size : 0;
}

}  // namespace

Serving::Serving(const Opening& opening, std::string kit_name, std::string kit_folder, std::string version)
    : disk_(opening.disk),
      narrator_(opening.narrator),
      kit_name_(std::move(kit_name)),
      kit_folder_(std::move(kit_folder)),
      version_(std::move(version)) {}

Result<std::unique_ptr<Serving>> Serving::start(const Opening& opening, const KitPlace& place,
                                                std::shared_ptr<const lang::CheckedKit> kit, std::string version,
                                                const MakeService& make_service) {
  std::error_code ignored;
  std::string folder = is_built_in(place.folder)
                           ? place.folder
                           : std::filesystem::absolute(place.folder, ignored).lexically_normal().string();
  std::unique_ptr<Serving> made(new Serving(opening, kit->kit().suite.name, folder, std::move(version)));
  Serving& self = *made;
  // Before anybody can ask for a router: one that is killed at once is missed as well.
  self.routers_.emplace(opening.disk, opening.home, self.clock_);
  self.socket_ = socket_of(opening.home);
  self.store_path_ = (opening.home.root() / "store" / "store.db").string();
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

  auto started = HomeEngine::start(opening, kit, place.folder, HomeEngine::Where::here);
  if (!started) return started.error();
  self.home_ = *std::move(started);
  self.since_ms_ = self.clock_.wall_ms();
  self.service_ = make_service({.engine = self.home_->here(),
                                .store = &self.home_->store(),
                                .blobs = &self.home_->blobs(),
                                .concepts = &opening.concepts,
                                .disk = &opening.disk,
                                .clock = &self.clock_,
                                .owner = self.home_->owner(),
                                // Reloading changes syncs and guards; the concepts, which codes are read from, stay.
                                .kit = [kit] { return kit; },
                                .about = [&self] { return self.about(); },
                                .stop = [&self] { self.ask_to_stop(); },
                                .log = [&self](const std::string& text) { self.log(text); }});
  // The lock is this process's, so whatever stands at the socket's place belongs to nobody.
  auto listening = http::listen_unix(opening.disk, self.socket_);
  if (!listening) return listening.error();
  auto server = http::Server::start(
      *std::move(listening),
      [&self](const http::Request& request, const http::Peer& peer) { return self.service_->answer(request, peer); },
      self.clock_, {}, [&self](uint64_t connection) { self.service_->closed(connection); });
  if (!server) return server.error();
  self.server_ = *std::move(server);
  self.log("serving the kit " + self.kit_name_ + " at " + self.socket_ + ", pid " + std::to_string(::getpid()));
  return made;
}

Serving::~Serving() {
  bool served = server_ != nullptr;
  if (served) {
    service_->stop_waiting();
    server_->stop();
    (void)disk_.remove(socket_);
    server_.reset();
  }
  home_.reset();
  if (served) log("stopped");
}

void Serving::run(const StopSignal& stop, KitReload& reload) {
  while (true) {
    std::array<pollfd, 2> ready = {{{stop.fd(), POLLIN, 0}, {asked_read_.fd(), POLLIN, 0}}};
    int found = ::poll(ready.data(), ready.size(), kLookAtKit_ms);
    if (found > 0) break;
    reload.look(*home_->here());
    if (auto done = routers_->look()) log(*done);
  }
  log("stopping");
}

void Serving::ask_to_stop() { (void)!::write(asked_write_.fd(), "x", 1); }

json::object Serving::about() const {
  uint64_t bytes = bytes_of(disk_, store_path_) + bytes_of(disk_, store_path_ + "-wal");
  return {{"pid", ::getpid()},        {"version", version_}, {"since", utc_text(since_ms_)}, {"kit", kit_name_},
          {"kitFolder", kit_folder_}, {"socket", socket_},   {"storePath", store_path_},     {"storeBytes", bytes}};
}

void Serving::log(const std::string& text) { narrator_.note(utc_text(clock_.wall_ms()) + " " + text); }

}  // namespace sluice::host
