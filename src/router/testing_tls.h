// Certificates in folders as certbot leaves them, and a client that speaks TLS over a socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/testing_folder.h"
#include "router/tls/tls_server.h"

struct ssl_session_st;

namespace sluice::router {

struct TestingCertificate {
  std::vector<std::string> names;
  int64_t until_ms = 0;  // 0: in a day
  int64_t now_ms = 0;    // when it begins to hold; 0: now
};

// Writes FOLDER/NAME/fullchain.pem and privkey.pem.
void write_certificate(const TestingFolder& folder, const std::string& name, const TestingCertificate& certificate);

// What a client saw, which trusts anybody.
struct TestingHandshake {
  bool done = false;
  std::string fault;  // the alert, else empty
  std::string version, protocol, subject_name;
  bool resumed = false;
  std::string echoed;  // what the server has written
  std::shared_ptr<ssl_session_st> session;
};

struct TestingAsk {
  std::string name = {};                    // SNI
  std::vector<std::string> protocols = {};  // ALPN
  std::string to_send = {};
  std::shared_ptr<ssl_session_st> session = {};
  int highest = 0;   // TLS1_2_VERSION …; 0: any
  size_t piece = 0;  // so many bytes at once of what both say; 0: all
};

// A handshake between such a client and a session of the server, over a pair of sockets. What the client sends comes
// back.
TestingHandshake shake_hands(TlsServer& server, const TestingAsk& ask);

}  // namespace sluice::router
