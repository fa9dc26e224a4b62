// The machine of one thread: it takes what happens at connections and moves requests and answers between clients and
// replicas. It knows no sockets and no clock of its own (router/proxy/wire.h, set_time), so that tests and fuzzers can
// drive it with whatever they like.
//
// Rules:
// - Nothing is read from one side while what was read before waits for the other: memory is bounded, and who is slow
//   slows down only who talks to him.
// - An object that is gone has fd -1 and keeps its memory until rest(); whoever calls something that may end a
//   connection looks at that afterwards.
// - Nothing is called back from within: what is to go on by itself is put into a queue that run_queue works off.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "router/access_log.h"
#include "router/address_counts.h"
#include "router/counters.h"
#include "router/http1/head_writer.h"
#include "router/http1/http1_parser.h"
#include "router/pins/redis_pins.h"
#include "router/proxy/buffers.h"
#include "router/proxy/connection.h"
#include "router/proxy/slab.h"
#include "router/proxy/timers.h"
#include "router/proxy/upstream_pool.h"
#include "router/proxy/wire.h"
#include "router/table/dispatch.h"
#include "router/table/table.h"
#include "router/tls/challenges.h"

namespace sluice::router {

struct Now {
  int64_t monotonic_us = 0;
  int64_t wall_ms = 0;

