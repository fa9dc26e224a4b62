// A socket is two strings and a few flags; what happens at one is told at once.
#include "router/testing_proxy.h"

#include <algorithm>
#include <cstring>

namespace sluice::router {

// --------------------------------------------------------------------------------------------------------------- wire

int TestingWire::add() {
  sockets_[++next_];
  return next_;
}

size_t TestingWire::open() const {
  return static_cast<size_t>(std::ranges::count_if(sockets_, [](const auto& each) { return !each.second.closed; }));
}

ssize_t TestingWire::read(int fd, char* into, size_t size) {
  ++reads;
  TestingSocket& socket = at(fd);
  if (socket.broken) return kBroken;
  if (socket.incoming.empty()) return socket.ends ? 0 : kWouldBlock;
  size_t taken = std::min({size, socket.incoming.size(), piece});
  std::memcpy(into, socket.incoming.data(), taken);
  socket.incoming.erase(0, taken);
  return static_cast<ssize_t>(taken);
}

ssize_t TestingWire::peek(int fd, char* into, size_t size) {
  const TestingSocket& socket = at(fd);
  if (socket.incoming.empty()) return socket.ends ? 0 : kWouldBlock;
  const size_t seen = std::min(size, socket.incoming.size());
  std::memcpy(into, socket.incoming.data(), seen);
  return static_cast<ssize_t>(seen);
}

ssize_t TestingWire::write(int fd, const iovec* parts, int count) {
  ++writes;
  TestingSocket& socket = at(fd);
  if (socket.broken) return kBroken;
  size_t done = 0;
  for (int i = 0; i < count; ++i) {
    size_t taken = std::min({parts[i].iov_len, socket.room, piece - std::min(piece, done)});
    socket.written.append(static_cast<const char*>(parts[i].iov_base), taken);
    if (socket.room != SIZE_MAX) socket.room -= taken;
    done += taken;
    if (taken < parts[i].iov_len) break;
  }
  return done > 0 ? static_cast<ssize_t>(done) : kWouldBlock;
}

int TestingWire::connect(const Address& to, Endpoint& endpoint, bool& at_once) {
  std::string text = to_string(to);
  if (std::ranges::find(refusing, text) != refusing.end()) return kNobody;
  if (open() >= files) return kNoFile;
  int fd = add();
  TestingSocket& socket = at(fd);
  socket.to = text;
  socket.endpoint = &endpoint;
  socket.connecting = slow_connects;
  at_once = !slow_connects;
  connected.push_back(fd);
  return fd;
}

Connected TestingWire::has_connected(int fd) {
  const TestingSocket& socket = at(fd);
  if (socket.refuses) return Connected::no;
  if (socket.unbelieved) return Connected::unbelieved;
  return socket.handshakes ? Connected::not_yet : Connected::yes;
}

Look TestingWire::look(int fd) {
  if (!at(fd).incoming.empty()) return Look::speaks;
  return at(fd).ends || at(fd).broken ? Look::ended : Look::quiet;
}

const Secured* TestingWire::secured(int fd) const {
  auto found = secures.find(fd);
  return found != secures.end() ? found->second : nullptr;
}

void TestingWire::acknowledge(int fd) { ++at(fd).acknowledged; }

void TestingWire::shut_write(int fd) { at(fd).shut = true; }

void TestingWire::close(int fd) {
  at(fd).closed = true;
  at(fd).endpoint = nullptr;
}

void TestingWire::reset(int fd) {
  at(fd).was_reset = true;
  close(fd);
}

// -------------------------------------------------------------------------------------------------------------- proxy

TestingProxy::TestingProxy(const TableDocument& document) {
  auto opened = Counters::open(folder.path("counters"), "ROUTER", "EPOCH", 1);
  counters = *std::move(opened);
  compiler =
      std::make_unique<TableCompiler>(random, [this](const SeriesName& name) { return counters->series_of(name); });
  proxy = std::make_unique<Proxy>(wire, random, *counters, 0, log, now, addresses);
  load(document);
}

TestingProxy::~TestingProxy() { proxy.reset(); }

void TestingProxy::load(const TableDocument& document) {
  auto made = compiler->load({.document = document}, table.get());
  std::shared_ptr<const Table> before = table;
  table = *std::move(made);
  proxy->order_table(table.get());
  proxy->catch_up();
  settle();
}

int TestingProxy::connect(const std::string& peer, const Secured* secured, bool proxied) {
  Address address = *parse_address(peer);
  if (!proxy->admits(address)) return -1;
  int fd = wire.add();
  wire.next_secured = secured;
  Client* client = proxy->accept(fd, address, {.port = 8080, .secure = secured != nullptr, .proxied = proxied});
  wire.at(fd).endpoint = client;
  settle();
  return fd;
}

void TestingProxy::settle() {
  for (int i = 0; i < 10'000 && proxy->run_queue(); ++i) {
  }
  proxy->rest();
}

void TestingProxy::tell(int fd, const Happened& what) {
  Endpoint* endpoint = wire.at(fd).endpoint;
  if (endpoint == nullptr) return;
  proxy->set_time(now);
  if (endpoint->kind == Endpoint::Kind::client) {
    proxy->happened(static_cast<Client&>(*endpoint), what);
  } else if (endpoint->kind == Endpoint::Kind::http2) {
    proxy->happened(static_cast<Http2Connection&>(*endpoint), what);
  } else if (endpoint->kind == Endpoint::Kind::shared) {
    proxy->happened(static_cast<SharedUpstream&>(*endpoint), what);
  } else if (endpoint->kind == Endpoint::Kind::redis) {
    proxy->happened_at_redis(what);
  } else {
    proxy->happened(static_cast<Upstream&>(*endpoint), what);
  }
  settle();
}

void TestingProxy::send(int fd, std::string_view bytes) {
  wire.at(fd).incoming += bytes;
  tell(fd, {.readable = true});
}

void TestingProxy::end(int fd) {
  wire.at(fd).ends = true;
  tell(fd, {.readable = true, .ended = true});
}

void TestingProxy::break_off(int fd) {
  wire.at(fd).broken = true;
  tell(fd, {.broken = true});
}

void TestingProxy::decide(int fd, bool connected) {
  wire.at(fd).connecting = false;
  wire.at(fd).refuses = !connected;
  tell(fd, {.writable = connected, .broken = !connected});
}

void TestingProxy::settle_tls(int fd, bool believed) {
  wire.at(fd).handshakes = false;
  wire.at(fd).unbelieved = !believed;
  tell(fd, {.readable = true});
}

void TestingProxy::make_room(int fd, size_t room) {
  wire.at(fd).room = room;
  tell(fd, {.writable = true});
}

void TestingProxy::advance_ms(int64_t time_ms) {
  // In steps, as the worker's loop takes them.
  while (time_ms > 0) {
    int64_t step = std::min<int64_t>(time_ms, 100);
    now.monotonic_us += step * 1'000;
    now.wall_ms += step;
    time_ms -= step;
    proxy->set_time(now);
    proxy->run_timers();
    settle();
  }
}

std::string TestingProxy::taken(int fd) {
  std::string text;
  text.swap(wire.at(fd).written);
  return text;
}

Counts TestingProxy::counts(const std::string& deployment, const std::string& revision) {
  return counters->total((*table->named(deployment))->named(revision)->series);
}

uint32_t TestingProxy::in_flight(const std::string& deployment, const std::string& revision) {
  return counters->in_flight((*table->named(deployment))->named(revision)->series);
}

uint32_t TestingProxy::websockets(const std::string& deployment, const std::string& revision) {
  return counters->websockets((*table->named(deployment))->named(revision)->series);
}

std::string TestingProxy::log_text() {
  proxy->hand_over_log();
  return log.fetch();
}

DeploymentDocument testing_deployment() {
  DeploymentDocument deployment{.id = "d1", .bundle = "shop"};
  deployment.routes.hosts = {"shop.example"};
  deployment.stickiness.mode = StickyMode::none;
  deployment.revisions = {{.id = "r1", .weight_bps = 10'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  return deployment;
}

TableDocument testing_table(std::vector<DeploymentDocument> deployments) {
  TableDocument table{.environment = "test", .generation = 1};
  table.access_log_bps = 0;
  table.deployments = std::move(deployments);
  return table;
}

}  // namespace sluice::router
