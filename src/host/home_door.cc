// A server that ends between two requests of a command is no obstacle: the next request opens the store itself.
#include "host/home_door.h"

#include "host/home_store.h"
#include "host/moment.h"
#include "http/socket.h"
#include "store/memory_store.h"

namespace sluice::host {

Result<Door*> HomeDoor::served() {
  if (remote_) return remote_.get();
  if (engine_ || store_) return nullptr;
  auto door = RemoteDoor::open(socket_of(opening_.home), clock_, {.kit = kit_.folder, .purpose = opening_.purpose});
  // A path that is too long for a socket is one where nobody can listen.
  if (!door && (door.error().code == Code::not_found || door.error().code == Code::invalid)) return nullptr;
  if (!door) return door.error();
  if (auto trusted = opening_.home.check("run"); !trusted) return trusted.error();
  remote_ = *std::move(door);
  return remote_.get();
}

Result<Door*> HomeDoor::whole() {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) return *there;
  if (door_) return door_.get();
  store_.reset();  // and with it the lock
  auto started = HomeEngine::start(opening_, kit_.check, kit_.folder, HomeEngine::Where::here);
  if (!started) return started.error();
  engine_ = *std::move(started);
  door_ = std::make_unique<EngineDoor>(engine_->door_parts(opening_.concepts), engine_->caller().name);
  return door_.get();
}

Result<Answer> HomeDoor::call(const Call& call, const Waiting& waiting) {
  auto door = whole();
  if (!door) return door.error();
  return (*door)->call(call, waiting);
}

Result<Answer> HomeDoor::answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting) {
  auto door = whole();
  if (!door) return door.error();
  return (*door)->answer_of(flow, wait, waiting);
}

Result<ViewAnswer> HomeDoor::view(const std::string& name, const json::object& query) {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) return (*there)->view(name, query);
  if (door_) return door_->view(name, query);
  if (!store_) {
    auto opened = open_for_reading(opening_, clock_);
    if (!opened) return opened.error();
    store_ = *std::move(opened);
  }
  if (!store_) {
    // Nothing has run here yet: that is a state like any other.
    store::MemoryStore empty;
    return read_view(empty, nullptr, opening_.concepts, clock_.wall_ms(), name, query);
  }
  store::BlobStore blobs(opening_.disk, (opening_.home.root() / "blobs").string());
  return read_view(*store_->store, &blobs, opening_.concepts, clock_.wall_ms(), name, query);
}

Result<uint64_t> HomeDoor::decide(engine::Decision decision) {
  auto door = whole();
  if (!door) return door.error();
  return (*door)->decide(std::move(decision));
}

Result<void> HomeDoor::follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                              const std::function<bool()>& stop) {
  auto door = whole();
  if (!door) return door.error();
  return (*door)->follow(from, visit, stop);
}

}  // namespace sluice::host
