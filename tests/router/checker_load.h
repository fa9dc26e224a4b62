// The load of the checker: connections that ask one thing after another and verify every byte of every answer. Nothing
// is ever asked twice, so whatever goes wrong is counted:
//
//   connect           a connection was refused
//   fresh, reused     the connection broke before the first byte of an answer: on its first request, or on a later one
//   cut               it broke inside an answer
//   status            another status than 200
//   length, bytes     a body of another length, or with other bytes
//   framing           an answer that is none
//   timeout           no whole answer within 30 seconds
//   moved             a client with a sticky cookie was answered by another revision than before
//   socket            a WebSocket that ended without a close frame, or echoed something else
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::checker {

struct Load {
  std::string endpoint;
  std::string host = "app.example";
  int connections = 16;
  int sockets = 0;             // WebSockets, beside the connections
  bool reopen_sockets = true;  // those that are closed with a close frame
  double seconds = 0;          // 0: until SIGTERM, or until `requests`
  uint64_t requests = 0;
  int churn = 100;    // requests a connection makes before it is closed by this end; 0: never
  int post_pct = 20;  // how many have a body
  double rate = 0;    // requests a second at most; 0: as many as can be
  bool sticky = false;
  bool may_move = false;
  bool sessions = false;  // each request is of a session of its own, which X-Session names
  std::vector<uint64_t> sizes = {0, 1, 1000, 1000, 1000, 1000, 10000, 100000};
};

struct Counts {
  uint64_t requests = 0;  // that were answered or failed
  uint64_t ok = 0;
  uint64_t failed = 0;
  uint64_t frames = 0;
  uint64_t sockets_opened = 0;
  std::map<std::string, uint64_t> failures;
  std::map<std::string, uint64_t> revisions;         // answers by revision
  std::map<std::string, uint64_t> socket_revisions;  // WebSockets opened by revision
  std::map<int, uint64_t> socket_closes;             // by close code
  std::vector<float> latencies_ms;
};

// Prints the counts as a line of JSON every 100 ms, and at the end with "done": true. Answers the program's exit code:
// 1 if anything failed.
int run(const Load& load);

}  // namespace sluice::checker
