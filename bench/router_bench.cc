// What a request costs through the router, beside HAProxy, nginx and Caddy with the same function (their settings are
// in bench/router/) and beside a bare forwarder of bytes; idle connections; naive applications behind each of them;
// the edge (router_edge.h); tables and changes under load. Run from the repository's folder, on two quiet cores:
// router_bench [ROUNDS [requests|edge]], where `requests` leaves the edge, tables and changes out, and `edge` measures
// that alone. Whoever is not installed is left out with a line.
#include <sys/resource.h>

#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/testing_wait.h"
#include "base/thread_turns.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/router_control.h"
#include "bench/router_edge.h"
#include "bench/router_proxies.h"
#include "bench/router_servers.h"
#include "bench/router_stage.h"

namespace sluice::bench {

double median_of(std::vector<double> series) {
  std::nth_element(series.begin(), series.begin() + static_cast<long>(series.size() / 2), series.end());
  return series[series.size() / 2];
}

namespace {

constexpr int kVisitors = 100;
constexpr std::chrono::milliseconds kFreed(100);  // is the table before, after so long

double percentile_of(std::vector<double> series, double share) {
  std::sort(series.begin(), series.end());
  return series[std::min(series.size() - 1, static_cast<size_t>(static_cast<double>(series.size()) * share))];
}

class Bench {
 public:
  Bench(int rounds, std::string what, rlim_t files) : rounds_(rounds), what_(std::move(what)), stage_(files) {}

  int run() {
    try {
      measure();
    } catch (const std::exception&) {  // what was measured before is worth seeing
      (void)report_.print();
      throw;
    }
    return report_.print();
  }

 private:
  void measure() {
    start_upstream();
    if (rounds_ > 0) start_peers();
    start_router("router", tcp_);
    write_cookies();
    if (rounds_ > 0 && what_ != "edge") {
      start_router("router over Unix", local_);
      measure_requests();
      measure_idle();
      measure_applications(report_, stage_, key_, strangers_);
    }
    if (rounds_ > 0 && what_ != "requests") {
      EdgeBench edge{report_, stage_, key_, tcp_, cookies_, rounds_};
      edge.measure_idle_tls();
      edge.measure_tls();
      edge.measure_certificates();
      edge.measure_floods();
      edge.measure_large_bodies();
    }
    if (Proxy* router = find("router"); router != nullptr && what_.empty()) {
      measure_tables(*router);
      measure_changes(*router);
    }
  }

  // --- who takes part

  void start_upstream() {
    for (int i = 0; i < 2; ++i) tcp_.push_back("127.0.0.1:" + std::to_string(free_port()));
    for (int i = 0; i < 2; ++i) local_.push_back("unix:" + stage_.path("r" + std::to_string(i + 1)));
    std::vector<std::string> all = tcp_;
    all.insert(all.end(), local_.begin(), local_.end());
    std::vector<int> listeners = listeners_at(all);
    upstream_ = std::make_unique<Child>(Child::of_function(kOtherCore, [&] { answer_for_ever(listeners); }));
  }

  void start_peers() {
    start_peer("HAProxy", "haproxy.cfg", {"haproxy", "-db", "-f"}, tcp_);
    if (what_ == "edge") return;  // that is for its cookie
    start_forwarder();
    start_peer("HAProxy over Unix", "haproxy.cfg", {"haproxy", "-db", "-f"},
               {"unix@" + local_[0].substr(5), "unix@" + local_[1].substr(5)});
    start_peer("nginx", "nginx.conf", {"nginx", "-c"}, tcp_);
    start_peer("Caddy", "Caddyfile", {"caddy", "run", "--adapter", "caddyfile", "--config"}, tcp_);
  }

  void start_forwarder() {
    int port = free_port();
    int listener = listeners_at({"127.0.0.1:" + std::to_string(port)})[0];
    take("forwarder",
         std::make_unique<Proxy>(port, Child::of_function(kProxyCore, [&] { forward_for_ever(listener, tcp_[0]); })));
  }

  void start_peer(const std::string& name, const std::string& settings, std::vector<std::string> words,
                  const std::vector<std::string>& upstreams) {
    take(name, stage_.peer(settings, std::move(words), upstreams));
  }
  void start_router(const std::string& name, const std::vector<std::string>& upstreams) {
    take(name, stage_.router(key_, upstreams));
  }
  void take(const std::string& name, std::unique_ptr<Proxy> proxy) {
    if (proxy == nullptr) return;
    proxy->name = name;
    proxies_.push_back(std::move(proxy));
  }

  Proxy* find(const std::string& name) {
    for (auto& proxy : proxies_) {
      if (proxy->name == name) return proxy.get();
    }
    return nullptr;
  }

