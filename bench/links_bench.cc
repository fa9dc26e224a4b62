// 1,000 routers on other machines, simulated by another process over mTLS: from a change to the last acknowledgement,
// beside a bare TLS fan-out of the same bytes; and what each of them takes of the control plane's memory.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "deploy/router_fleet.h"
#include "host/link/link_hub.h"
#include "http/held_connection.h"
#include "http/server.h"

namespace sluice::bench {
namespace {

constexpr int kRouters = 1'000;
constexpr int kDeployments = 100;
constexpr int64_t kPatience_ms = 60'000;
constexpr std::string_view kAnswer = "{\"ok\":true,\"generation\":1000000}\n";

struct Authority {
  RealClock clock;
  crypto::MadeCertificate ca, leaf;
  Authority() {
    const int64_t now_ms = clock.wall_ms(), until_ms = now_ms + 86'400'000;
    ca = must(crypto::make_certificate({.name = "bench", .is_ca = true, .until_ms = until_ms}, nullptr, now_ms));
    leaf = must(crypto::make_certificate({.names = {"127.0.0.1"}, .until_ms = until_ms}, &ca, now_ms));
  }
  http::HeldTls client() const {
    return {.roots_pem = ca.chain_pem, .chain_pem = leaf.chain_pem, .key_pem = std::string(leaf.key_pem.reveal())};
  }
  std::shared_ptr<const http::ServerTls> server() const {
    return must(http::ServerTls::make({.chain_pem = leaf.chain_pem,
                                       .key_pem = std::string(leaf.key_pem.reveal()),
                                       .client_roots_pem = ca.chain_pem}));
  }
};

// ------------------------------------------------------------------------------------------------- the routers'
// process

struct FarRouter {
  std::unique_ptr<http::HeldConnection> connection;
  bool bare = false;
  std::string bare_input;
  host::LinkReader reader;
  std::map<uint32_t, std::pair<std::string, size_t>> streams;  // what has come, and how much there will be
};

// A bare message says in its first line how long it is.
void answer_bare(FarRouter& router) {
  const size_t end = router.bare_input.find('\n');
  if (end == std::string::npos) return;
  const size_t size = std::strtoull(router.bare_input.c_str(), nullptr, 10);
  if (router.bare_input.size() < end + 1 + size) return;
  router.bare_input.erase(0, end + 1 + size);
  router.connection->send("k");
}

void answer_link(FarRouter& router) {
  while (true) {
    auto frame = router.reader.take();
    if (!frame || !*frame) return;
    if ((*frame)->kind == host::LinkKind::end) router.streams.erase((*frame)->stream);
    if ((*frame)->kind != host::LinkKind::data) continue;
    auto& [text, size] = router.streams[(*frame)->stream];
    text += (*frame)->bytes;
    const size_t end = text.find('\n');
    if (size == 0 && end != std::string::npos) {
      const auto request = boost::json::parse(text.substr(0, end)).as_object();
      size = end + 1 + static_cast<size_t>(request.contains("bytes") ? request.at("bytes").as_int64() : 0);
    }
    if (size == 0 || text.size() < size) continue;
    text.clear();
    size = 0;
    router.connection->send(host::link_frame(host::LinkKind::data, (*frame)->stream, kAnswer));
  }
}

[[noreturn]] void be_routers(const Authority& authority, int told) {
  std::array<uint16_t, 2> ports{};
  if (::read(told, ports.data(), sizeof ports) != sizeof ports) ::_exit(1);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<FarRouter>> all;
  for (int i = 0; i < 2 * kRouters; ++i) {
    auto router = std::make_unique<FarRouter>();
    router->bare = i < kRouters;
    router->connection = must(http::HeldConnection::connect("127.0.0.1", ports[router->bare ? 0 : 1],
                                                            authority.client(), authority.clock, kPatience_ms));
    router->connection->send("GET /" + std::to_string(i % kRouters) +
                             " HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: bench\r\n\r\n");
    router->connection->flush();
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) router->connection->read(head);
    if (!router->bare) router->connection->send(host::link_frame(host::LinkKind::hello, 0, "{\"listen\":[]}"));
    router->connection->flush();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = router.get()}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, router->connection->fd(), &event);
    all.push_back(std::move(router));
  }
  std::array<epoll_event, 256> events;
  double said_s = wall_s();
  while (true) {
    const int found = ::epoll_wait(poll, events.data(), events.size(), 500);
    for (int i = 0; i < found; ++i) {
      auto& router = *static_cast<FarRouter*>(events[static_cast<size_t>(i)].data.ptr);
      std::string& input = router.bare ? router.bare_input : router.reader.input();
      if (router.connection->read(input) == http::HeldConnection::Read::ended) ::_exit(0);
      router.bare ? answer_bare(router) : answer_link(router);
      router.connection->flush();
    }
    if (wall_s() - said_s < 1.5) continue;
    said_s = wall_s();
    for (auto& router : all) {
      if (router->bare) continue;
      router->connection->send(host::link_frame(host::LinkKind::beat, 0, ""));
      router->connection->flush();
    }
  }
}

// --------------------------------------------------------------------------------------------------- the control plane

double rss_kb() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