  int64_t monotonic_ms() const { return monotonic_us / 1'000; }
};

// How a connection came.
struct Arrival {
  uint16_t port = 0;
  bool at_unix = false;  // the peer has no address and is trusted
  bool secure = false;   // it speaks TLS: the wire knows what that has settled
  bool proxied = false;  // a PROXY header comes first
};

// Why an upstream did not do.
enum class UpstreamFault : uint8_t { connect, connect_timeout, unbelieved, closed, refused, garbage, timeout };

class Proxy {
 public:
  Proxy(Wire& wire, Random& random, Counters& counters, size_t lane, LogExchange& log, const Now& now,
        AddressCounts& addresses);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  void set_time(const Now& now) {
    now_ = now;
    pins_.set_time(now.monotonic_us, now.wall_ms / 1'000);
  }

  // The table that requests are looked up in from now on; nothing: there is none. Any thread may order one. It must
  // stay until the proxy has caught up with a later one.
  void order_table(const Table* table) { table_.store(table, std::memory_order_release); }
  // What a new table means for what is already here: pools, drains, requests that are held.
  void catch_up();
  const Table* caught_up() const { return caught_up_.load(std::memory_order_acquire); }

  // How many connections it may have, to clients and upstream. Where there is no room for another, the one that has had
  // nothing to do for the longest time is closed.
  void limit_connections(size_t mine, size_t of_all_threads) {
    most_ = mine;
    most_of_all_ = of_all_threads;
  }
  // Where requests in the clear are sent that are to come with TLS.
  void redirect_to(uint16_t port) { secure_port_ = port; }
  // Whether a connection of this peer can be taken, which makes room for it. Who is admitted must be accepted.
  bool admits(const Address& peer);
  bool admits_unix() { return make_room(); }
  // Closes the connection that waits for the longest time; false: none does.
  bool evict();

  // A new connection at a listener.
  Client* accept(int fd, const Address& peer, const Arrival& at);

  void happened(Client& client, const Happened& what);
  void happened(Upstream& upstream, const Happened& what);
  void happened(Http2Connection& connection, const Happened& what);
  void happened(SharedUpstream& shared, const Happened& what);
  void happened_at_redis(const Happened& what) { pins_.happened(what); }

  // Works off some of what is to go on by itself; whether there is more.
  bool run_queue();
  // When run_queue has something to do at the latest, though nothing happens; INT64_MAX: never.
  int64_t next_run_us() { return pins_.next_step_us(); }
  // Fires timers that are due.
  void run_timers();
  // Ends a turn: memory of what has ended may be used again.
  void rest();
  void hand_over_log() { log_.hand_over(log_lines_); }

  // Requests that were held are looked at again.
  void release_held();
  // A revision drains, or an order to do so was given: its WebSockets are closed, and what is over its time is cut.
  void drain();
  // No new requests: idle clients are closed, the others with their next answer; WebSockets get 1012.
  void begin_stop();
  // The same where another worker has taken its place: who is connected may ask once more, and is told to go with the
  // answer; WebSockets go on. begin_stop() ends that.
  void begin_retire();
  // Where it finds what certificate authorities are answered; it must outlive this.
  void prove_by(const ChallengeBoard* board) { challenges_ = board; }
  void cut_all();

  // Connections of clients.
  size_t clients() const { return clients_.taken() - streams_ + connections_.taken(); }
  size_t exchanges() const { return exchanges_.taken(); }
  size_t buffers_taken() const { return buffers_.taken(); }
  size_t held() const { return held_.size(); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  const std::vector<std::unique_ptr<RevisionPool>>& pools() const { return pools_; }
  const Http2Counts& http2_counts() const { return http2_counts_; }
  const PinCounts& pin_counts() const { return pins_.counts(); }

 private:
  friend class Http2Streams;
  friend class UpstreamStreams;

  // proxy_client.cc
  void progress(Client& client);
  void read(Client& client);
  void settle_tls(Client& client);
  void begin_client(Client& client);
  void introduce(Client& client, const Address& peer);
  bool read_introduction(Client& client);
  void turn_away(Client& client, const char* why);
  bool take_input(Client& client, std::string_view& bytes);
  size_t consume(Client& client, std::string_view bytes);
  bool flush(Client& client);
  bool write(Client& client, std::string_view first, std::string_view second);
  void wait_for_head(Client& client);
  void client_ended(Client& client);
  void close(Client& client);
  void forget(Client& client);
  void close_after_writing(Client& client);
  void become_idle(Client& client);
  void linger(Client& client);
  void fire(Client& client);
  void wake(Endpoint& endpoint);
  static void note_read(Endpoint& endpoint, ssize_t size, const Secured* tls);
  bool is_trusted(Peer& peer);
  bool enter(const IpBytes& ip);
  bool make_room();
  void add_spare(Endpoint& endpoint);
  void remove_spare(Endpoint& endpoint);
  const Table* table() const { return table_.load(std::memory_order_acquire); }
  std::string_view environment() const {
    return table() != nullptr ? std::string_view(table()->settings->environment) : "";
  }

  // proxy_http2.cc
  Parsed speaks_http2(const Client& client, std::string_view bytes) const;
  void become_http2(Client& client, std::string_view bytes);
  void progress(Http2Connection& connection);
  void receive(Http2Connection& connection, std::string_view bytes);
  void pump(Http2Connection& connection);
  void end_streams(Http2Connection& connection);
  void close(Http2Connection& connection);
  void fire(Http2Connection& connection);
  void wait_for_streams(Http2Connection& connection);
  void begin_stop(Http2Connection& connection);
  void progress_stream(Client& client);
  std::string_view next_body(Exchange& exchange, std::string_view content, bool last);
  static void add_trailers(std::string_view lines, std::string& into);
  void forward_stream_body(Exchange& exchange);
  void credit(Client& client);
  void put_answer(Client& client, const ResponseHead& head, const Answering& answering, bool has_body);
  void put_own_answer(Client& client, std::string_view text);
  void put_content(Client& client, std::string_view content);
  void end_stream(Client& client);
  void leave_connection(Client& client);

  // proxy_request.cc
  size_t begin(Client& client, std::string_view bytes);
  bool take_body(Exchange& exchange, std::string_view rest, size_t& taken);
  void prepare(Exchange& exchange, Client& client, const Dispatched& done);
  void route(Exchange& exchange, const Dispatched& done);
  void send(Exchange& exchange);
  void write_request(Exchange& exchange);
  void await(Exchange& exchange);
  bool flush_request(Exchange& exchange);
  size_t forward_body(Exchange& exchange, std::string_view bytes);
  bool request_waits(const Exchange& exchange) const;
  void begin_trace(Exchange& exchange, std::string_view given, char* span);
  void write_new_trace(char* trace);

  // proxy_pools.cc
  RevisionPool& pool_of(const Deployment& deployment, const Revision& revision);
  void renew_pool(uint32_t number, const Table& table);
  Upstream* take_kept(const Exchange& exchange, Replica& replica);
  Upstream* connect(Replica& replica, bool& no_file);
  int connect_to(const Replica& replica, Endpoint& endpoint, bool& at_once);
  void detach(Exchange& exchange, bool reuse);
  void make_idle(Upstream& upstream);
  void close_idle(Replica& replica);
  void spoke_unasked(Upstream& upstream);
  void close(Upstream& upstream);

  // proxy_shared.cc
  Upstream* open_stream(Replica& replica, bool& no_file);
  ssize_t read_from(Upstream& upstream);
  ssize_t write_to(Upstream& upstream, std::string_view bytes);
  static void put_stream_body(UpstreamStream& stream, std::string_view bytes);
  void leave_shared(Upstream& upstream);
  SharedUpstream* connect_shared(Replica& replica, bool& no_file);
  void progress(SharedUpstream& shared);
  void pump(SharedUpstream& shared);
  void close(SharedUpstream& shared, bool unbelieved = false);
  void fire(SharedUpstream& shared);
  void close_shared(Replica& replica);

  // proxy_pins.cc
  void ask_pins(Client& client, const Dispatched& done);
  void share_pin(const Client& client, const Dispatched& done);
  void take_pins();
  void take_pin(const PinAnswer& answer);

  // proxy_upstream.cc
  void progress(Upstream& upstream);
  void read(Upstream& upstream);
  void upstream_ended(Upstream& upstream, bool broken);
  size_t take_response(Exchange& exchange, std::string_view bytes);
  size_t begin_response(Exchange& exchange, std::string_view bytes);
  void relay_interim(Exchange& exchange);
  size_t forward_response(Exchange& exchange, std::string_view head, std::string_view bytes);
  size_t forward_unchunked(Exchange& exchange, std::string_view head, std::string_view bytes);
  void finish_response(Exchange& exchange, bool leftover);
  void fail(Exchange& exchange, UpstreamFault fault);
  void fire(Upstream& upstream);

  // proxy_answers.cc
  void refuse(Client& client, uint16_t status, const char* why);
  // Of which deployment, if no revision of it was chosen, is for the log and, if it is paused, for its page.
  void answer(Exchange& exchange, uint16_t status, const char* why, const Deployment* of = nullptr);
  // Whether it was a certificate authority's question, and is answered.
  bool answer_challenge(Exchange& exchange, std::string_view target);
  bool write_own(Client& client);
  static void note_grpc_status(Exchange& exchange, const ResponseHead& head);
  std::string secure_url() const;
  void finish(Exchange& exchange, const Deployment* of = nullptr);
  void count(Exchange& exchange);
  void log(Exchange& exchange, const Deployment* of);
  void write_line(const LoggedRequest& request);
  bool is_sampled();
  bool is_refusal_logged();

  // proxy_tunnel.cc
  void begin_tunnel(Exchange& exchange, std::string_view head, std::string_view rest);
  size_t tunnel_from_client(Exchange& exchange, std::string_view bytes);
  void tunnel_from_upstream(Exchange& exchange, std::string_view bytes);
  void tunnel_flushed(Exchange& exchange);
  void close_websocket(Exchange& exchange);
  bool put_close_frames(Exchange& exchange);
  void end_tunnel(Exchange& exchange);
  void write_upstream(Exchange& exchange, std::string_view bytes);

  Wire& wire_;
  Counters& counters_;
  size_t lane_;
  LogExchange& log_;
  Now now_;
  Timers timers_;
  std::atomic<const Table*> table_ = nullptr;
  std::atomic<const Table*> caught_up_ = nullptr;
  bool stopping_ = false;
  const ChallengeBoard* challenges_ = nullptr;
  bool retiring_ = false;   // stopping, but with patience
  bool draining_ = false;   // some revision is, and may still have something under way
  int64_t drained_ms_ = 0;  // when that was last looked at

  Buffers buffers_;
  Slab<Client> clients_;
  Slab<Upstream> upstreams_;
  Slab<Exchange> exchanges_;
  SessionPages session_pages_;
  Slab<Http2Connection> connections_;
  Slab<SharedUpstream> shared_;
  size_t upstream_streams_ = 0;  // of the upstreams
  size_t streams_ = 0;           // of the clients
  Http2Connection* all_connections_ = nullptr;
  Http2Counts http2_counts_;
  Client* all_clients_ = nullptr;
  Endpoint* oldest_spare_ = nullptr;  // of those that have nothing to do
  Endpoint* newest_spare_ = nullptr;
  uint16_t secure_port_ = 443;
  size_t most_ = SIZE_MAX;
  size_t most_of_all_ = SIZE_MAX;
  AddressCounts& addresses_;
  std::vector<std::unique_ptr<RevisionPool>> pools_;  // by the revisions' numbers; many are nothing
  std::vector<Endpoint*> queue_;
  size_t worked_off_ = 0;  // of it
  size_t until_rest_ = 0;  // so many of it were there when memory was last given free
  std::vector<Client*> held_;
  Dispatcher dispatcher_;
  RedisPins pins_;
  RequestHead request_head_;
  ResponseHead response_head_;
  std::unique_ptr<char[]> input_;   // what was just read
  std::unique_ptr<char[]> output_;  // a head that is about to be written
  std::string text_;                // the router's own answers
  std::string body_;                // a chunk of a stream's body
  std::string log_lines_;
  uint64_t trace_state_;
  uint32_t sample_ = 0;
  int64_t refusals_second_ = 0;
  int refusals_logged_ = 0;  // in that second, though they were not sampled
  std::atomic<uint64_t> refused_ = 0;
};

inline constexpr size_t kReadBytes = 32'768;
inline constexpr uint8_t kMaxAttempts = 3;

}  // namespace sluice::router
