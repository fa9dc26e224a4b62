// Probe asks one replica whether it is healthy, without waiting: its owner polls. One question at a time.
//
//   probe.begin();
//   … poll probe.fd() for probe.events() until probe.deadline_ns(); on either probe.look(now) …
//   if (auto answer = probe.answer()) …
//
// By command, the owner runs the command and says how it ended; the probe only keeps the time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process/system.h"
#include "process/workload.h"

namespace sluice::process {

struct Answer {
  bool healthy = false;
  std::string message;  // why not: "answered 503", "refuses connections"
  int64_t latency_us = 0;
};

class Probe {
 public:
  // Without a port it asks through the socket at this path.
  Probe(HealthCheck check, std::optional<uint16_t> port, std::string socket);

  void begin(int64_t now_ns);
  bool open() const { return open_; }
  int fd() const { return connection_.fd(); }
  short events() const;
  int64_t deadline_ns() const { return deadline_ns_; }
  // Goes on as far as it can.
  void look(int64_t now_ns);
  void command_ended(bool healthy, const std::string& message, int64_t now_ns);
  // The answer, once.
  std::optional<Answer> answer();
  void cancel();

 private:
  void end(bool healthy, std::string message, int64_t now_ns);
  void connected(int64_t now_ns);
  void read_status(int64_t now_ns);

  HealthCheck check_;
  std::optional<uint16_t> port_;
  std::string socket_;
  bool open_ = false;
  bool asked_ = false;  // the request is sent
  Descriptor connection_;
  std::string heard_;
  int64_t begun_ns_ = 0;
  int64_t deadline_ns_ = 0;
  std::optional<Answer> answer_;
};

// Asks them all, none of which goes by command, and waits for their answers, which come in the same order.
std::vector<Answer> ask_all(std::span<Probe> probes);

}  // namespace sluice::process
