// The API as other programs meet it: reads of a deployment page's data beside nginx with the same bytes in a file, what
// a call adds to the engine, a thousand followers of events, and checks among a hundred thousand tokens and grants. Run
// from the repository's folder.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <thread>

#include "api/testing_served.h"
#include "base/json.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/router_stage.h"
#include "host/exchange.h"
#include "host/testing_authority.h"
#include "http/client.h"

namespace sluice::bench {
namespace {

constexpr int kFollowers = 1'000, kChanges = 100, kReaders = 16, kMany = 100'000;
constexpr double kReadFor_s = 1.5;

// What a command of the program beside this one prints; throws unless it ends with 0.
std::string said(const std::string& words) {
  const std::string command = std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/sluice " + words;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  must(pipe != nullptr, "cannot run " + command);
  std::string text;
  std::array<char, 4096> piece{};
  while (size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) text.append(piece.data(), got);
  must(::pclose(pipe) == 0, command + " has failed");
  return text;
}

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "cannot connect");
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

void send_all(int fd, const std::string& bytes) {
  must(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()), "cannot send");
}

// A number behind a name in a head, such as a length or a position as an ETag.
uint64_t number_after(const std::string& text, std::string_view name) {
  const size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

// -------------------------------------------------------------------------------------------------------------- reads

struct Reads {
  uint64_t answers = 0, wrong = 0, stale = 0;
};

// Asks over several connections that stay open. Of a server whose answers have a position as their ETag, none may be
// older than what was committed before it was asked.
Reads read_from(int port, const std::string& request, const std::atomic<uint64_t>* committed) {
  struct Reader {
    int fd = -1;
    std::string input;
    uint64_t asked_at = 0;
  };
  Reads reads;
  std::vector<Reader> readers(kReaders);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  auto ask = [&](Reader& one) {
    one.asked_at = committed != nullptr ? committed->load() : 0;
    send_all(one.fd, request);
  };
  for (size_t i = 0; i < readers.size(); ++i) {
    readers[i].fd = connected(port);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, readers[i].fd, &event);
    ask(readers[i]);
  }
  const double until_s = wall_s() + kReadFor_s;
  std::array<epoll_event, 64> events{};
  std::array<char, 65536> piece{};
  while (wall_s() < until_s) {
    const int ready = ::epoll_wait(epoll, events.data(), events.size(), 1'000);
    for (int i = 0; i < ready; ++i) {
      Reader& one = readers[events[static_cast<size_t>(i)].data.u64];
      const ssize_t got = ::recv(one.fd, piece.data(), piece.size(), 0);
      must(got > 0, "a connection ended");
      one.input.append(piece.data(), static_cast<size_t>(got));
      const size_t end = one.input.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const std::string head = one.input.substr(0, end + 2);
      if (one.input.size() < end + 4 + number_after(head, "Content-Length: ")) continue;
      ++reads.answers;
      if (!head.starts_with("HTTP/1.1 200 ")) ++reads.wrong;
      if (committed != nullptr && number_after(head, "ETag: \"") < one.asked_at) ++reads.stale;
      one.input.clear();
      ask(one);
    }
  }
  for (const Reader& one : readers) ::close(one.fd);
  ::close(epoll);
  return reads;
}

// A sluice serve with hello in it, on a core of its own, and somebody who may see it.
struct Served {
  explicit Served(Folder& folder) : port(free_port()), process(start(folder, port)) {
    await_port(port, folder.path("serve.log"));
    said("up examples/hello --detach --quiet");
    write_text(folder.path("policy.yaml"),
               "schema: sluice.access-policy.v1\ngrants:\n- {to: [user:root], role: admin}\n"
               "- {to: [user:vic], role: viewer, environments: [local]}\n");
    said("access policy apply " + folder.path("policy.yaml"));
    viewer = token("vic");
    admin = token("root");
  }
  static Child start(Folder& folder, int port) {
    ::setenv("SLUICE_HOME", folder.path("home").c_str(), 1);
    return Child::of_program(kProxyCore,
                             {std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/sluice", "serve",
                              "--listen", "127.0.0.1:" + std::to_string(port), "--quiet"},
                             folder.path("serve.log"));
  }
  static std::string token(const std::string& name) {
    const auto made = parse_json(said("access tokens create " + name + " --for user:" + name + " -o json"), "token");
    return std::string(must(made).root.at("secret").as_string());
  }
  std::string get(const std::string& target, const std::string& secret) const {
    return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + secret + "\r\n\r\n";
  }
  // Changes something that everybody sees; the position of the change.
  uint64_t change(http::Client& client, int number) const {
    http::Request request = host::post({"v1", "actions", "Env", "update"},
                                       {{"input", {{"environment", "local"}, {"name", "n" + std::to_string(number)}}}});
    request.headers.push_back({"Authorization", "Bearer " + admin});
    return must(host::ask(client, std::move(request))).at("position").to_number<uint64_t>();
  }

  int port;
  Child process;
  std::string viewer, admin;
};

// The body of one answer.
std::string body_of(int port, const std::string& request) {
  const int fd = connected(port);
  send_all(fd, request);
  std::string input;
  std::array<char, 65536> piece{};
  size_t end = std::string::npos;
  while (end == std::string::npos || input.size() < end + 4 + number_after(input, "Content-Length: ")) {
    const ssize_t got = ::recv(fd, piece.data(), piece.size(), 0);
    if (got > 0) input.append(piece.data(), static_cast<size_t>(got));
    must(got > 0 || errno == EAGAIN, "no answer");
    end = input.find("\r\n\r\n");
  }
  ::close(fd);
  must(input.starts_with("HTTP/1.1 200 "), input.substr(0, 400));
  return input.substr(end + 4);
}

void measure_reads(Report& report, Folder& folder, const Served& served, const std::string& target,
                   const std::string& what, bool has_goal) {
  const std::string body = body_of(served.port, served.get(target, served.viewer));
  std::filesystem::create_directory(folder.path("files"));
  write_text(folder.path("files/page.json"), body);
  const int port = free_port();
  write_text(folder.path("nginx.conf"),
             "daemon off;\nmaster_process off;\nworker_processes 1;\npid " + folder.path("nginx.pid") +
                 ";\nerror_log " + folder.path("nginx.log") +
                 " crit;\nevents { worker_connections 1024; }\nhttp {\naccess_log off;\nkeepalive_requests "
                 "100000000;\nclient_body_temp_path " +
                 folder.path("b") + ";\nproxy_temp_path " + folder.path("p") + ";\nfastcgi_temp_path " +
                 folder.path("f") + ";\nuwsgi_temp_path " + folder.path("u") + ";\nscgi_temp_path " + folder.path("s") +
                 ";\nserver { listen 127.0.0.1:" + std::to_string(port) + "; root " + folder.path("files") +
                 "; }\n}\n");
  const Child nginx = Child::of_program(kProxyCore, {"nginx", "-c", folder.path("nginx.conf"), "-p", folder.path("")},
                                        folder.path("nginx.log"));
  await_port(port, folder.path("nginx.log"));
  RealClock clock;
  auto client = must(http::Client::to_tcp("127.0.0.1", static_cast<uint16_t>(served.port), clock));
  std::vector<double> ratios, costs;
  Reads all;
  for (int round = 0; round < 10; ++round) {
    const double nginx_us = nginx.cpu_us();
    const Reads files = read_from(port, "GET /page.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", nullptr);
    const double file_us = (nginx.cpu_us() - nginx_us) / static_cast<double>(files.answers);
    std::atomic<uint64_t> committed = 0;
    std::atomic<bool> ending = false;
    std::thread changing([&] {
      for (int number = 0; !ending; ++number) {
        committed = served.change(*client, round * 1'000 + number);
        ::usleep(100'000);
      }
    });
    const double sluice_us = served.process.cpu_us();
    const Reads pages = read_from(served.port, served.get(target, served.viewer), &committed);
    const double page_us = (served.process.cpu_us() - sluice_us) / static_cast<double>(pages.answers);
    ending = true;
    changing.join();
    all.answers += pages.answers;
    all.wrong += pages.wrong + files.wrong;
    all.stale += pages.stale;
    ratios.push_back(file_us / page_us);
    costs.push_back(page_us);
  }
  std::ranges::sort(ratios);
  std::ranges::sort(costs);
  const std::string size = " (" + std::to_string(body.size()) + " bytes)";
  if (has_goal)
    report.at_least(what + size + ", for the CPU of one core, nginx is 1", ratios[ratios.size() / 2], 0.3, "×");
  if (!has_goal) report.note(what + size + ", for the CPU of one core, nginx is 1", ratios[ratios.size() / 2], "×");
  report.note("  CPU of each, with ten commits a second beside it", costs[costs.size() / 2], "µs");
  report.at_most("  answers that were no 200, or older than a commit before them",
                 static_cast<double>(all.wrong + all.stale), 0, "of " + std::to_string(all.answers));
}

// ---------------------------------------------------------------------------------------------------------- followers

void measure_followers(Report& report, const Served& served) {
  RealClock clock;
  auto client = must(http::Client::to_tcp("127.0.0.1", static_cast<uint16_t>(served.port), clock));
  served.change(*client, 1);
  const double before = served.process.rss_bytes();
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> sockets;
  std::vector<std::string> heard(kFollowers);
  std::array<epoll_event, 256> events{};
  std::array<char, 65536> piece{};
  // Until each has heard this; when they did.
  auto until_all_hear = [&](const std::string& what, double since_s, std::vector<double>& times_s) {
    size_t waiting = kFollowers;
    while (waiting > 0) {
      must(wall_s() - since_s < 60, "a follower hears nothing");
      const int ready = ::epoll_wait(epoll, events.data(), events.size(), 1'000);
      for (int i = 0; i < ready; ++i) {
        const size_t one = events[static_cast<size_t>(i)].data.u64;
        const ssize_t got = ::recv(sockets[one], piece.data(), piece.size(), 0);
        must(got > 0, "a stream ended");
        heard[one].append(piece.data(), static_cast<size_t>(got));
        if (heard[one].find(what) == std::string::npos) continue;
        heard[one].clear();
        times_s.push_back(wall_s() - since_s);
        --waiting;
      }
    }
  };
  std::vector<double> times_s;
  for (int i = 0; i < kFollowers; ++i) {
    sockets.push_back(connected(served.port));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = static_cast<uint64_t>(i)}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, sockets.back(), &event);
    send_all(sockets.back(), served.get("/v1/events?types=environment.*", served.viewer));
  }
  until_all_hear(": from ", wall_s(), times_s);
  times_s.clear();
  for (int number = 0; number < kChanges; ++number) {
    const double asked_s = wall_s();
    std::thread changing([&] { served.change(*client, 5'000 + number); });
    until_all_hear("event: environment.updated", asked_s, times_s);
    changing.join();
  }
  const double each = (served.process.rss_bytes() - before) / kFollowers;
  for (int fd : sockets) ::close(fd);
  ::close(epoll);
  std::ranges::sort(times_s);
  report.at_most("1,000 followers: from a call to the event at each of them, p99",
                 times_s[static_cast<size_t>(static_cast<double>(times_s.size()) * 0.99)] * 1e3, 50, "ms");
  report.note("  the same, median", times_s[times_s.size() / 2] * 1e3, "ms");
  report.at_most("  memory of each", each / 1e3, 20, "kB");
}

// -------------------------------------------------------------------------------------------------- calls and checks

// With a store in memory, so that nothing but the way differs.
double overhead_of_a_call_ms() {
  constexpr int kCalls = 50;
  api::TestingServed served;
  auto client = must(http::Client::to_unix(served.socket(), served.clock));
  auto through = [&] {
    for (int i = 0; i < kCalls; ++i) {
      keep(must(host::ask(*client, host::post({"v1", "actions", "Work", "go"}, {{"input", {{"n", 7}}}}))));
    }
  };
  auto direct = [&] {
    for (int i = 0; i < kCalls; ++i) {
      keep(served.engine->invoke({.action = "Work/go", .input = {{"n", 7}}, .caller = {.name = served.owner}}));
    }
  };
  const auto took = medians_s({through, direct});
  return (took[0] - took[1]) / kCalls * 1e3;
}

class Crowd : public host::AuthorityTest {
 public:
  void TestBody() override {}

  void measure(Report& report) {
    std::vector<std::string> tokens;
    std::string policy(host::kTeamPolicy);
    for (int i = 0; i < kMany; ++i) {
      const std::string name = std::to_string(i);
      tokens.push_back(token("t" + name, {{"subject", "user:u" + name}}));
      if (i < kMany - 10)
        policy += "- {to: [user:u" + name + "], role: deployer, environments: [staging, e" + name + "-*]}\n";
    }
    put("Access[]", "whole", {{"policy", policy}, {"version", 2}, {"appliedBy", "uid:1"}});
    must(may("user:u7", "Traffic/set", {{"deployment", "d-staging"}}), "the policy was not taken");
    constexpr int kChecks = 1'000;
    size_t at = 0;
    auto next = [&] { return at = (at + 7'919) % (kMany - 10); };
    auto who = [&] {
      for (int i = 0; i < kChecks; ++i) keep(must(authority.authenticate(tokens[next()])));
    };
    auto what = [&] {
      for (int i = 0; i < kChecks; ++i) {
        const std::string name = std::to_string(next());
        must(authority.may({.name = "user:u" + name, .token = "t" + name}, "Traffic/set", {{"deployment", "d-staging"}})
                 .has_value(),
             "it was denied");
      }
    };
    const auto took = medians_s({who, what}, kRounds, cpu_s);
    report.at_most("who has a token, among 100,000", took[0] / kChecks * 1e6, 20, "µs");
    report.at_most("whether they may, among as many grants", took[1] / kChecks * 1e6, 20, "µs");
  }
};

int run() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  Report report;
  Crowd().measure(report);
  report.at_most("what a call adds to the engine", overhead_of_a_call_ms(), 0.3, "ms");
  {
    DiskFolder folder;
    Served served(folder);
    stay_on_core(kOtherCore);
    const auto status = must(parse_json(said("status -o json"), "status"));
    const json::value& first = status.root.at("environments").at(0).at("deployments").at(0);
    const std::string where = "?environment=local&deployment=" + std::string(first.at("deployment").as_string());
    measure_reads(report, folder, served, "/v1/views/status" + where, "reads of a deployment page's data", true);
    measure_reads(report, folder, served, "/v1/views/deployment" + where, "reads of its deployment alone", false);
    measure_followers(report, served);
    said("stop --quiet");
  }
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main() { return sluice::bench::run(); }
