// none → pausing → resolving → connecting → greeting → up, and from everywhere back to pausing. The greeting (AUTH,
// SELECT, PING) is written as soon as there is a connection to write to, and what is asked meanwhile behind it, so the
// first requests of a router find out what is known of them.
#include "router/pins/redis_link.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "router/name_lookup.h"

namespace sluice::router {
namespace {

constexpr int64_t kFirstPause_us = 100'000;
constexpr int64_t kLongestPause_us = 5'000'000;
constexpr int64_t kSilence_us = 1'000'000;       // with something to say
constexpr int64_t kNameSilence_us = 30'000'000;  // of the system's resolver
constexpr size_t kMaxAwaited = 4'096;
constexpr size_t kMaxReplyBytes = 1 << 20;
constexpr size_t kRedisReadBytes = 16'384;
constexpr int kMaxElements = 65'536;

const redisReplyObjectFunctions& usual_functions() {
  static const redisReplyObjectFunctions kFunctions = [] {
    redisReader* reader = redisReaderCreate();
    redisReplyObjectFunctions functions = *reader->fn;
    redisReaderFree(reader);
    return functions;
  }();
  return kFunctions;
}

// hiredis would make room for as many elements as a reply says that it has.
void* create_bounded_array(const redisReadTask* task, int elements) {
  if (elements < 0 || elements > kMaxElements) return nullptr;
  return usual_functions().createArray(task, elements);
}

}  // namespace

RedisLink::RedisLink(Wire& wire) : wire_(wire), functions_(usual_functions()), pause_us_(kFirstPause_us) {
  functions_.createArray = create_bounded_array;
  endpoint_.kind = Endpoint::Kind::redis;
}

RedisLink::~RedisLink() { close(); }

bool RedisLink::use(std::optional<RedisPlace> place) {
  if (place == place_) return false;
  close();
  place_ = std::move(place);
  state_ = place_ ? State::pausing : State::none;
  first_ = place_.has_value();
  retry_us_ = 0;
  pause_us_ = kFirstPause_us;
  trouble_ = "";
  return true;
}

void RedisLink::close() {
  if (endpoint_.fd >= 0) wire_.close(endpoint_.fd);
  endpoint_.fd = -1;
  address_ = {};
  reader_.reset();
  out_.clear();
  for (Awaited awaited : awaited_) {
    if (awaited == Awaited::reply) replies_.emplace_back();
  }
  awaited_.clear();
}

void RedisLink::lose(const char* why) {
  if (!place_) return;
  close();
  state_ = State::pausing;
  first_ = false;
  trouble_ = why;
  retry_us_ = now_us_ + pause_us_;
  pause_us_ = std::min(pause_us_ * 2, kLongestPause_us);
}

void RedisLink::found_well() { pause_us_ = kFirstPause_us; }

// ------------------------------------------------------------------------------------------------------------ connect

void RedisLink::step() {
  switch (state_) {
    case State::none:
      return;
    case State::pausing:
      if (now_us_ >= retry_us_) begin();
      break;
    case State::resolving:
      if (now_us_ - since_us_ > kNameSilence_us) lose("its name is not found");
      break;
    case State::connecting:
    case State::greeting:
      if (now_us_ - since_us_ > kSilence_us) lose("it does not answer");
      break;
    case State::up:
      if (!awaited_.empty() && now_us_ - since_us_ > kSilence_us) lose("it does not answer");
      break;
  }
  if (state_ == State::resolving && address_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    auto address = address_.get();
    if (address) {
      connect(*address);
    } else {
      lose("its name is not found");
    }
  }
}

void RedisLink::begin() {
  // What waits since the place is used goes behind the greeting.
  std::string before = std::exchange(out_, {});
  std::deque<Awaited> awaited_before = std::exchange(awaited_, {});
  greet();
  out_ += before;
  awaited_.insert(awaited_.end(), awaited_before.begin(), awaited_before.end());
  since_us_ = now_us_;
  state_ = State::resolving;
  if (place_->host.empty()) {
    auto address = parse_address("unix:" + place_->path);
    if (address) {
      connect(*address);
    } else {
      lose("its path is none");
    }
  } else {
    address_ = look_up_name(place_->host, place_->port);
  }
}

void RedisLink::connect(const Address& address) {
  bool at_once = false;
  state_ = State::connecting;
  since_us_ = now_us_;
  endpoint_.readable = false;
  endpoint_.writable = false;
  endpoint_.fd = wire_.connect(address, endpoint_, at_once);
  if (endpoint_.fd < 0) {
    lose("it cannot be reached");
    return;
  }
  reader_.reset(redisReaderCreateWithFunctions(&functions_));
  unread_ = 0;
  if (at_once) {
    state_ = State::greeting;
    endpoint_.writable = true;
  }
}

void RedisLink::greet() {
  if (!place_->password.empty() && !place_->user.empty()) {
    append(std::initializer_list<std::string_view>{"AUTH", place_->user, place_->password}, Awaited::auth);
  } else if (!place_->password.empty()) {
    append(std::initializer_list<std::string_view>{"AUTH", place_->password}, Awaited::auth);
  }
  if (place_->db != 0) {
    std::string db = std::to_string(place_->db);
    append(std::initializer_list<std::string_view>{"SELECT", db}, Awaited::select);
  }
  append(std::initializer_list<std::string_view>{"PING"}, Awaited::ping);
}

// In our own words: what it says itself may repeat the password.
void RedisLink::greeted(Awaited awaited, const redisReply& reply) {
  if (reply.type != REDIS_REPLY_STATUS) {
    std::string_view said = reply.type == REDIS_REPLY_ERROR ? std::string_view(reply.str, reply.len) : "";
    if (awaited == Awaited::auth) {
      lose("it refuses the password");
    } else if (said.starts_with("NOAUTH")) {
      lose("it wants a password");
    } else {
      lose(awaited == Awaited::select ? "it has no such database" : "it is not ready");
    }
    return;
  }
  if (awaited == Awaited::ping) state_ = State::up;
}

// ----------------------------------------------------------------------------------------------------------- commands

void RedisLink::append(std::span<const std::string_view> words, Awaited awaited) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* text = nullptr;
  int size = redisFormatCommandArgv(&text, static_cast<int>(words.size()), texts.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  out_.append(text, static_cast<size_t>(size));
  redisFreeCommand(text);
  if (awaited_.empty()) since_us_ = now_us_;
  awaited_.push_back(awaited);
}

bool RedisLink::command(std::span<const std::string_view> words) {
  if (!takes_commands() || awaited_.size() >= kMaxAwaited) return false;
  append(words, Awaited::reply);
  return true;
}

void RedisLink::flush() {
  while (endpoint_.fd >= 0 && endpoint_.writable && state_ != State::connecting && !out_.empty()) {
    iovec part{out_.data(), out_.size()};
    ssize_t size = wire_.write(endpoint_.fd, &part, 1);
    if (size == kBroken) {
      lose("it has closed the connection");
      return;
    }
    if (size == kWouldBlock || static_cast<size_t>(size) < out_.size()) endpoint_.writable = false;
    if (size > 0) out_.erase(0, static_cast<size_t>(size));
  }
}

void RedisLink::happened(const Happened& what) {
  if (endpoint_.fd < 0) return;
  endpoint_.readable = endpoint_.readable || what.readable || what.broken;
  endpoint_.writable = endpoint_.writable || what.writable;
  if (state_ == State::connecting) {
    if (!what.writable && !what.broken) return;
    if (wire_.has_connected(endpoint_.fd) != Connected::yes) {
      lose("it cannot be reached");
      return;
    }
    state_ = State::greeting;
  }
  read();
  flush();
}

void RedisLink::read() {
  char bytes[kRedisReadBytes];
  while (endpoint_.fd >= 0 && endpoint_.readable) {
    ssize_t size = wire_.read(endpoint_.fd, bytes, sizeof bytes);
    if (size == kWouldBlock) {
      endpoint_.readable = false;
      return;
    }
    if (size <= 0) {
      lose("it has closed the connection");
      return;
    }
    unread_ += static_cast<size_t>(size);
    redisReaderFeed(reader_.get(), bytes, static_cast<size_t>(size));
    take_replies();
  }
}

void RedisLink::take_replies() {
  while (endpoint_.fd >= 0) {
    void* taken = nullptr;
    if (redisReaderGetReply(reader_.get(), &taken) != REDIS_OK) {
      lose("what it sends is no reply");
      return;
    }
    if (taken == nullptr) {
      if (unread_ > kMaxReplyBytes) lose("what it sends is no reply");
      return;
    }
    RedisReply reply(static_cast<redisReply*>(taken));
    unread_ = 0;
    if (awaited_.empty()) {
      lose("it replies without being asked");
      return;
    }
    Awaited awaited = awaited_.front();
    awaited_.pop_front();
    since_us_ = now_us_;
    if (awaited == Awaited::reply) {
      replies_.push_back(std::move(reply));
    } else {
      greeted(awaited, *reply);
    }
  }
}

}  // namespace sluice::router
