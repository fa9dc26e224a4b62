// Both ends in one thread: each goes on as far as it can in turn.
#include "router/testing_tls.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/real_disk.h"
#include "crypto/x509.h"

namespace sluice::router {

void write_certificate(const TestingFolder& folder, const std::string& name, const TestingCertificate& certificate) {
  const int64_t now_ms = certificate.now_ms != 0 ? certificate.now_ms : RealClock().wall_ms();
  const int64_t until_ms = certificate.until_ms != 0 ? certificate.until_ms : now_ms + 86'400'000;
  auto made =
      crypto::make_certificate({.name = "test", .names = certificate.names, .until_ms = until_ms}, nullptr, now_ms);
  RealDisk disk;
  (void)disk.make_folder(folder.path(name), 0700);
  bool written = write_atomically(disk, folder.path(name + "/fullchain.pem"), made->chain_pem, 0600).has_value();
  written =
      write_atomically(disk, folder.path(name + "/privkey.pem"), std::string(made->key_pem.reveal()), 0600) && written;
  assert(written);
}

TestingHandshake shake_hands(TlsServer& server, const TestingAsk& ask) {
  int sockets[2];
  [[maybe_unused]] int paired = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets);
  assert(paired == 0);
  TestingHandshake seen;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (ask.highest != 0) SSL_CTX_set_max_proto_version(context.get(), ask.highest);
  std::unique_ptr<SSL, decltype(&SSL_free)> client(SSL_new(context.get()), SSL_free);
  SSL_set_fd(client.get(), sockets[0]);
  SSL_set_connect_state(client.get());
  if (!ask.name.empty()) SSL_set_tlsext_host_name(client.get(), ask.name.c_str());
  std::string protocols;
  for (const std::string& each : ask.protocols) protocols += static_cast<char>(each.size()) + each;
  if (!protocols.empty()) {
    SSL_set_alpn_protos(client.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                        static_cast<unsigned>(protocols.size()));
  }
  if (ask.session) SSL_set_session(client.get(), ask.session.get());
  auto session = server.accept(sockets[1]);
  size_t sent = 0;
  std::string echo;
  for (int turn = 0; turn < 10'000; ++turn) {
    ERR_clear_error();
    int result = SSL_do_handshake(client.get());
    if (result != 1 && SSL_get_error(client.get(), result) == SSL_ERROR_SSL) {
      seen.fault = ERR_reason_error_string(ERR_peek_last_error());
      break;
    }
    seen.done = result == 1;
    if (seen.done && sent < ask.to_send.size()) {
      size_t size = ask.to_send.size() - sent;
      if (ask.piece != 0) size = std::min(size, ask.piece);
      if (int written = SSL_write(client.get(), ask.to_send.data() + sent, static_cast<int>(size)); written > 0) {
        sent += static_cast<size_t>(written);
      }
    }
    char bytes[32'768];
    ssize_t got = session->read(bytes, ask.piece != 0 ? ask.piece : sizeof bytes);
    if (got > 0) echo.append(bytes, static_cast<size_t>(got));
    if (!echo.empty()) {
      iovec part{echo.data(), ask.piece != 0 ? std::min(ask.piece, echo.size()) : echo.size()};
      ssize_t written = session->write(&part, 1);
      if (written > 0) echo.erase(0, static_cast<size_t>(written));
    }
    int read = seen.done ? SSL_read(client.get(), bytes, sizeof bytes) : 0;
    if (read > 0) seen.echoed.append(bytes, static_cast<size_t>(read));
    if (seen.done && session->is_established() && seen.echoed.size() == ask.to_send.size()) break;
  }
  if (seen.done) {
    seen.version = SSL_get_version(client.get());
    seen.resumed = SSL_session_reused(client.get()) == 1;
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(client.get(), &protocol, &size);
    seen.protocol.assign(reinterpret_cast<const char*>(protocol), size);
    if (X509* shown = SSL_get0_peer_certificate(client.get())) {
      char* pem = nullptr;
      std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
      PEM_write_bio_X509(bio.get(), shown);
      const long length = BIO_get_mem_data(bio.get(), &pem);
      seen.subject_name = crypto::read_certificates({pem, static_cast<size_t>(length)})->front().names.front();
    }
    seen.session.reset(SSL_get1_session(client.get()), SSL_SESSION_free);
    session->end();
  }
  session.reset();
  SSL_set_shutdown(client.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  client.reset();
  for (int fd : sockets) ::close(fd);
  return seen;
}

}  // namespace sluice::router
