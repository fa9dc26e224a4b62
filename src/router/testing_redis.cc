// Reads commands with the router's own library, and would not see a fault of that; tests/router asks a real Redis.
#include "router/testing_redis.h"

#include <cassert>

#include "router/pins/redis_link.h"

namespace sluice::router {

std::vector<std::string> redis_commands(std::string_view written) {
  redisReader* reader = redisReaderCreate();
  redisReaderFeed(reader, written.data(), written.size());
  std::vector<std::string> commands;
  for (void* taken = nullptr; redisReaderGetReply(reader, &taken) == REDIS_OK && taken != nullptr; taken = nullptr) {
    RedisReply reply(static_cast<redisReply*>(taken));
    assert(reply->type == REDIS_REPLY_ARRAY);
    std::string words;
    for (size_t i = 0; i < reply->elements; ++i) {
      words += (i > 0 ? " " : "") + std::string(reply->element[i]->str, reply->element[i]->len);
    }
    commands.push_back(std::move(words));
  }
  redisReaderFree(reader);
  return commands;
}

std::string redis_bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

}  // namespace sluice::router