  // --- requests

  // Everybody gets the same requests: of visitors who have been there before, with HAProxy's cookie and the router's.
  void write_cookies() {
    std::string text;
    for (int i = 0; i < kVisitors; ++i) {
      std::string line;
      for (const char* name : {"HAProxy", "router"}) {
        Proxy* proxy = find(name);
        std::string cookie = proxy == nullptr ? "" : cookie_in(head_from(proxy->port, ""));
        if (!cookie.empty()) line += (line.empty() ? "" : "; ") + cookie;
      }
      text += line + "\n";
    }
    write_text(cookies_, text);
    write_text(strangers_, "\n");
  }

  void measure_requests() {
    double failures = 0;
    for (int round = 0; round <= rounds_; ++round) {
      for (auto& proxy : proxies_) {
        double before = proxy->process.cpu_us();
        Seen seen = load(proxy->port, cookies_, 1);
        double cost = (proxy->process.cpu_us() - before) / seen.requests;
        failures += seen.failures;
        if (round == 0) continue;  // warms up
        proxy->cost_us.push_back(cost);
        proxy->p99_us.push_back(seen.p99_us);
        proxy->rate.push_back(seen.requests);
      }
    }
    for (auto& proxy : proxies_) {
      report_.note(proxy->name + ": CPU a request", median_of(proxy->cost_us), "µs");
      report_.note(proxy->name + ": p99 at 64 connections", median_of(proxy->p99_us), "µs");
      report_.note(proxy->name + ": requests", median_of(proxy->rate), "/s");
    }
    report_.at_most("failed requests", failures, 0, "");
    ratio("router", "HAProxy", &Proxy::cost_us, "CPU", 0.87);
    ratio("router", "forwarder", &Proxy::cost_us, "CPU", 1.25);
    ratio("router", "HAProxy", &Proxy::p99_us, "p99", 1.0);
    ratio("router over Unix", "HAProxy", &Proxy::cost_us, "CPU", 0.70);
    ratio("HAProxy", "forwarder", &Proxy::cost_us, "CPU", 0);
    measure_strangers();
  }

  // The median of the ratios round by round: what disturbs the machine disturbs both.
  void ratio(const std::string& one, const std::string& other, std::vector<double> Proxy::*series,
             const std::string& what, double goal) {
    Proxy* first = find(one);
    Proxy* second = find(other);
    if (first == nullptr || second == nullptr) return;
    std::vector<double> ratios;
    for (size_t i = 0; i < (first->*series).size(); ++i) ratios.push_back((first->*series)[i] / (second->*series)[i]);
    std::string text = one + " / " + other + ": " + what;
    if (goal > 0) {
      report_.at_most(text, median_of(ratios), goal, "×");
    } else {
      report_.note(text, median_of(ratios), "×");
    }
  }

  // Visitors without a cookie, each of whom gets one.
  void measure_strangers() {
    for (const char* name : {"HAProxy", "router"}) {
      Proxy* proxy = find(name);
      if (proxy == nullptr) continue;
      std::vector<double> costs;
      for (int round = 0; round < 3; ++round) {
        double before = proxy->process.cpu_us();
        Seen seen = load(proxy->port, strangers_, 1);
        costs.push_back((proxy->process.cpu_us() - before) / seen.requests);
      }
      report_.note(std::string(name) + ": CPU a request of a new visitor", median_of(costs), "µs");
    }
  }

  // --- idle connections

  void measure_idle() {
    for (auto& proxy : proxies_) {
      if (proxy->name == "forwarder" || proxy->name.ends_with("Unix")) continue;
      double before = proxy->process.rss_bytes();
      std::vector<double> after;
      {
        IdleConnections held(proxy->port, idle_);
        after.push_back(proxy->process.rss_bytes());
      }
      double each = (after[0] - before) / idle_;
      std::string what = proxy->name + ": an idle connection, of " + std::to_string(idle_);
      if (proxy->name == "router") {
        report_.at_most("router: memory, both processes", proxy->process.share_bytes() / 1e6, 12, "MB");
        report_.at_most(what, each, 600, "B");
      } else {
        report_.note(what, each, "B");
      }
    }
  }

  // --- tables and changes

