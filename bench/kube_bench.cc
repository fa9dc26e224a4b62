// 500 ConfigMaps brought into a cluster, the tests' own: by sluice, by kubectl, and by a client that knows beforehand
// what it has to say and does nothing else, over eight connections. Sluice is a command that asks `sluice serve`, and
// both are counted; beside it, the same command in a home that nobody serves. Run from the repository's folder. The
// kubectl is that of PATH, or KUBECTL.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/testing_wait.h"
#include "bench/programs.h"
#include "http/outgoing.h"

namespace sluice::bench {
namespace {

constexpr int kObjects = 500, kConnections = 8, kApplyRounds = 10;

std::string name_of(int i) { return "settings-" + std::to_string(i); }

// What a program took, with everything that it started.
struct Took {
  double wall_s = 0, cpu_s = 0, resident_mb = 0;
};
Took run(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  const double begun_s = wall_s();
  const Started program = start(words, variables);
  char piece[4096];
  while (::read(program.said, piece, sizeof piece) > 0) {
  }
  ::close(program.said);
  int status = 0;
  rusage used{};
  must(::wait4(program.pid, &status, 0, &used) > 0, "it is not there any more");
  must(status == 0, words[0] + " has failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {.wall_s = wall_s() - begun_s,
          .cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime),
          .resident_mb = static_cast<double>(used.ru_maxrss) / 1024};
}

// `sluice serve`, which stays while commands come and go.
class Server {
 public:
  Server(const std::string& sluice, const std::vector<std::string>& variables)
      : started_(start({sluice, "serve"}, variables)) {
    const std::string socket = variables.front().substr(variables.front().find('=') + 1) + "/run/sluice.sock";
    must(eventually([&] { return std::filesystem::exists(socket); }), "sluice serve does not listen");
  }
  ~Server() {
    ::kill(started_.pid, SIGTERM);
    ended(started_);
  }

