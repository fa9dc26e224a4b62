// sluice serve as one object: the engine on the home's store, behind the home's socket, until somebody asks for its
// end.
//
//   auto serving = Serving::start(context, place, loaded, kit);
//   auto ended = (*serving)->run(stop);          // a StopSignal, made before it
//
// It ends in order: those who wait are answered, the socket goes, effects under way are finished as far as their time
// allows, and the lock is given back. What is not done then is in the store; so is everything after kill -9.
#pragma once

#include <memory>
#include <string>

#include "api/service.h"
#include "cli/background.h"
#include "cli/context.h"
#include "cli/home_engine.h"
#include "cli/kit_place.h"
#include "cli/kit_reload.h"
#include "cli/kit_watch.h"
#include "http/server.h"

namespace sluice::cli {

class Serving {
 public:
  // All must outlive it. Fails with `conflict` if another process has the store.
  static Result<std::unique_ptr<Serving>> start(Context& context, const KitPlace& place, const LoadedConcepts& loaded,
                                                std::shared_ptr<const lang::CheckedKit> kit);
  ~Serving();

  // Until the signal, or until somebody asks for the end through the socket.
  void run(const StopSignal& stop, KitReload& reload);
  // From any thread.
  void ask_to_stop();

  const std::string& socket() const { return socket_; }

 private:
  Serving(Context& context, std::string kit_name, std::string kit_folder);
  json::object about() const;
  void log(const std::string& text);

  Context& context_;
  std::string kit_name_, kit_folder_, socket_, store_path_;
  int64_t since_ms_ = 0;
  RealClock clock_;
  std::optional<RouterKeeper> routers_;
  http::Socket asked_read_, asked_write_;  // a pipe that can be read once somebody asked for the end
  std::unique_ptr<HomeEngine> home_;
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::cli
