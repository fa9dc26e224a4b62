// Processes on a core each, what they cost, and the load.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/testing_wait.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/router_stage.h"

namespace sluice::bench {
namespace {

// A process and all that descend from it.
std::set<pid_t> family_of(pid_t pid) {
  std::set<pid_t> family = {pid};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      pid_t one = std::atoi(entry.path().filename().c_str());
      if (one <= 0 || family.contains(one)) continue;
      std::string stat = text_of(entry.path() / "stat");
      size_t behind_name = stat.rfind(')');
      int parent = 0;
      if (behind_name == std::string::npos || std::sscanf(stat.c_str() + behind_name, ") %*c %d", &parent) != 1)
        continue;
      if (family.contains(parent)) grew = family.insert(one).second;
    }
  }
  return family;
}

// The sum of a line, in kB, of a file that /proc has of each process of a family.
double memory_of(pid_t pid, const std::string& file, const std::string& name) {
  double kb = 0;
  for (pid_t one : family_of(pid)) {
    std::string text = text_of("/proc/" + std::to_string(one) + "/" + file);
    if (size_t at = text.find(name); at != std::string::npos) kb += std::atof(text.c_str() + at + name.size());
  }
  return kb * 1024;
}

// Asks on a connection and reads the whole answer, which has a length; its head.
std::string ask(int fd, const std::string& cookies) {
  std::string request = "GET /index.html HTTP/1.1\r\nHost: app.example\r\n" +
                        (cookies.empty() ? "" : "Cookie: " + cookies + "\r\n") + "\r\n";
  must(::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()), "cannot ask");
  std::string came;
  std::array<char, 4096> piece{};
  size_t wanted = std::string::npos;
  while (wanted == std::string::npos || came.size() < wanted) {
    ssize_t got = ::recv(fd, piece.data(), piece.size(), 0);
    must(got > 0, "a connection ended before its answer");
    came.append(piece.data(), static_cast<size_t>(got));
    size_t end = came.find("\r\n\r\n");
    if (wanted != std::string::npos || end == std::string::npos) continue;
    std::string head = came.substr(0, end);
    std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
    size_t length = head.find("\r\ncontent-length: ");
    must(length != std::string::npos && head.find(" 200 ") != std::string::npos,
         "not an answer with a length: " + head);
    wanted = end + 4 + static_cast<size_t>(std::atoi(head.c_str() + length + 18));
  }
  return came.substr(0, came.find("\r\n\r\n") + 2);
}

}  // namespace

int connected_to(int port) {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

void stay_on_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  must(::sched_setaffinity(0, sizeof set, &set) == 0, "cannot stay on core " + std::to_string(core));
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Child Child::of_function(int core, const std::function<void()>& work) {
  pid_t pid = ::fork();
  must(pid >= 0, "cannot make a process");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    stay_on_core(core);
    work();
    ::_exit(0);
  }
  return Child(pid);
}

Child Child::of_program(int core, std::vector<std::string> words, const std::string& log) {
  return of_function(core, [&] {
    int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  });
}

Child::~Child() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGTERM);
  if (eventually([this] { return ::waitpid(pid_, nullptr, WNOHANG) != 0; })) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

double Child::cpu_us() const {
  double ns = 0;
  for (pid_t one : family_of(pid_)) {
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(one) + "/task", gone)) {
      double of_thread = 0;
      std::ifstream(thread.path() / "schedstat") >> of_thread;
      ns += of_thread;
    }
  }
  return ns / 1000;
}

double Child::rss_bytes() const { return memory_of(pid_, "status", "VmRSS:"); }
double Child::share_bytes() const { return memory_of(pid_, "smaps_rollup", "Pss:"); }

int free_port() {
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  must(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
           ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0,
       "no port is free");
  ::close(fd);
  return ntohs(address.sin_port);
}

void await_port(int port, const std::string& log) {
  bool listens = eventually([port] {
    int fd = connected_to(port);
    if (fd >= 0) ::close(fd);
    return fd >= 0;
  });
  if (!listens) must(false, "nothing listens: " + text_of(log));
}

std::string head_from(int port, const std::string& cookies) {
  int fd = connected_to(port);
  must(fd >= 0, "cannot connect");
  std::string head = ask(fd, cookies);
  ::close(fd);
  return head;
}

std::string cookie_in(const std::string& head) {
  std::string lower = head;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  size_t at = lower.find("\r\nset-cookie: ");
  if (at == std::string::npos) return "";
  at += 14;
  return head.substr(at, std::min(head.find(';', at), head.find("\r\n", at)) - at);
}

namespace {

// What a program on the load's core says.
std::string said_by(const std::string& command) {
  FILE* out = ::popen(("taskset -c " + std::to_string(kOtherCore) + " " + command + " 2>&1").c_str(), "r");
  must(out != nullptr, "cannot start " + command);
  std::string said;
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), out) != nullptr) said += piece.data();
  ::pclose(out);
  return said;
}

}  // namespace

Seen load(int port, const std::string& cookies_file, int seconds, int connections, const std::string& scheme) {
  // wrk takes whole seconds alone.
  const std::string said =
      said_by("wrk -t1 -c" + std::to_string(connections) + " -d" + std::to_string(seconds) +
              "s -s bench/router/wrk.lua " + scheme + "://127.0.0.1:" + std::to_string(port) + " -- " + cookies_file);
  Seen seen;
  size_t at = said.rfind("result ");
  must(at != std::string::npos && std::sscanf(said.c_str() + at, "result %lf %lf %lf %lf", &seen.requests,
                                              &seen.failures, &seen.p50_us, &seen.p99_us) == 4,
       "wrk failed: " + said);
  return seen;
}

double load_http2(int port, const std::string& cookies, int requests) {
  const std::string said =
      said_by("h2load -n " + std::to_string(requests) + " -c 16 -m 16 --connect-to=127.0.0.1:" + std::to_string(port) +
              (cookies.empty() ? "" : " -H 'cookie: " + cookies + "'") + " https://app.example/index.html");
  int succeeded = 0;
  double seconds = 0, rate = 0;
  char unit[4] = {};
  const size_t counts = said.find("requests: "), times = said.find("finished in ");
  const size_t done = said.find(" done, ", counts);
  must(counts != std::string::npos && times != std::string::npos && done != std::string::npos &&
           std::sscanf(said.c_str() + done, " done, %d succeeded", &succeeded) == 1 && succeeded == requests &&
           std::sscanf(said.c_str() + times, "finished in %lf%3[a-z], %lf req/s", &seconds, unit, &rate) == 3,
       "h2load failed: " + said);
  return rate;
}

IdleConnections::IdleConnections(int port, int count) {
  for (int i = 0; i < count; ++i) {
    sockets_.push_back(connected_to(port));
    must(sockets_.back() >= 0, "cannot hold so many connections: raise the limit of open files");
    ask(sockets_.back(), "");
  }
}

IdleConnections::~IdleConnections() {
  for (int fd : sockets_) ::close(fd);
}

}  // namespace sluice::bench
