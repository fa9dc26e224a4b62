// A Proxy on a wire of strings: tests and fuzzers play the clients and the replicas, and move the time.
//
//   TestingProxy proxy(table_of(deployment));
//   int client = proxy.connect();
//   proxy.send(client, "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
//   int upstream = proxy.upstream(0);            // the first connection that the proxy has made
//   proxy.send(upstream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//   proxy.taken(client);                         // what the client has got since the last time
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/testing_folder.h"
#include "router/proxy/proxy.h"
#include "router/table/table_compile.h"

namespace sluice::router {

struct TestingSocket {
  std::string incoming;    // to be read by the proxy
  std::string written;     // by the proxy
  size_t room = SIZE_MAX;  // how much more it may write
  bool ends = false;       // after what is incoming
  bool broken = false;
  bool shut = false;        // the proxy writes no more
  size_t acknowledged = 0;  // how often
  bool closed = false;      // by the proxy
  bool was_reset = false;   // and that rudely
  bool connecting = false;
  bool refuses = false;          // the connect fails when it is decided
  bool handshakes = false;       // and then there is TLS to be settled
  bool unbelieved = false;       // which fails
  std::string to;                // of one that the proxy has connected
  Endpoint* endpoint = nullptr;  // until it is closed
};

class TestingWire final : public Wire {
 public:
  ssize_t read(int fd, char* into, size_t size) override;
  ssize_t write(int fd, const iovec* parts, int count) override;
  int connect(const Address& to, Endpoint& endpoint, bool& at_once) override;
  Connected has_connected(int fd) override;
  void hand_over(int fd, Endpoint& to) override { at(fd).endpoint = &to; }
  Look look(int fd) override;
  ssize_t peek(int fd, char* into, size_t size) override;
  void start_tls(int fd) override { secures[fd] = next_secured; }
  void start_tls(int fd, const UpstreamTls&) override { at(fd).handshakes = true; }
  const Secured* secured(int fd) const override;
  void acknowledge(int fd) override;
  void shut_write(int fd) override;
  void close(int fd) override;
  void reset(int fd) override;

  int add();
  TestingSocket& at(int fd) { return sockets_.at(fd); }
  size_t open() const;
  bool has(int fd) const { return sockets_.contains(fd); }

  std::map<int, const Secured*> secures;
  const Secured* next_secured = nullptr;  // of the next connection that speaks TLS
  std::vector<int> connected;             // fds that the proxy made, in order
  std::vector<std::string> refusing;      // addresses where nobody listens
  size_t files = SIZE_MAX;                // as many may be open at once
  bool slow_connects = false;             // connects are decided by proxy.decide()
  size_t piece = SIZE_MAX;                // at most so much is read or written at once
  size_t reads = 0, writes = 0;           // how many calls there were

 private:
  std::map<int, TestingSocket> sockets_;
  int next_ = 100;
};

class TestingProxy {
 public:
  explicit TestingProxy(const TableDocument& table);
  ~TestingProxy();

  void load(const TableDocument& table);

  // -1: it is not admitted. With `secured` it comes over TLS; `proxied`: a PROXY header comes first.
  int connect(const std::string& peer = "192.0.2.7:40000", const Secured* secured = nullptr, bool proxied = false);
  void send(int fd, std::string_view bytes);
  void end(int fd);
  void break_off(int fd);
  void decide(int fd, bool connected);
  // Its TLS, of one that the proxy has connected.
  void settle_tls(int fd, bool believed);
  void make_room(int fd, size_t room);
  void advance_ms(int64_t time_ms);
  void settle();

  std::string taken(int fd);  // what was written to it since the last time
  bool is_closed(int fd) { return wire.at(fd).closed; }
  int upstream(size_t i) { return wire.connected.at(i); }
  size_t upstreams() const { return wire.connected.size(); }
  Counts counts(const std::string& deployment, const std::string& revision);
  uint32_t in_flight(const std::string& deployment, const std::string& revision);
  uint32_t websockets(const std::string& deployment, const std::string& revision);
  std::string log_text();

  TestingFolder folder;
  TestingWire wire;
  SeededRandom random{7};
  std::unique_ptr<Counters> counters;
  std::unique_ptr<TableCompiler> compiler;
  std::shared_ptr<const Table> table;
  LogExchange log;
  AddressCounts addresses;
  Now now{.monotonic_us = 1'000'000'000, .wall_ms = 1'700'000'000'000};
  std::unique_ptr<Proxy> proxy;

 private:
  void tell(int fd, const Happened& what);
};

// A deployment "d1" at shop.example with one revision "r1" at tcp:10.0.0.1:80, without cookies, and a table of it.
DeploymentDocument testing_deployment();
TableDocument testing_table(std::vector<DeploymentDocument> deployments);

}  // namespace sluice::router
