// Moments of the store that other processes read, page by page. Each belongs to a connection and ends with it, so that
// a reader that dies leaves nothing behind: a snapshot that is held keeps the store's log from being used anew.
//
//   auto opened = snapshots.open(peer.connection);          // {"snapshot": 3, "position": 812}
//   auto page = snapshots.read(3, peer.connection, "flows-newest", request);   // {"rows": […], "more": true}
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "http/message.h"
#include "store/store.h"

namespace sluice::api {

namespace json = boost::json;

class Snapshots {
 public:
  static constexpr size_t kMost = 256;

  explicit Snapshots(store::Store& store) : store_(store) {}

  // Fails with `limit` if there are as many as there may be.
  Result<json::value> open(uint64_t connection);
  // One row, or a page of rows: what is asked for is the table's name and its parameters.
  Result<json::value> read(uint64_t snapshot, uint64_t connection, const std::string& table,
                           const http::Request& request);
  void close(uint64_t snapshot, uint64_t connection);
  void close_all(uint64_t connection);

 private:
  struct Held {
    uint64_t connection = 0;
    std::unique_ptr<store::Snapshot> snapshot;
    std::mutex reading;  // a snapshot is used by one thread at a time
  };
  std::shared_ptr<Held> find(uint64_t snapshot, uint64_t connection);

  store::Store& store_;
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<Held>> held_;
};

}  // namespace sluice::api
