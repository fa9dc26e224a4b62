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
#include "host/certificates.h"
#include "host/committed.h"
#include "host/home_engine.h"
#include "host/join_tokens.h"
#include "host/kit_place.h"
#include "host/kit_reload.h"
#include "host/kit_watch.h"
#include "host/link/router_desk.h"
#include "host/measure_export.h"
#include "host/opening.h"
#include "host/span_export.h"
#include "host/use_notes.h"
#include "http/server.h"

namespace sluice::host {

// What a service answers from.
struct ServiceParts {
  engine::Engine* engine = nullptr;  // null where it runs in another process: then nothing but reads is answered
  Committed* committed = nullptr;    // null: by the engine
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  store::BlobStore* uploads = nullptr;
  const LoadedConcepts* concepts = nullptr;
  Disk* disk = nullptr;
  const Clock* clock = nullptr;
  const Home* home = nullptr;
  std::string owner;  // "uid:1000"
  // Who callers are and what they may do; null: only the owner may.
  Authority* authority = nullptr;
  // The kit that runs now: what the codes of variants are read from.
  std::function<std::shared_ptr<const lang::CheckedKit>()> kit;
  // What /v1/status says besides what the engine knows: pid, version, kit, since.
  std::function<json::object()> about;
  // Of a store that several share: a token with which another home may join, and the cluster's key for the one that
  // shows it, in hex. Empty functions: the store is in the home.
  std::function<Result<json::object>()> invite;
  std::function<Result<json::object>(const std::string& token)> admit;
  RouterDesk* routers = nullptr;  // for those on other machines; null: it takes none
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
  // The same at once, without waiting for anything, or nothing; asked first, of callers over TCP.
  virtual std::optional<http::Response> answer_at_once(const http::Request&, const http::Peer&) { return std::nullopt; }
  // The answer to who only reads, from what is committed; none: whoever runs the engine has to be asked.
  virtual std::optional<http::Response> answer_from_committed(const http::Request&, const http::Peer&) {
    return std::nullopt;
  }
  // Whoever waits for something is answered now: the server is about to stop.
  virtual void stop_waiting() = 0;
};
using MakeService = std::function<std::unique_ptr<SocketService>(ServiceParts)>;

// The same service over TCP, for callers who show a token: at ADDRESS:PORT of this machine, or with certificates of
// any, since tokens are not to cross a network in the clear. The owner's token of this process is at run/owner.token in
// the home.
struct OverTcp {
  std::string where;  // empty: at the socket alone
  CertificateOrders certificates;
};

class Serving {
 public:
  // What the opening refers to must outlive it. Fails with `conflict` if another process has the store. Whoever is
  // answered at the socket can be answered over TCP as well.
  static Result<std::unique_ptr<Serving>> start(const Opening& opening, const KitPlace& place,
                                                std::shared_ptr<const lang::CheckedKit> kit, std::string version,
                                                const MakeService& make_service, const OverTcp& tcp = {});
  ~Serving();

  // Whether it could be an address to listen at, before anything is started.
  static Result<void> check_listen(const std::string& where, bool tls = false);

  // Until the signal, or until somebody asks for the end through the socket.
  void run(const StopSignal& stop, KitReload& reload);
  // From any thread.
  void ask_to_stop();

  const std::string& socket() const { return socket_; }

 private:
  Result<void> listen(const OverTcp& tcp);
  Serving(const Opening& opening, std::string kit_name, std::string kit_folder, std::string version);
  json::object about() const;
  Result<void> open_desk();
  std::vector<std::string> urls() const;
  Result<json::object> invite();
  Result<json::object> admit(const std::string& token);
  void note_used_tokens();
  void note(const std::string& action, json::object input);
  void log(const std::string& text);

  Disk& disk_;
  Narrator& narrator_;
  Home home_place_;
  std::string kit_name_, kit_folder_, version_, socket_, store_path_, replica_;
  int64_t since_ms_ = 0;
  RealClock clock_;
  std::optional<RouterKeeper> routers_;
  http::Socket asked_read_, asked_write_;  // a pipe that can be read once somebody asked for the end
  std::unique_ptr<HomeEngine> home_;
  std::unique_ptr<SpanExport> spans_;
  std::unique_ptr<MeasureExport> measures_;
  std::unique_ptr<SocketService> service_;
  std::unique_ptr<RouterDesk> desk_;
  std::unique_ptr<Certificates> certificates_;  // that tcp_ shows; null: it speaks in the clear
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> tcp_;  // null: it listens at the socket alone
  std::string url_, token_path_;       // of tcp_
  UseNotes used_tokens_, used_sessions_;
  JoinTokens join_tokens_{disk_, home_place_, clock_};
};

}  // namespace sluice::host
