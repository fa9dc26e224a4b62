// Rollouts: a verdict, what looking at a thousand of them costs, and how long an abort takes until every router has
// acknowledged it, under as much load as the router's example takes. Run from the repository's folder; `rollout_bench
// 20` makes twenty aborts.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <thread>

#include "base/json.h"
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "deploy/judge_watch.h"
#include "deploy/testing_router.h"
#include "deploy/testing_views.h"
#include "judge/judge.h"
#include "rollout.gen.h"
#include "router.gen.h"
#include "telemetry.gen.h"

namespace sluice::bench {
namespace {

constexpr int kRollouts = 1'000, kLooks = 20;
constexpr int64_t kInterval_s = 10;

judge::Counts some_counts(uint64_t& seed, double requests) {
  judge::Counts made;
  made.latencies.resize(judge::kMostBuckets);
  for (double& each : made.latencies) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    each = static_cast<double>(
        static_cast<int64_t>(requests / 64 * (0.8 + 0.4 * static_cast<double>(seed >> 40) / (1 << 24))));
    made.requests += each;
  }
  return made;
}

double verdict_s() {
  uint64_t seed = 1;
  std::vector<judge::Window> windows;
  for (int i = 0; i < 1'000; ++i) {
    windows.push_back(
        {.canary_weight_bps = 500, .baseline = some_counts(seed, 95'000), .canary = some_counts(seed, 5'000)});
  }
  return median_s(
      [&] {
        judge::Judge judge{judge::Settings(), judge::Buckets()};
        for (const judge::Window& window : windows) judge.add(window);
        keep(judge.verdict("v1", "v2"));
      },
      kRounds, cpu_s);
}

// A thousand rollouts at a step, each of a deployment of its own, in one environment with one router.
struct ManyRollouts {
  explicit ManyRollouts(const std::string& control) {
    using namespace deploy;
    rows.environment("local", {.name = "local"});
    deploy::router::State(rows.rows).put(deploy::router::RouterId("local"), {.generation = 4});
    deploy::router::State(rows.rows)
        .members(deploy::router::RouterId("local"))
        .push({.router = "m1", .name = "main", .control = control, .acknowledged = 4});
    for (int i = 0; i < kRollouts; ++i) {
      const std::string at = std::to_string(i), deployment = "d" + at;
      rows.deployment(deployment, "customer-" + at);
      rows.revision("old" + at, deployment, 1);
      rows.revision("new" + at, deployment, 2);
      const std::string criteria = R"({"interval": 10, "warmUp": 0, "settle": 0})";
      rollout::State(rows.rows).put(rollout::RolloutId("o" + at), {.number = i,
                                                                   .deployment = deployment,
                                                                   .concept_ = "new" + at,
                                                                   .baseline = "old" + at,
                                                                   .criteria = criteria,
                                                                   .status = rollout::RolloutStatus::running,
                                                                   .step = 1,
                                                                   .weightBps = 5'000,
                                                                   .pauseSeconds = 36'000,
                                                                   .attempt = 1,
                                                                   .judging = lang::Request("q" + at)});
      telemetry::State(rows.rows).put(
          telemetry::TelemetryAId("a" + at),
          {.ask = lang::Request("p" + at), .subject = "new" + at, .window = 36'000, .criteria = criteria});
    }
  }
  deploy::RowsInMemory rows;
};

// CPU seconds of one look at all of them: asking the router, judging, and keeping what is known. The router is a thread
// of this process, so what its answers cost is in it.
double look_s(const std::string& folder) {
  RealDisk disk;
  ManualClock clock;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  deploy::TestingRouter router(folder + "/router", "main", key.public_key());
  deploy::RouterFleet fleet(disk, folder + "/router",
                            [&] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); });
  deploy::MetricsReader metrics(disk, clock, [](const std::string&) { return std::nullopt; });
  deploy::JudgeWatch watch(fleet, metrics, disk, clock, folder + "/judge");
  ManyRollouts many(router.control());
  lang::Observer::Tell tell = [](const std::string&, const json::object&) {};
  watch.compare(many.rows, tell);
  const double began_s = cpu_s();
  for (int look = 0; look < kLooks; ++look) {
    clock.advance_ms(kInterval_s * 1'000);
    watch.look(tell);
  }
  return (cpu_s() - began_s) / kLooks;
}

// ------------------------------------------------------------------------------------------------------------ abort

// What a command says; throws unless it ends with 0.
std::string said(const std::string& command, const std::string& home) {
  ::setenv("SLUICE_HOME", home.c_str(), 1);
  ::setenv("NO_COLOR", "1", 1);
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  must(pipe != nullptr, "cannot run " + command);
  std::string text;
  char piece[4'096];
  while (size_t got = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
  must(::pclose(pipe) == 0, command + " has failed");
  return text;
}

// Asks again and again over a connection that stays open.
void ask_on(uint16_t port, const std::atomic<bool>& ending, std::atomic<uint64_t>& answered) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  while (!ending) {
    int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{.tv_sec = 5};
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool open = ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    char answer[4'096];
    while (open && !ending) {
      open = ::send(client, request.data(), request.size(), MSG_NOSIGNAL) > 0 &&
             ::recv(client, answer, sizeof answer, 0) > 0;
      if (open) ++answered;
    }
    ::close(client);
  }
}

struct Aborts {
  std::vector<double> times_s;
  double answered_per_s = 0;
};

Aborts aborts(const std::string& sluice, const std::string& home, int rounds) {
  said(sluice + " up examples/hello --detach --quiet", home);
  const std::string up = said(sluice + " up examples/hello-v2 --detach --quiet --share 0.01%", home);
  const size_t colon = up.rfind(':');
  const auto port = static_cast<uint16_t>(std::atoi(up.c_str() + colon + 1));
  std::atomic<bool> ending = false;
  std::atomic<uint64_t> answered = 0;
  std::vector<std::thread> customers;
  for (int i = 0; i < 8; ++i) customers.emplace_back([&] { ask_on(port, ending, answered); });
  Aborts made;
  const double began_s = wall_s();
  for (int i = 0; i < rounds; ++i) {
    said(sluice + " rollout start local hello@2 --steps 20%:1h --interval 1s --quiet", home);
    const double until_s = wall_s() + 30;
    while (said(sluice + " rollout status -o json", home).find("\"weight_obeyed_bps\": 2000") == std::string::npos) {
      must(wall_s() < until_s, "the first step was not obeyed");
    }
    const double asked_s = wall_s();
    said(sluice + " rollout abort hello@2 --quiet", home);
    made.times_s.push_back(wall_s() - asked_s);
  }
  made.answered_per_s = static_cast<double>(answered) / (wall_s() - began_s);
  ending = true;
  for (std::thread& each : customers) each.join();
  said(sluice + " stop --quiet", home);
  return made;
}

double share_of(std::vector<double> times, double share) {
  std::ranges::sort(times);
  return times[std::min(times.size() - 1, static_cast<size_t>(share * static_cast<double>(times.size())))];
}

int run(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string sluice = std::filesystem::canonical(argv[0]).parent_path().string() + "/sluice";
  Folder folder("/tmp");
  Report report;
  report.at_most("a verdict over 1,000 windows of 2 revisions × 64 buckets", verdict_s() * 1e3, 10, "ms");
  report.at_most("1,000 rollouts, each looked at every 10 s: share of a core",
                 look_s(folder.path("many")) / static_cast<double>(kInterval_s) * 100, 10, "%");
  const Aborts made = aborts(sluice, folder.path("home"), rounds);
  report.at_most("sluice rollout abort, to the routers' acknowledgement, p99", share_of(made.times_s, 0.99) * 1e3, 50,
                 "ms");
  report.note("the same, median", share_of(made.times_s, 0.5) * 1e3, "ms");
  report.note("requests answered meanwhile", made.answered_per_s, "per s");
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) { return sluice::bench::run(argc, argv); }
