// A server that ends between two requests of a command is no obstacle: the next request opens the store itself.
#include "host/home_door.h"

#include "host/access_views.h"
#include "host/background.h"
#include "host/home_store.h"
#include "host/moment.h"
#include "host/replica_logs.h"
#include "http/socket.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace {

// A `sluice serve` may begin or end whenever somebody looks for one.
constexpr int kAttempts = 5;

}  // namespace

Result<Door*> HomeDoor::served() {
  if (remote_) return remote_.get();
  if (engine_ || store_) return nullptr;
  if (opening_.server) {
    auto door = RemoteDoor::open(*opening_.server, clock_, {.kit = kit_.folder, .purpose = opening_.purpose});
    if (!door) return door.error();
    remote_ = *std::move(door);
    return remote_.get();
  }
  auto door = RemoteDoor::open(socket_of(opening_.home), clock_, {.kit = kit_.folder, .purpose = opening_.purpose});
  // A path that is too long for a socket is one where nobody can listen.
  if (!door && (door.error().code == Code::not_found || door.error().code == Code::invalid)) return nullptr;
  // Whose home it is says more than that its socket cannot be reached.
  if (auto trusted = opening_.home.check("run"); !trusted) return trusted.error();
  if (!door) return door.error();
  remote_ = *std::move(door);
  return remote_.get();
}

Result<Door*> HomeDoor::whole() {
  for (int attempt = 1;; ++attempt) {
    auto there = served();
    if (!there) return there.error();
    if (*there != nullptr) return *there;
    if (door_) return door_.get();
    uint64_t position = 0;
    auto started = start_here(std::nullopt, position);
    if (started) return door_.get();
    if (attempt == kAttempts || !http::connect_unix(socket_of(opening_.home))) return started.error();
  }
}

Result<void> HomeDoor::start_here(std::optional<engine::Decision> decision, uint64_t& position) {
  store_.reset();  // and with it the lock
  // A kit with errors is found before anything is written.
  auto kit = kit_.check();
  if (!kit) return kit.error();
  auto started = decision ? HomeEngine::start(opening_, *kit, kit_.folder, *std::move(decision), position)
                          : HomeEngine::start(opening_, *kit, kit_.folder);
  if (!started) return started.error();
  engine_ = *std::move(started);
  door_ = std::make_unique<EngineDoor>(engine_->door_parts(opening_), engine_->caller());
  return {};
}

Result<void> HomeDoor::start() {
  auto door = whole();
  if (!door) return door.error();
  return {};
}

std::optional<Error> HomeDoor::trouble() {
  if (engine_) return engine_->engine().trouble();
  auto status = remote_ ? remote_->status() : Result<json::object>(json::object());
  if (!status) return status.error();
  const json::value* trouble = status->if_contains("trouble");
  if (trouble == nullptr || !trouble->is_string()) return std::nullopt;
  return Error{.code = Code::unavailable, .message = std::string(trouble->get_string())};
}

Result<Answer> HomeDoor::call(const Call& call, const Waiting& waiting) {
  auto door = whole();
  if (!door) return door.error();
  auto answer = (*door)->call(call, waiting);
  // Under its key a beginning is repeated harmlessly.
  const bool unheard = !answer && answer.error().code == Code::timeout && remote_;
  if (!unheard || call.wait != WaitFor::start || call.key.empty()) return answer;
  remote_.reset();
  return this->call(call, waiting);
}

bool HomeDoor::outlives(const Error& error) {
  if (!remote_ || error.code != Code::unavailable) return false;
  remote_.reset();
  return true;
}

Result<Answer> HomeDoor::answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting) {
  auto door = whole();
  if (!door) return door.error();
  auto answer = (*door)->answer_of(flow, wait, waiting);
  return !answer && outlives(answer.error()) ? answer_of(flow, wait, waiting) : answer;
}

Result<ViewAnswer> HomeDoor::view(const std::string& name, const json::object& query) {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) {
    auto answer = (*there)->view(name, query);
    return !answer && outlives(answer.error()) ? view(name, query) : answer;
  }
  if (door_) return door_->view(name, query);
  if (find_access_view(name) != nullptr) {
    auto door = whole();
    if (!door) return door.error();
    return (*door)->view(name, query);
  }
  if (!store_) {
    auto known = find_view(name);
    if (!known) return known.error();
    auto opened = open_for_reading(opening_, clock_, !(*known)->no_copy);
    const bool began = !opened && opened.error().code == Code::conflict && http::connect_unix(socket_of(opening_.home));
    if (began) return view(name, query);  // a `sluice serve`, meanwhile
    if (!opened) return opened.error();
    store_ = *std::move(opened);
  }
  const Beside beside{opening_.disk, opening_.home, clock_};
  if (!store_) {
    // Nothing has run here yet: that is a state like any other.
    store::MemoryStore empty;
    return read_view(empty, nullptr, opening_.concepts, beside, name, query);
  }
  store::BlobStore blobs(opening_.disk, (opening_.home.root() / "blobs").string());
  auto answer = read_view(*store_->store, &blobs, opening_.concepts, beside, name, query);
  // A server that was killed has left its socket: it may come back, and wants the store then, whoever watches.
  auto left = opening_.disk.exists(socket_of(opening_.home));
  if (left && *left) store_.reset();
  return answer;
}

// In this process it is taken before anything goes on.
Result<Decided> HomeDoor::decide(engine::Decision decision, const Waiting& waiting) {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) return (*there)->decide(std::move(decision), waiting);
  if (door_) return door_->decide(std::move(decision), waiting);
  const Ulid flow = decision.flow;
  uint64_t position = 0;
  if (auto started = start_here(std::move(decision), position); !started) return started.error();
  return door_->decided(flow, position, waiting);
}

Result<std::string> HomeDoor::put(File& file, const std::string& reason) {
  auto door = whole();
  if (!door) return door.error();
  auto digest = (*door)->put(file, reason);
  return !digest && outlives(digest.error()) ? put(file, reason) : digest;
}

Result<void> HomeDoor::follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                              const std::function<bool()>& stop) {
  auto door = whole();
  if (!door) return door.error();
  uint64_t next = from;
  auto followed = (*door)->follow(
      from,
      [&](const engine::Step& step) {
        next = step.seq + 1;
        return visit(step);
      },
      stop);
  return !followed && outlives(followed.error()) ? follow(next, visit, stop) : followed;
}

// In this process nothing is held on to while there is nothing new: another one may want the store.
Result<void> HomeDoor::read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) return (*there)->read_logs(ask, visit, stop);
  return read_logs_here(*this, opening_.disk, ask, visit, [&] {
    store_.reset();
    return stop();
  });
}

// The command must not hold the store.
Result<int> HomeDoor::exec(const ExecAsk& ask, const ExecEnds& ends) {
  auto there = served();
  if (!there) return there.error();
  if (*there != nullptr) return (*there)->exec(ask, ends);
  auto replicas = local_replicas(opening_.concepts);
  if (!replicas) return replicas.error();
  auto door = whole();
  if (!door) return door.error();
  if (*door != door_.get()) return (*door)->exec(ask, ends);
  auto replica = door_->enter(ask);
  door_.reset();
  engine_.reset();
  if (!replica) return replica.error();
  return (*replicas)->exec(*replica, ask.command);
}

}  // namespace sluice::host
