// LinkAgent is the router's end of the link: a process beside a router whose control plane is on another machine, which
// the router's master keeps running. It has one connection, outwards, to the replica that leads; what comes over it
// goes to the router's control socket, so that the router obeys as it would obey a control plane of its own home. While
// there is none the router serves from what it has; the agent tries each replica in turn.
//
//   sluice router-link HOME
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "host/home.h"
#include "host/link/link_frames.h"
#include "host/link/membership.h"
#include "http/held_connection.h"

namespace sluice::host {

// The words of its command line, without the program.
std::vector<std::string> link_process_words(const Home& home);
// If the command line is that of such a process: links the router until a signal ends it, and the exit code.
std::optional<int> serve_as_link(int count, char** words, Disk& disk);

class LinkAgent {
 public:
  // All must outlive it.
  LinkAgent(Disk& disk, const Home& home, RealClock& clock) : disk_(disk), home_(home), clock_(clock) {}

  // Links itself once, at the first URL that takes it, and obeys until the link breaks: why.
  Error serve_once();
  // For how long it has been linked in the last attempt.
  int64_t linked_ms() const { return linked_ms_; }

 private:
  // A connection to the control socket.
  struct Stream {
    int fd = -1;
    std::string in;         // that is not passed on yet
    size_t bytes_left = 0;  // of what goes with the request before
    std::string out;        // to the socket
    bool certificates = false;
    std::string answer;  // of that request, as far as it has come
    bool ended = false;  // the other end asks no more
  };

  Result<void> connect_to_any();
  Result<void> connect_at(const std::string& url, std::string& redirected);
  Error obey();
  Result<void> hear();
  Result<void> obey(LinkFrame frame);
  void take(Stream& stream, std::string_view bytes);
  bool open(uint32_t number);
  void answer(uint32_t number);
  void flush(uint32_t number);
  void close(uint32_t number, bool tell);
  void say(LinkKind kind, uint32_t stream, std::string_view bytes);
  void keep_files_of(const std::string& carried);
  void renew_if_due();
  std::string hello() const;
  std::string control() const { return (home_.root() / "router" / membership_.name / "control.sock").string(); }
  std::string in_words_of_control_plane(const std::string& answer) const;

  Disk& disk_;
  const Home& home_;
  RealClock& clock_;
  Membership membership_;
  std::vector<crypto::PublicKey> trusted_;
  std::unique_ptr<http::HeldConnection> connection_;
  LinkReader reader_;
  std::map<uint32_t, Stream> streams_;
  std::string folder_there_;  // of the certificates, at the control plane
  int64_t heard_ms_ = 0, said_ms_ = 0, renew_at_ms_ = 0, linked_ms_ = 0;
};

}  // namespace sluice::host
