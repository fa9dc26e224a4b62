// The control socket and the admin port, served by the worker's first thread: one loop over both, which waits neither
// for a peer nor for a report. What the requests mean is in docs/internals/router.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/document.h"
#include "base/result.h"
#include "router/adoption.h"
#include "router/report.h"
#include "router/reporter.h"
#include "router/state_files.h"
#include "router/table/table_keeper.h"

namespace sluice::router {

// What the process that is the master from now on gets; nothing if the worker is about to end.
struct HandedOver {
  ServedPlan plan;
  std::vector<int> fds;  // as LeftWorker has them
  int owned = -1;        // one of these that is closed here when it was sent
};
using HandOver = std::function<std::optional<HandedOver>(int master_pid)>;

class Control {
 public:
  // The fds are not its own.
  Control(int control_fd, int admin_fd, TableKeeper& keeper, const StateFiles& state, const Clock& clock,
          std::function<Reported()> reported, HandOver hand_over, std::function<json::object()> certificates = {});
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // Waits for at most so long for something at the sockets or at `also`, and deals with it.
  void turn(int timeout_ms, int also);

 private:
  struct Peer {
    int fd = -1;
    bool admin = false;
    bool ended = false;
    std::string in, out;
    std::vector<int> fds;                     // that go with the first bytes of `out`
    int owned = -1;                           // the one of them that is closed then
    size_t used = 0;                          // of `in`
    std::optional<Result<Document>> request;  // whose bytes are still to come
    size_t bytes = 0;
    bool close_after = false;
    int64_t since_ms = 0;
    uint64_t number = 0;
    bool waits = false;  // for a report; until then it is not read
  };

  void accept(int listener, bool admin);
  void read(Peer& peer);
  void write(Peer& peer);
  void serve_control(Peer& peer);
  void serve_admin(Peer& peer);
  // Has it made elsewhere.
  void report(Peer& peer, std::function<std::string(const Reported&)> make);
  void hand_out_reports();

  // The answer to a request, as its line was read, with its bytes.
  json::object answer(const Result<Document>& read, std::string bytes);
  // The answer to an HTTP request's head; nothing if it is a report.
  std::optional<std::string> answer_http(std::string_view head);

  json::object obey(OrderOp op, const json::object& request, std::string bytes);
  json::object hold(const json::object& request);
  json::object release(const json::object& request);
  json::object drain(const json::object& request);
  json::object adopt(const json::object& request);

  int control_fd_;
  int admin_fd_;
  TableKeeper& keeper_;
  const StateFiles& state_;
  const Clock& clock_;
  std::function<Reported()> reported_;
  HandOver hand_over_;
  std::function<json::object()> certificates_;  // reads them again, and says what is shown
  std::vector<int> handed_over_;                // with the answer that was made last
  int owned_ = -1;
  std::vector<std::unique_ptr<Peer>> peers_;
  uint64_t last_number_ = 0;
  Reporter reporter_;
};

}  // namespace sluice::router