  // Of all its threads, those that have ended included; the kernel counts it in ticks.
  double cpu_s() const {
    std::ifstream file("/proc/" + std::to_string(started_.pid) + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream words(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) words >> skipped;
    double user = 0, system = 0;
    words >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  double most_resident_mb() const {
    std::ifstream file("/proc/" + std::to_string(started_.pid) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }

 private:
  const Started started_;
};

class Cluster {
 public:
  explicit Cluster(const Folder& folder)
      : server_(start({"python3", "tests/kube/server.py", "--folder", folder.path(""), "--tls", "--settle"}, {})),
        url_("https://127.0.0.1:" + said_after(server_, "https://127.0.0.1:")),
        outgoing_({.tls = {.roots_pem = text_in(folder.path("ca.pem"))}}, clock_) {}
  ~Cluster() {
    ::kill(server_.pid, SIGKILL);
    ended(server_);
  }

  std::string make_space() {
    const std::string name = "space-" + std::to_string(++spaces_);
    send({.method = "POST",
          .url = url_ + "/api/v1/namespaces",
          .headers = headers("application/json"),
          .body = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + "\"}}"});
    return name;
  }

  std::string last_space() const { return "space-" + std::to_string(spaces_); }

  // Knows what to say, and looks at nothing but whether it was done.
  void apply_bare(const std::string& space) {
    std::vector<http::OutgoingRequest> requests;
    for (int i = 0; i < kObjects; ++i) {
      requests.push_back(
          {.method = "PATCH",
           .url = url_ + "/api/v1/namespaces/" + space + "/configmaps/" + name_of(i) + "?fieldManager=bare",
           .headers = headers("application/apply-patch+yaml"),
           .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name_of(i) + R"(","namespace":")" +
                   space + R"("},"data":{"level":"info"}})"});
    }
    std::atomic<size_t> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kConnections; ++i) {
      threads.emplace_back([&] {
        for (size_t at = next++; at < requests.size(); at = next++) send(requests[at]);
      });
    }
    for (std::thread& each : threads) each.join();
  }

 private:
  static std::string text_in(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<http::Header> headers(const std::string& type) {
    return {{"Authorization", "Bearer admin-token"}, {"Content-Type", type}};
  }
  void send(const http::OutgoingRequest& request) {
    must(must(outgoing_.send(request)).status == 201, request.url + " was not made");
  }

  const Started server_;
  const std::string url_;
  RealClock clock_;
  http::Outgoing outgoing_;
  int spaces_ = 0;
};

std::string templates() {
  std::string text;
  for (int i = 0; i < kObjects; ++i) {
    text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name_of(i) + "\ndata:\n  level: info\n";
  }
  return text;
}

// Everybody's figures of all rounds.
struct Figures {
  std::vector<double> bare_s, served_s, again_s, alone_s, kubectl_s, bare_cpu, served_cpu, alone_cpu, kubectl_cpu;
  double served_mb = 0, alone_mb = 0;
};

int print(const Figures& all) {
  // Ticks are coarse beside what one deployment takes: the mean has them all.
  const auto mean = [](const std::vector<double>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  };
  Report report;
  report.note("500 ConfigMaps, a bare client with 8 connections", median_ms(all.bare_s), "ms");
  report.note("500 ConfigMaps, sluice cluster deploy, served", median_ms(all.served_s), "ms");
  report.note("500 ConfigMaps, the same again, where nothing differs", median_ms(all.again_s), "ms");
  report.note("500 ConfigMaps, sluice cluster deploy, not served", median_ms(all.alone_s), "ms");
  report.note("500 ConfigMaps, kubectl apply --server-side", median_ms(all.kubectl_s), "ms");
  report.note("CPU, the bare client", mean(all.bare_cpu) * 1e3, "ms");
  report.note("CPU, sluice, server and command", mean(all.served_cpu) * 1e3, "ms");
  report.note("CPU, sluice, not served", mean(all.alone_cpu) * 1e3, "ms");
  report.note("CPU, kubectl apply --server-side", mean(all.kubectl_cpu) * 1e3, "ms");
  report.at_most("time, sluice beside the bare client", median_ms(all.served_s) / median_ms(all.bare_s), 1.2, "×");
  report.at_most("CPU, sluice beside kubectl", mean(all.served_cpu) / mean(all.kubectl_cpu), 0.15, "×");
  report.at_most("memory of the server, at its most", all.served_mb, 40, "MB");
  report.note("memory of a command that is not served, at its most", all.alone_mb, "MB");
  return report.print();
}

int measure() {
  DiskFolder folder;
  Cluster cluster(folder);
  std::filesystem::create_directories(folder.path("k8s"));
  std::ofstream(folder.path("k8s/all.yaml")) << templates();
  std::ofstream(folder.path("deployer.yml")) << "hostId: local\nallowedNamespaces: ['*']\n";
  const std::string sluice = std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/sluice";
  const std::string kubeconfig = "KUBECONFIG=" + folder.path("kubeconfig");
  const char* other = std::getenv("KUBECTL");
  const std::string kubectl = other == nullptr ? "kubectl" : other;
  const auto variables = [&](const std::string& home) -> std::vector<std::string> {
    return {"SLUICE_HOME=" + folder.path(home), "HOME=" + folder.path(""),
            "LIGHT_DEPLOYER_CONFIG=" + folder.path("deployer.yml"), kubeconfig};
  };
  const auto deploy = [&](const std::string& home) {
    return run(
        {sluice, "cluster", "deploy", "local", "big", folder.path("k8s"), "-n", cluster.make_space(), "-o", "json"},
        variables(home));
  };
  deploy("served");  // makes the home
  const Server server(sluice, variables("served"));
  Figures all;
  for (int round = 0; round <= kApplyRounds; ++round) {
    const std::string bare = cluster.make_space();
    const double begun_s = wall_s(), begun_cpu_s = cpu_s();
    cluster.apply_bare(bare);
    const double bare_took_s = wall_s() - begun_s, bare_cpu_s = cpu_s() - begun_cpu_s;
    const double before_s = server.cpu_s();
    const Took served = deploy("served");
    const double server_s = server.cpu_s() - before_s;
    const Took again =
        run({sluice, "cluster", "deploy", "local", "big", folder.path("k8s"), "-n", cluster.last_space(), "-o", "json"},
            variables("served"));
    const Took alone = deploy("alone");
    const Took theirs = run({kubectl, "apply", "--server-side", "--validate=false", "-n", cluster.make_space(), "-f",
                             folder.path("k8s/all.yaml"), "--cache-dir", folder.path("cache")},
                            {"HOME=" + folder.path(""), kubeconfig});
    if (round == 0) continue;  // warms up
    all.bare_s.push_back(bare_took_s);
    all.bare_cpu.push_back(bare_cpu_s);
    all.served_s.push_back(served.wall_s);
    all.served_cpu.push_back(served.cpu_s + server_s);
    all.again_s.push_back(again.wall_s);
    all.alone_s.push_back(alone.wall_s);
    all.alone_cpu.push_back(alone.cpu_s);
    all.alone_mb = std::max(all.alone_mb, alone.resident_mb);
    all.kubectl_s.push_back(theirs.wall_s);
    all.kubectl_cpu.push_back(theirs.cpu_s);
  }
  all.served_mb = server.most_resident_mb();
  return print(all);
}

}  // namespace
}  // namespace sluice::bench

int main() { return sluice::bench::measure(); }
