// sluice serve as one object: the engine on the home's store, behind the home's socket, until somebody asks for its
// end.
//
//   auto serving = Serving::start(opening, place, kit, make_service);
//   auto ended = (*serving)->run(stop);          // a StopSignal, made before it
//
// It ends in order: those who wait are answered, the socket goes, effects under way are finished as far as their time
// allows, and the lock is given back. What is not done then is in the store; so is everything after kill -9.
#pragma once

#include <memory>
#include <string>

#include "host/background.h"
#include "host/home_engine.h"
#include "host/kit_place.h"
#include "host/kit_reload.h"
#include "host/kit_watch.h"
#include "host/opening.h"
#include "http/server.h"

namespace sluice::host {

// What a service answers from.
struct ServiceParts {
  engine::Engine* engine = nullptr;
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  const LoadedConcepts* concepts = nullptr;
  Disk* disk = nullptr;
  const Clock* clock = nullptr;
  std::string owner;  // "uid:1000"
  // The kit that runs now: what the codes of variants are read from.
  std::function<std::shared_ptr<const lang::CheckedKit>()> kit;
  // What /v1/status says besides what the engine knows: pid, version, kit, since.
  std::function<json::object()> about;
  // Somebody asked for the end. Must not wait for it.
  std::function<void()> stop;
  // One line for each change that was asked for.
  std::function<void(const std::string&)> log;
};

// What answers at the home's socket: the API, which stands further out.
class SocketService {
 public:
  virtual ~SocketService() = default;

  virtual http::Response answer(const http::Request& request, const http::Peer& peer) = 0;
  // The connection has ended.
  virtual void closed(uint64_t connection) = 0;
  // Whoever waits for something is answered now: the server is about to stop.
  virtual void stop_waiting() = 0;
};
using MakeService = std::function<std::unique_ptr<SocketService>(ServiceParts)>;

class Serving {
 public:
  // What the opening refers to must outlive it. Fails with `conflict` if another process has the store.
  static Result<std::unique_ptr<Serving>> start(const Opening& opening, const KitPlace& place,
                                                std::shared_ptr<const lang::CheckedKit> kit, std::string version,
                                                const MakeService& make_service);
  ~Serving();

  // Until the signal, or until somebody asks for the end through the socket.
  void run(const StopSignal& stop, KitReload& reload);
  // From any thread.
  void ask_to_stop();

  const std::string& socket() const { return socket_; }

 private:
  Serving(const Opening& opening, std::string kit_name, std::string kit_folder, std::string version);
  json::object about() const;
  void log(const std::string& text);

  Disk& disk_;
  Narrator& narrator_;
  std::string kit_name_, kit_folder_, version_, socket_, store_path_;
  int64_t since_ms_ = 0;
  RealClock clock_;
  std::optional<RouterKeeper> routers_;
  http::Socket asked_read_, asked_write_;  // a pipe that can be read once somebody asked for the end
  std::unique_ptr<HomeEngine> home_;
  std::unique_ptr<SocketService> service_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::host