router::TableDocument table(int64_t generation) {
  router::TableDocument table{.environment = "local", .generation = generation};
  for (int i = 0; i < kDeployments; ++i) {
    router::DeploymentDocument each{.id = "d" + std::to_string(i), .bundle = "app", .customer = "acme"};
    each.routes.hosts = {each.id + ".example"};
    const int64_t share = i == 0 ? generation % 10'000 : 5'000;
    each.revisions.push_back({.id = "r2", .weight_bps = share, .replicas = {{.address = "tcp:10.0.0.1:9001"}}});
    each.revisions.push_back(
        {.id = "r1", .weight_bps = 10'000 - share, .replicas = {{.address = "tcp:10.0.0.1:9000"}}});
    table.deployments.push_back(std::move(each));
  }
  return table;
}

int run() {
  http::raise_open_files();
  const Authority authority;
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) be_routers(authority, pipe[0]);

  const Folder folder("/tmp");
  RealDisk disk;
  RealClock clock;
  const host::Home home(disk, folder.path("h"));
  must(home.folder("router"));
  const auto key = crypto::PrivateKey::generate();
  std::array<uint8_t, 32> seed{1};
  auto hub = must(host::LinkHub::start({.disk = disk,
                                        .home = home,
                                        .clock = clock,
                                        .key = [&] { return crypto::PrivateKey::from_seed(seed); },
                                        .urls = [] { return std::vector<std::string>(); },
                                        .log = [](const std::string&) {}},
                                       {}));
  std::mutex mutex;
  std::vector<std::unique_ptr<http::HeldConnection>> bare;
  std::array<std::unique_ptr<http::Server>, 2> servers;
  std::array<uint16_t, 2> ports{};
  for (size_t i = 0; i < 2; ++i) {
    auto listening = must(http::listen_tcp("127.0.0.1", 0));
    ports[i] = http::port_of(listening);
    servers[i] = must(http::Server::start(
        std::move(listening),
        [&, i](const http::Request& request, const http::Peer&) {
          return http::Response{
              .protocol = "bench",
              .give_away = [&, i, name = "r" + request.target.substr(1)](auto connection, std::string input) {
                if (i == 1) return hub->take({.name = name, .router = name}, std::move(connection), std::move(input));
                const std::lock_guard guard(mutex);
                bare.push_back(std::move(connection));
              }};
        },
        clock, {}, {}, [shown = authority.server()] { return shown; }));
  }
  std::vector<deploy::RouterFleet::Member> members;
  for (int i = 0; i < kRouters; ++i) {
    const std::string name = "r" + std::to_string(i);
    members.push_back({name, name, (home.root() / "router" / name / "control.sock").string()});
  }
  if (::write(pipe[1], ports.data(), sizeof ports) != sizeof ports) return 1;
  auto bare_there = [&] {
    const std::lock_guard guard(mutex);
    return bare.size() == kRouters;
  };
  if (!eventually(bare_there)) throw std::runtime_error("the bare connections are not there");
  const double before_kb = rss_kb();
  const auto linked = [&] {
    return std::ranges::all_of(members, [&](const auto& each) { return disk.exists(each.control).value(); });
  };
  if (!eventually(linked)) throw std::runtime_error("not all routers are linked");
  const double each_kb = (rss_kb() - before_kb) / kRouters;

  deploy::RouterFleet fleet(disk, (home.root() / "router").string(),
                            [&]() -> Result<crypto::PrivateKey> { return crypto::PrivateKey::from_seed(seed); });
  int64_t generation = 1;
  auto change = [&] {
    auto sent = must(fleet.publish(table(generation++), members));
    if (sent.acknowledged.size() != members.size()) throw std::runtime_error("not all have acknowledged");
  };
  change();  // the table whole; from then on patches
  // As long as an order with its patch.
  const auto one = table(2);
  const std::string patch = boost::json::serialize(to_json(one).as_object().at("deployments").as_array().at(0));
  auto signed_order =
      must(router::sign_order({.op = router::OrderOp::patch, .environment = "local", .from = 1}, patch, key));
  std::string message = router::order_line(router::OrderOp::patch, signed_order, patch.size()) + "\n" + patch;
  message = std::to_string(message.size()) + "\n" + message;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (auto& each : bare) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = each.get()}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, each->fd(), &event);
  }
  auto fan_out = [&] {
    for (auto& each : bare) {
      each->send(message);
      each->flush();
    }
    std::array<epoll_event, 256> events;
    std::string said;
    while (said.size() < kRouters) {
      const int found = ::epoll_wait(poll, events.data(), events.size(), 1'000);
      for (int i = 0; i < found; ++i) {
        static_cast<http::HeldConnection*>(events[static_cast<size_t>(i)].data.ptr)->read(said);
      }
    }
  };
  const auto medians = medians_s({change, fan_out});
  Report report;
  report.at_most("change to the last of 1,000 acknowledgements, times a bare TLS fan-out", medians[0] / medians[1], 2,
                 "×");
  report.at_most("control plane's memory for each router", each_kb, 40, "kB");
  report.note("a change", medians[0] * 1e3, "ms");
  report.note("the fan-out", medians[1] * 1e3, "ms");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(poll);
  hub.reset();
  for (auto& each : servers) each.reset();
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main() { return sluice::bench::run(); }
