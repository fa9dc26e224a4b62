// TLS 1.3 and HTTP/2 beside HAProxy, nginx and Caddy with the same certificate, and what hostile clients do to others.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "base/testing_wait.h"
#include "base/thread_turns.h"
#include "bench/folder.h"
#include "bench/router_edge.h"
#include "bench/router_servers.h"
#include "bench/router_tls_client.h"

namespace sluice::bench {
namespace {

constexpr int kHandshakes = 300;        // in a round
constexpr int kHttp2Requests = 20'000;  // in a round
constexpr int kIdleTls = 2'000;
constexpr auto kUntilIdle = std::chrono::seconds(3);
constexpr int kCertificates = 10'000;
constexpr size_t kLargeBytes = size_t{64} << 20U;
constexpr int kLargeBodies = 8;  // in a round
constexpr int kOthers = 8;       // connections of those who ask while others flood
constexpr auto kFloodPause = std::chrono::milliseconds(20);

struct Goal {
  std::string peer;
  double ratio;
};

// Everybody in turn, so many rounds; what the router needs by what each peer needs, round by round.
void compete(Report& report, Proxies& proxies, int rounds, const std::string& what, const std::string& unit,
             const std::vector<Goal>& goals, const std::function<double(Proxy&)>& cost) {
  std::map<std::string, std::vector<double>> costs;
  for (int round = 0; round <= rounds; ++round) {
    for (auto& proxy : proxies) {
      const double one = cost(*proxy);
      if (round > 0) costs[proxy->name].push_back(one);  // the first warms up
    }
  }
  for (auto& proxy : proxies) report.note(proxy->name + ": " + what, median_of(costs[proxy->name]), unit);
  for (const Goal& goal : goals) {
    if (!costs.contains(goal.peer) || !costs.contains("router")) continue;
    std::vector<double> ratios;
    for (size_t i = 0; i < costs["router"].size(); ++i) {
      ratios.push_back(costs["router"][i] / costs[goal.peer][i]);
    }
    report.at_most("router / " + goal.peer + ": " + what, median_of(ratios), goal.ratio, "×");
  }
}

// What a proxy's processes need while something is done.
double cpu_us_of(Proxy& proxy, const std::function<void()>& work) {
  const double before = proxy.process.cpu_us();
  work();
  return proxy.process.cpu_us() - before;
}

// --- floods of HTTP/2

std::string frame(char kind, char flags, uint32_t stream, const std::string& content) {
  const auto byte = [](size_t value) { return static_cast<char>(value & 0xff); };
  std::string made = {byte(content.size() >> 16), byte(content.size() >> 8), byte(content.size()), kind,        flags,
                      byte(stream >> 24),         byte(stream >> 16),        byte(stream >> 8),    byte(stream)};
  return made + content;
}

// GET http://app.example/, or POST.
std::string head_block(bool post = false) {
  std::string block = post ? "\x83\x86\x84" : "\x82\x86\x84";
  return block + "\x01\x0b" + "app.example";
}

constexpr char kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kContinuation = 9;
constexpr char kEndStream = 1, kEndHeaders = 4;

struct Flood {
  std::string name;
  std::string settings;                         // that it begins with
  std::string first;                            // what comes once
  std::function<std::string(uint32_t)> repeat;  // and then again and again, with the next stream's number
};

std::vector<Flood> floods() {
  const std::string big =
      std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4'000, 'b');  // x: bbb…, kept in the table
  return {
      {"resets", "", "",
       [](uint32_t id) {
         return frame(kHeaders, kEndHeaders | kEndStream, id, head_block()) + frame(kReset, 0, id, {"\0\0\0\x08", 4});
       }},
      {"resets that it provokes", "", "",
       [](uint32_t id) {
         return frame(kHeaders, kEndHeaders | kEndStream, id, head_block()) + frame(kData, 0, id, "after its end");
       }},
      {"SETTINGS", "", "", [](uint32_t) { return frame(kSettings, 0, 0, ""); }},
      {"PING", "", "", [](uint32_t) { return frame(kPing, 0, 0, "12345678"); }},
      {"empty DATA", "", frame(kHeaders, kEndHeaders, 1, head_block(true)),
       [](uint32_t) { return frame(kData, 0, 1, ""); }},
      {"CONTINUATION", "", frame(kHeaders, kEndStream, 1, head_block()),
       [](uint32_t) { return frame(kContinuation, 0, 1, ""); }},
      {"HPACK bombs", "", frame(kHeaders, kEndHeaders | kEndStream, 1, head_block() + big),
       [](uint32_t id) {
         return frame(kHeaders, kEndHeaders | kEndStream, id + 2, head_block() + std::string(1'000, '\xbe'));
       }},
      {"zero windows", std::string("\0\x04\0\0\0\0", 6), "",
       [](uint32_t id) { return frame(kHeaders, kEndHeaders | kEndStream, id, head_block()); }},
  };
}

// One connection after the other, each until the router has ended it; what it says is read and thrown away.
void flood_until(const std::atomic<bool>& over, int port, const Flood& flood) {
  std::array<char, 65'536> said{};
  while (!over) {
    const int fd = connected_to(port);
    if (fd < 0) return;
    std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, flood.settings) + flood.first;
    uint32_t id = 1;
    for (int i = 0; i < 20'000 && !over; ++i, id += 2) {
      bytes += flood.repeat(id);
      if (bytes.size() < 16'384) continue;
      if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) <= 0) break;
      bytes.clear();
      if (::recv(fd, said.data(), said.size(), MSG_DONTWAIT) == 0) break;
    }
    ::close(fd);
    std::this_thread::sleep_for(kFloodPause);
  }
}

}  // namespace

Proxies EdgeBench::start_secure() {
  Proxies proxies;
  const auto take = [&](const std::string& name, std::unique_ptr<Proxy> proxy) {
    if (proxy == nullptr) return;
    proxy->name = name;
    proxies.push_back(std::move(proxy));
  };
  take("HAProxy", stage.peer("haproxy.cfg", {"haproxy", "-db", "-f"}, upstreams, Front::tls));
  take("nginx", stage.peer("nginx.conf", {"nginx", "-c"}, upstreams, Front::tls));
  take("Caddy", stage.peer("Caddyfile", {"caddy", "run", "--adapter", "caddyfile", "--config"}, upstreams, Front::tls));
  take("router", stage.router(key, upstreams, Front::tls));
  return proxies;
}

// Of processes that have done nothing else: what others have given back would be used again.
void EdgeBench::measure_idle_tls() {
  for (const bool http2 : {false, true}) {
    const std::string what = http2 ? "an idle connection of HTTP/2 over TLS" : "an idle connection of TLS";
    std::map<std::string, double> idle;
    for (auto& proxy : start_secure()) {
      TlsClient client(http2);
      client.hold(proxy->port, 100);  // what is only needed once
      const double before = proxy->process.rss_bytes();
      client.hold(proxy->port, kIdleTls);
      std::this_thread::sleep_for(kUntilIdle);
      idle[proxy->name] = (proxy->process.rss_bytes() - before) / kIdleTls;
      if (proxy->name != "router") report.note(proxy->name + ": " + what, idle[proxy->name], "B");
    }
    if (idle.contains("HAProxy") && idle.contains("nginx")) {
      report.at_most("router: " + what, idle["router"], 1.1 * std::min(idle["HAProxy"], idle["nginx"]), "B");
    }
  }
}

void EdgeBench::measure_tls() {
  Proxies proxies = start_secure();
  compete(report, proxies, rounds, "CPU a request, TLS 1.3", "µs", {{"HAProxy", 0.92}}, [&](Proxy& proxy) {
    Seen seen;
    const double cost = cpu_us_of(proxy, [&] { seen = load(proxy.port, cookies_file, 1, 64, "https"); });
    must(seen.failures == 0, proxy.name + " has failed over TLS");
    return cost / seen.requests;
  });
  std::string cookies = text_of(cookies_file);
  cookies = cookies.substr(0, cookies.find('\n'));
  compete(report, proxies, rounds, "CPU a request, HTTP/2 over TLS, 16×16", "µs", {{"HAProxy", 1.0}, {"nginx", 0.75}},
          [&](Proxy& proxy) {
            return cpu_us_of(proxy, [&] { load_http2(proxy.port, cookies, kHttp2Requests); }) / kHttp2Requests;
          });
  for (const bool resumed : {false, true}) {
    compete(report, proxies, rounds, resumed ? "CPU a resumed handshake" : "CPU a full handshake", "µs",
            {{"HAProxy", 1.0}}, [&](Proxy& proxy) {
              return cpu_us_of(proxy, [&] { TlsClient(false).shake_hands(proxy.port, kHandshakes, resumed); }) /
                     kHandshakes;
            });
  }
}

void EdgeBench::measure_certificates() {
  const std::string place = stage.path("many");
  std::filesystem::create_directories(place + "/haproxy");
  for (int i = 0; i < kCertificates; ++i) {
    const std::string name = i == 0 ? "app.example" : "host-" + std::to_string(i) + ".example";
    const CertificateFiles files = make_certificate_of({name});
    write_text(place + "/haproxy/" + name + ".pem", files.chain + files.key);
    write_certificate(place + "/router/" + name, files);
  }
  std::map<std::string, std::vector<double>> starts, memory;
  for (int round = 0; round < 3; ++round) {
    for (const char* name : {"HAProxy", "router"}) {
      const double begun = wall_s();
      auto proxy = name == std::string("router")
                       ? stage.router(key, upstreams, Front::tls, place + "/router")
                       : stage.peer("haproxy.cfg", {"haproxy", "-db", "-f"}, upstreams, Front::tls, place + "/haproxy");
      if (proxy == nullptr) return;
      TlsClient(false).shake_hands(proxy->port, 1, false);
      starts[name].push_back(wall_s() - begun);
      memory[name].push_back(proxy->process.rss_bytes() / 1e6);
    }
  }
  const std::string what = std::to_string(kCertificates) + " certificates: ";
  for (const char* name : {"HAProxy", "router"}) {
    report.note(name + (": " + what) + "start", median_of(starts[name]) * 1000, "ms");
    report.note(name + (": " + what) + "memory", median_of(memory[name]), "MB");
  }
  report.at_most("router / HAProxy: " + what + "start", median_of(starts["router"]) / median_of(starts["HAProxy"]), 0.5,
                 "×");
  report.at_most("router / HAProxy: " + what + "memory", median_of(memory["router"]) / median_of(memory["HAProxy"]),
                 0.5, "×");
}

void EdgeBench::measure_floods() {
  auto router = stage.router(key, upstreams);
  if (router == nullptr) return;
  load(router->port, cookies_file, 1, kOthers);
  const double before = router->process.rss_bytes();
  for (const Flood& flood : floods()) {
    std::vector<double> ratios;
    double failures = 0;
    for (int round = 0; round < 3; ++round) {
      const Seen quiet = load(router->port, cookies_file, 1, kOthers);
      std::atomic<bool> over = false;
      std::thread hostile([&] {
        let_others_go_first();  // the core of those who ask is theirs
        flood_until(over, router->port, flood);
      });
      const Seen busy = load(router->port, cookies_file, 1, kOthers);
      over = true;
      hostile.join();
      ratios.push_back(busy.p99_us / quiet.p99_us);
      failures += busy.failures;
    }
    report.at_most("flood of " + flood.name + ": p99 of others / before", median_of(ratios), 1.5, "×");
    report.at_most("flood of " + flood.name + ": failed requests of others", failures, 0, "");
  }
  report.at_most("memory that all floods leave", (router->process.rss_bytes() - before) / 1e6, 16, "MB");
}

void EdgeBench::measure_large_bodies() {
  const std::string at = "127.0.0.1:" + std::to_string(free_port());
  const int listener = listeners_at({at})[0];
  const Child upstream = Child::of_function(kOtherCore, [&] { answer_at_length(listener, kLargeBytes); });
  Proxies proxies;
  const auto take = [&](const std::string& name, std::unique_ptr<Proxy> proxy) {
    if (proxy == nullptr) return;
    proxy->name = name;
    proxies.push_back(std::move(proxy));
  };
  take("HAProxy", stage.peer("haproxy.cfg", {"haproxy", "-db", "-f"}, {at, at}));
  take("nginx", stage.peer("nginx.conf", {"nginx", "-c"}, {at, at}));
  take("router", stage.router(key, {at, at}));
  const std::string request = "GET /index.html HTTP/1.1\r\nHost: app.example\r\n\r\n";
  compete(report, proxies, std::min(rounds, 5), "CPU a GB of large bodies", "s", {{"HAProxy", 0.7}}, [&](Proxy& proxy) {
    const double cost = cpu_us_of(proxy, [&] {
      const int fd = connected_to(proxy.port);
      std::vector<char> piece(size_t{1} << 20);
      for (int i = 0; i < kLargeBodies; ++i) {
        must(::send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0, "cannot ask");
        const ssize_t got = ::recv(fd, piece.data(), 4'096, 0);
        const std::string came(piece.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
        const size_t end = came.find("\r\n\r\n");
        must(end != std::string::npos, "no head came");
        for (size_t left = kLargeBytes - (came.size() - end - 4); left > 0;) {
          const ssize_t some =
              ::recv(fd, piece.data(), std::min(left, piece.size()), MSG_TRUNC);  // looked at by nobody
          must(some > 0, "a body was cut off");
          left -= static_cast<size_t>(some);
        }
      }
      ::close(fd);
    });
    return cost / 1e6 / (static_cast<double>(kLargeBytes) * kLargeBodies / 1e9);
  });
}

}  // namespace sluice::bench
