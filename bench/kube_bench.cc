// 500 ConfigMaps brought into a cluster, the tests' own: by sluice, by kubectl, and by a client that knows beforehand
// what it has to say and does nothing else, over eight connections. Run from the repository's folder.
#include <atomic>
#include <fstream>
#include <thread>

#include "base/clock.h"
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

int measure() {
  DiskFolder folder;
  Cluster cluster(folder);
  std::filesystem::create_directories(folder.path("k8s"));
  std::ofstream(folder.path("k8s/all.yaml")) << templates();
  std::ofstream(folder.path("deployer.yml")) << "hostId: local\nallowedNamespaces: ['*']\n";
  const std::string sluice = std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/sluice";
  const std::string kubeconfig = "KUBECONFIG=" + folder.path("kubeconfig");
  std::vector<double> bare_s, sluice_s, kubectl_s, sluice_cpu, kubectl_cpu, again_s;
  double resident_mb = 0;
  for (int round = 0; round <= kApplyRounds; ++round) {
    const std::string bare = cluster.make_space(), own = cluster.make_space(), other = cluster.make_space();
    const double begun_s = wall_s();
    cluster.apply_bare(bare);
    const double bare_took_s = wall_s() - begun_s;
    const std::vector<std::string> variables = {"SLUICE_HOME=" + folder.path("home"), "HOME=" + folder.path(""),
                                                "LIGHT_DEPLOYER_CONFIG=" + folder.path("deployer.yml"), kubeconfig};
    const std::vector<std::string> deploy = {sluice, "cluster", "deploy", "local", "big", folder.path("k8s"),
                                             "-n",   own,       "-o",     "json"};
    const Took mine = run(deploy, variables);
    const Took again = run(deploy, variables);
    const Took theirs = run({"kubectl", "apply", "--server-side", "--validate=false", "-n", other, "-f",
                             folder.path("k8s/all.yaml"), "--cache-dir", folder.path("cache")},
                            {"HOME=" + folder.path(""), kubeconfig});
    resident_mb = std::max(resident_mb, mine.resident_mb);
    if (round == 0) continue;  // warms up
    bare_s.push_back(bare_took_s);
    sluice_s.push_back(mine.wall_s);
    sluice_cpu.push_back(mine.cpu_s);
    again_s.push_back(again.wall_s);
    kubectl_s.push_back(theirs.wall_s);
    kubectl_cpu.push_back(theirs.cpu_s);
  }
  Report report;
  report.note("500 ConfigMaps, a bare client with 8 connections", median_ms(bare_s), "ms");
  report.note("500 ConfigMaps, sluice cluster deploy", median_ms(sluice_s), "ms");
  report.note("500 ConfigMaps, the same again, where nothing differs", median_ms(again_s), "ms");
  report.note("500 ConfigMaps, kubectl apply --server-side", median_ms(kubectl_s), "ms");
  report.note("CPU, sluice cluster deploy", median_ms(sluice_cpu), "ms");
  report.note("CPU, kubectl apply --server-side", median_ms(kubectl_cpu), "ms");
  report.at_most("time, sluice beside the bare client", median_ms(sluice_s) / median_ms(bare_s), 1.2, "×");
  report.at_most("CPU, sluice beside kubectl", median_ms(sluice_cpu) / median_ms(kubectl_cpu), 0.15, "×");
  report.at_most("memory of sluice, at its most", resident_mb, 40, "MB");
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main() { return sluice::bench::measure(); }
