// What replicas say, as the body of GET /v1/logs: a line of JSON for each of theirs. Whoever follows holds no thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "host/replica_logs.h"
#include "http/message.h"

namespace sluice::api {

class LogFeed final : public http::Feed {
 public:
  // Only lines that contain `search`. It ends when the reader has `left`. The reading is one of the door's.
  LogFeed(std::shared_ptr<host::Door> door, std::unique_ptr<host::LogReading> reading, std::string search,
          std::function<bool()> left)
      : door_(std::move(door)), reading_(std::move(reading)), search_(std::move(search)), left_(std::move(left)) {}

  void begin(std::function<void()> wake) override { wake_ = std::move(wake); }
  bool next(std::string& out) override;
  int64_t look_ms() const override { return 100; }
  bool takes_time() const override { return true; }  // it reads files

 private:
  std::shared_ptr<host::Door> door_;
  std::unique_ptr<host::LogReading> reading_;
  std::string search_;
  std::function<bool()> left_;
  std::function<void()> wake_;
};

}  // namespace sluice::api
