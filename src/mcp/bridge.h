// Bridge carries messages between a client that has started this process, line by line, and POST /mcp of a server: what
// `sluice mcp` is. Each request has a connection of its own, so that several run at once and one can be cancelled.
//
//   Bridge bridge({.connect = …, .say = [&](const std::string& line) { … }});
//   while (std::getline(in, line)) bridge.take(line);
#pragma once

#include <atomic>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/client.h"

namespace sluice::mcp {

namespace json = boost::json;

struct BridgeParts {
  std::function<Result<std::unique_ptr<http::Client>>()> connect;
  std::string token;                            // empty: the socket says who calls
  std::function<void(const std::string&)> say;  // a line for the client; called by several threads, one at a time
};

class Bridge {
 public:
  explicit Bridge(BridgeParts parts) : parts_(std::move(parts)) {}
  // Ends what is under way.
  ~Bridge();

  void take(const std::string& line);
  // Waits until all requests are answered.
  void finish();

 private:
  struct Running {
    std::thread thread;
    std::string id;  // as JSON; empty: of no request
    std::shared_ptr<std::atomic<bool>> stop;
    std::atomic<bool> done = false;
  };
  http::Request post(const json::object& message, const std::string& line) const;
  void send(const json::object& message, const std::string& line, const std::shared_ptr<std::atomic<bool>>& stop);
  void follow(const std::shared_ptr<std::atomic<bool>>& stop);
  void run(const std::string& id, const std::function<void(const std::shared_ptr<std::atomic<bool>>&)>& work);
  void say(const std::string& line);
  void reap(bool all);

  BridgeParts parts_;
  std::string session_;
  std::mutex say_mutex_;
  std::vector<std::unique_ptr<Running>> running_;  // of the thread that takes alone
};

}  // namespace sluice::mcp
