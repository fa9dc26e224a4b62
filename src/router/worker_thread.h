// A thread of the worker: its listeners, its connections, and the loop that moves them. Others talk to it through the
// table's pointer and through tasks, which it runs between two turns.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "router/proxy/proxy.h"
#include "router/proxy/socket_wire.h"

namespace sluice::router {

struct Listener {
  int fd = -1;
  Arrival arrival;  // of those that connect there
};

class WorkerThread {
 public:
  static Result<std::unique_ptr<WorkerThread>> make(size_t lane, std::vector<Listener> listeners, const Clock& clock,
                                                    Random& random, Counters& counters, LogExchange& log,
                                                    AddressCounts& addresses, TlsServer* tls = nullptr);
  ~WorkerThread();  // stops it, and cuts what is under way

  // Before it starts: how many connections it may have, and all threads together.
  void limit_connections(size_t mine, size_t of_all_threads) { proxy_.limit_connections(mine, of_all_threads); }
  void prove_by(const ChallengeBoard* board) { proxy_.prove_by(board); }
  // Where requests in the clear are sent that are to come with TLS.
  void redirect_to(uint16_t port) { proxy_.redirect_to(port); }
  void start();

  // Requests are looked up in it from now on. The one before must stay until the thread has caught up.
  void order_table(const Table* table);
  bool has_caught_up(const Table* table) const { return proxy_.caught_up() == table || has_ended(); }
  // Whether it may still look at this one of the tables before; one that has not begun may look at any.
  bool is_at(const Table* table) const {
    return !has_ended() && (proxy_.caught_up() == table || proxy_.caught_up() == nullptr);
  }
  // Runs it on the thread and waits for that.
  void ask(const std::function<void(Proxy&)>& task);

  // Takes nothing new and ends when all that is under way has, or at the deadline (monotonic; 0: at once).
  void begin_stop(int64_t deadline_ms);
  // The same with patience: nothing that is connected is closed before the deadline.
  void begin_retire(int64_t deadline_ms);
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }

  size_t clients() const { return clients_.load(std::memory_order_relaxed); }
  size_t exchanges() const { return exchanges_.load(std::memory_order_relaxed); }
  size_t held() const { return held_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return proxy_.refused(); }
  const Http2Counts& http2_counts() const { return proxy_.http2_counts(); }
  const PinCounts& pin_counts() const { return proxy_.pin_counts(); }

 private:
  struct ListeningEndpoint : Endpoint {
    Listener listener;
    bool waits = false;  // there were no more files; it is looked at again with the next tick
  };

  WorkerThread(size_t lane, std::vector<Listener> listeners, std::unique_ptr<SocketWire> wire, int wakeup,
               const Clock& clock, Random& random, Counters& counters, LogExchange& log, AddressCounts& addresses,
               TlsServer* tls);
  void run();
  void turn();
  void accept_from(ListeningEndpoint& listener);
  void close_listeners();
  void wake();
  Now now() const;

  size_t lane_;
  const Clock& clock_;
  std::unique_ptr<SocketWire> wire_;
  Proxy proxy_;
  std::vector<std::unique_ptr<ListeningEndpoint>> listeners_;
  Endpoint wakeup_;
  int64_t timers_ms_ = 0;
  int64_t log_ms_ = 0;
  bool more_ = false;  // there is something to go on with without waiting
  bool stopping_ = false;
  int64_t stop_at_ms_ = 0;
  int64_t retire_until_ms_ = 0;  // 0: it does not

  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  std::atomic<size_t> clients_ = 0, exchanges_ = 0, held_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace sluice::router
