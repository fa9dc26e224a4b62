// Session pins that outlive a router and are shared by many, in a Redis: docs/internals/router.md, Pins in Redis. One
// for each thread, with a connection of its own.
//
// A question is answered in time, whatever Redis does: by what it says, or by `unknown`. After a few answers that did
// not come, nobody is asked until it has let us in again. Writing is never waited for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "router/pins/redis_link.h"
#include "router/proxy/wire.h"
#include "router/table/table.h"

namespace sluice::router {

struct Client;

struct PinAnswer {
  PinElsewhere what = PinElsewhere::unknown;
  bool aged = false;  // its time should be written again
  std::string deployment, session;
  std::string revision;      // what was found, or is stale
  std::string own;           // of who asked to compare, the revision that he has pinned
  Client* client = nullptr;  // who waits; nothing: nobody, or he has gone
};

// Written by one thread, read by any.
struct PinCounts {
  std::atomic<uint64_t> lookups = 0, hits = 0, misses = 0, timeouts = 0, failures = 0, writes = 0;
  std::atomic<bool> in_use = false, up = false;
  std::atomic<const char*> trouble = "";
};

class RedisPins {
 public:
  explicit RedisPins(Wire& wire) : link_(wire) {}

  // What a table says; nothing: there is none.
  void use(const TableSettings* settings);

  bool takes_questions() const { return link_.takes_commands(); }
  // Which revision a session is on; the client must be forgotten before it goes.
  void look_up(const Deployment& deployment, std::string_view session, Client& client);
  // A session is on a revision from now on. `replace`: whatever is known; else what is known already counts, and is
  // answered to nobody.
  void put(const Deployment& deployment, std::string_view session, std::string_view revision, bool replace);
  // Asks to compare, on nobody's behalf; who gets the answer writes it again.
  void compare(const Deployment& deployment, std::string_view session, std::string_view own);
  void forget(const Client& client);

  void set_time(int64_t now_us, int64_t wall_s);
  void happened(const Happened& what) { link_.happened(what); }
  // Takes what has come, and gives up what is late. Then answers are there to be taken.
  void step();
  void flush() { link_.flush(); }
  std::vector<PinAnswer>& answers() { return answers_; }
  // When step has something to do at the latest; INT64_MAX: nobody waits.
  int64_t next_step_us();

  const PinCounts& counts() const { return counts_; }

 private:
  // What was sent and not yet answered, in the order of the replies.
  struct Asked {
    enum class Kind : uint8_t { look_up, write, first_write, sweep };
    Kind kind = Kind::write;
    bool over = false;  // of a look-up: it was answered without Redis
    int64_t until_us = 0;
    int64_t ttl_s = 0;
    std::string hash;
    PinAnswer answer;
  };
  // How far the hash of a deployment was looked through for what has run out.
  struct Sweep {
    std::string cursor = "0";
    uint32_t writes = 0;
  };

  std::string hash_of(const Deployment& deployment) const;
  void ask(Asked asked);
  void take(Asked& asked, const redisReply* reply);
  void take_pin(Asked& asked, const redisReply& reply);
  void take_sweep(const Asked& asked, const redisReply& reply);
  void sweep(const std::string& hash, int64_t ttl_s);
  void finish(Asked& asked, PinElsewhere what);
  void failed(std::atomic<uint64_t>& count, const char* why);
  Asked* first_open();
  bool has_run_out(std::string_view value, int64_t ttl_s) const;

  RedisLink link_;
  std::string environment_;
  int64_t now_us_ = 0;
  int64_t wall_s_ = 0;
  std::deque<Asked> asked_;
  size_t open_ = 0;  // look-ups that are not yet answered
  uint32_t failures_in_a_row_ = 0;
  std::map<std::string, Sweep> sweeps_;
  std::vector<PinAnswer> answers_;
  PinCounts counts_;
};

}  // namespace sluice::router