  void measure_tables(Proxy& router) {
    ControlSocket control(router.control);
    std::string own = deployment_text(tcp_);
    std::string ten = own + "," + bulk_text(10000, 10), one = own + "," + bulk_text(100000, 1);
    auto loads = [&](const std::string& deployments, int count, std::chrono::milliseconds pause = {}) {
      std::vector<double> took;
      for (int i = 0; i < count; ++i) {
        ++generation_;
        std::string request = load_request(key_, generation_, table_text(generation_, deployments));
        double start = wall_s();
        control.acknowledged(request);
        took.push_back((wall_s() - start) * 1000);
        std::this_thread::sleep_for(pause);
      }
      return took;
    };
    report_.at_most("load of 100,000 routes of 10,000 deployments", median_of(loads(ten, 11)), 200, "ms");
    report_.at_most("the same, when the table before is freed", median_of(loads(ten, 11, kFreed)), 200, "ms");
    report_.note("load of 100,000 routes of 100,000 deployments", median_of(loads(one, 5)), "ms");

    // Loads without a pause while requests come; what is sent is made before, as making it is not the router's.
    std::vector<double> ratios;
    double failures = 0;
    for (int round = 0; round < 5; ++round) {
      std::vector<std::string> requests;
      for (int i = 0; i < 20; ++i) {
        ++generation_;
        requests.push_back(load_request(key_, generation_, table_text(generation_, ten)));
      }
      Seen quiet = load(router.port, cookies_, 2);
      std::atomic<bool> over = false;
      std::thread sender([&] {
        let_others_go_first();  // sending is not the router's, and wrk must not wait for it
        for (size_t i = 0; i < requests.size() && !over; ++i) control.acknowledged(requests[i]);
      });
      Seen busy = load(router.port, cookies_, 2);
      over = true;
      sender.join();
      ratios.push_back(busy.p99_us / quiet.p99_us);
      failures += busy.failures;
    }
    report_.at_most("p99 while it loads / before", median_of(ratios), 1.5, "×");
    report_.at_most("failed requests while it loads", failures, 0, "");
  }

  void measure_changes(Proxy& router) {
    constexpr int kChanges = 10000;
    ControlSocket control(router.control);
    ++generation_;
    control.acknowledged(load_request(key_, generation_, table_text(generation_, deployment_text(tcp_))));
    std::vector<double> took;
    std::atomic<bool> over = false;
    std::thread sender([&] {
      go_first();  // whoever measures must not wait for wrk and the upstream
      for (int i = 0; i < kChanges; ++i) {
        ++generation_;
        std::string request = patch_request(key_, generation_, deployment_text(tcp_, i % 10001));
        double start = wall_s();
        std::string answer = control.acknowledged(request);
        took.push_back((wall_s() - start) * 1000);
        if (boost::json::parse(answer).as_object().contains("wants_load") &&
            boost::json::parse(answer).at("wants_load").as_bool()) {
          ++generation_;
          control.acknowledged(load_request(key_, generation_, table_text(generation_, deployment_text(tcp_))));
        }
      }
      over = true;
    });
    double failures = 0, requests = 0;
    while (!over) {
      Seen seen = load(router.port, cookies_, 1);
      failures += seen.failures;
      requests += seen.requests;
    }
    sender.join();
    report_.note("10,000 changes under load: requests", requests, "");
    report_.at_most("10,000 changes under load: failed requests", failures, 0, "");
    report_.note("change to acknowledgement under load, median", median_of(took), "ms");
    report_.at_most("change to acknowledgement under load, p99", percentile_of(took, 0.99), 1, "ms");
    std::vector<double> alone;
    for (int i = 0; i < 1000; ++i) {
      ++generation_;
      std::string request = patch_request(key_, generation_, deployment_text(tcp_, i % 10001));
      double start = wall_s();
      control.acknowledged(request);
      alone.push_back((wall_s() - start) * 1000);
    }
    report_.at_most("change to acknowledgement without load, p99", percentile_of(alone, 0.99), 1, "ms");
  }

  int rounds_;
  std::string what_;  // alone; empty: everything
  ProxyStage stage_;
  int idle_ = std::min(10'000, stage_.connections() - 100);
  Report report_;
  std::string cookies_ = stage_.path("cookies");
  std::string strangers_ = stage_.path("strangers");
  crypto::PrivateKey key_ = crypto::PrivateKey::generate();
  int generation_ = 1;
  std::vector<std::string> tcp_, local_;
  std::unique_ptr<Child> upstream_;
  std::vector<std::unique_ptr<Proxy>> proxies_;
};

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 100'000);
  ::setrlimit(RLIMIT_NOFILE, &files);
  try {
    sluice::bench::stay_on_core(sluice::bench::kOtherCore);
    return sluice::bench::Bench(count > 1 ? std::atoi(words[1]) : 11, count > 2 ? words[2] : "", files.rlim_cur).run();
  } catch (const std::exception& failed) {  // what was started ends with the bench
    std::fprintf(stderr, "router_bench: %s\n", failed.what());
    return 1;
  }
}
