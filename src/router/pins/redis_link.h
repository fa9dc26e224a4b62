// A thread's connection to a Redis, on the thread's wire. It is made by itself, and made again when it is lost, after
// pauses that grow until somebody says that it is well. Every command that it takes is answered exactly once, in their
// order; by nothing if the connection was lost first. Nothing waits, and nothing calls back: what has been answered is
// fetched.
//
// Of hiredis it uses what writes commands and reads replies, not its connections: those end the process when a reply
// comes that nobody asked for.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <deque>
#include <future>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/address.h"
#include "router/pins/redis_url.h"
#include "router/proxy/connection.h"
#include "router/proxy/wire.h"

namespace sluice::router {

struct FreeRedisReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

class RedisLink {
 public:
  explicit RedisLink(Wire& wire);
  ~RedisLink();
  RedisLink(const RedisLink&) = delete;
  RedisLink& operator=(const RedisLink&) = delete;

  // Connects to another Redis from now on, or to none. What was asked of the one before is lost. False: it is the same.
  bool use(std::optional<RedisPlace> place);
  bool in_use() const { return place_.has_value(); }

  // Whether it has let us in.
  bool is_up() const { return state_ == State::up; }
  // Whether commands are taken: it is up, or may be in a moment and was never lost so far.
  bool takes_commands() const { return is_up() || (first_ && place_.has_value()); }
  // None, until it is up.
  void take_none_until_up() { first_ = false; }
  // Written with the next flush. False: it was not taken, and there will be no reply.
  bool command(std::span<const std::string_view> words);
  bool command(std::initializer_list<std::string_view> words) { return command({words.begin(), words.size()}); }

  void set_time(int64_t now_us) { now_us_ = now_us; }
  void happened(const Happened& what);
  // Connects if it is time to, and gives up what takes too long.
  void step();
  void flush();

  // What has been answered since it was last emptied; it is the caller's to empty.
  std::vector<RedisReply>& replies() { return replies_; }

  // Gives the connection up, for a reason that is not its own to know.
  void lose(const char* why);
  // It does as it should: the next pause is short again.
  void found_well();
  // Why it was lost last; empty if it never was.
  const char* trouble() const { return trouble_; }

 private:
  enum class State : uint8_t { none, pausing, resolving, connecting, greeting, up };
  enum class Awaited : uint8_t { reply, auth, select, ping };
  struct FreeReader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };

  void begin();
  void connect(const Address& address);
  void append(std::span<const std::string_view> words, Awaited awaited);
  void greet();
  void greeted(Awaited awaited, const redisReply& reply);
  void read();
  void take_replies();
  void close();

  Wire& wire_;
  std::optional<RedisPlace> place_;
  State state_ = State::none;
  bool first_ = false;  // it was not lost since it is used, and may be up in a moment
  Endpoint endpoint_;
  std::future<Result<Address>> address_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  redisReplyObjectFunctions functions_{};
  size_t unread_ = 0;  // bytes since the last whole reply
  std::string out_;
  std::deque<Awaited> awaited_;
  std::vector<RedisReply> replies_;
  int64_t now_us_ = 0;
  int64_t since_us_ = 0;  // that something is waited for without a sign
  int64_t retry_us_ = 0;
  int64_t pause_us_ = 0;
  const char* trouble_ = "";
};

}  // namespace sluice::router
