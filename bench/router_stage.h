// What the benchmark of the router stands on: processes on a core each, what they and their children cost, and the
// load.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

constexpr int kProxyCore = 0;  // whoever is measured
constexpr int kOtherCore = 1;  // the load, the upstream and this program

void stay_on_core(int core);

// A process on a core of its own, with everything that it starts; ended with this object, or with this program.
class Child {
 public:
  static Child of_program(int core, std::vector<std::string> words, const std::string& log);
  static Child of_function(int core, const std::function<void()>& work);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Of the process and all that descend from it.
  [[nodiscard]] double cpu_us() const;
  [[nodiscard]] double rss_bytes() const;
  // The same, with its share alone of what it shares with others: a program that is two processes is in memory once.
  [[nodiscard]] double share_bytes() const;

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

int free_port();
// Waits until something listens there; throws with `log`'s text if nothing ever does.
void await_port(int port, const std::string& log);
std::string text_of(const std::string& path);
void write_text(const std::string& path, const std::string& text);

// The first line and the fields of an answer to GET / with these cookies.
std::string head_from(int port, const std::string& cookies);
// The name=value of the cookie that an answer sets, or nothing.
std::string cookie_in(const std::string& head);

// What wrk saw of a server: 64 connections on the other core, each line of `cookies` a visitor.
struct Seen {
  double requests = 0;
  double failures = 0;
  double p50_us = 0;
  double p99_us = 0;
};
Seen load(int port, const std::string& cookies_file, int seconds, int connections = 64,
          const std::string& scheme = "http");
// The requests a second that h2load got answers to: 16 connections of 16 streams each, over TLS.
double load_http2(int port, const std::string& cookies, int requests);

// A connection; -1: nobody is there.
int connected_to(int port);

// Connections that have asked once and then wait; held until the object ends.
class IdleConnections {
 public:
  IdleConnections(int port, int count);
  ~IdleConnections();
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

 private:
  std::vector<int> sockets_;
};

}  // namespace sluice::bench
