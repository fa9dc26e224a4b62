// What `sluice serve` shows to those who connect over TLS: certificates from files, which are read again when they
// change, or one that the home's own authority signs.
//
//   auto shown = Certificates::load(disk, home, clock, {.cert_file = …, .key_file = …});
//   (*shown)->now();                      // for each new connection
//   if (auto said = (*shown)->look()) …   // now and then: what was read again, or why it was not
//
// The authority is made once: keys/tls-ca.pem and keys/tls-ca.key of the home. Clients pin it by its fingerprint, so
// the certificates that it signs, each for 90 days, come and go without them noticing. A file that cannot be read, or
// whose key does not fit, leaves what was shown before.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "host/home.h"
#include "http/tls.h"

namespace sluice::host {

struct CertificateOrders {
  std::string cert_file, key_file;  // both or none
  std::string client_ca_file;       // who signs the certificates of clients; empty: they show none
  bool own = false;                 // signed by the home's own authority
  std::vector<std::string> names;   // of the own one: what clients call this server

  bool any() const { return own || !cert_file.empty(); }
};

class Certificates {
 public:
  // All must outlive it.
  static Result<std::unique_ptr<Certificates>> load(Disk& disk, const Home& home, const Clock& clock,
                                                    CertificateOrders orders);

  std::shared_ptr<const http::ServerTls> now() const;
  // The fingerprint of the home's authority; empty: the certificate comes from a file.
  const std::string& fingerprint() const { return fingerprint_; }
  // Whether something has changed, looked at once a second; `at_once`: read it again in any case. A line for the log.
  std::optional<std::string> look(bool at_once = false);

 private:
  Certificates(Disk& disk, const Home& home, const Clock& clock, CertificateOrders orders)
      : disk_(disk), home_(home), clock_(clock), orders_(std::move(orders)) {}
  Result<void> read_again();
  Result<http::ServerCertificate> from_files();
  Result<http::ServerCertificate> from_authority();
  std::string stamp() const;
  std::string router_authority() const;  // the file of those who sign their certificates

  Disk& disk_;
  const Home& home_;
  const Clock& clock_;
  const CertificateOrders orders_;
  std::string fingerprint_, stamp_;
  int64_t looked_ns_ = 0, renew_ms_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const http::ServerTls> shown_;
};

}  // namespace sluice::host
