// TLS towards replicas: whom the router believes to be one. The replica's certificate must be of its name, or of its
// address where it has none, and signed by an authority that the table gives, or by one of the system's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_ctx_st;

namespace sluice::router {

class TlsSession;

inline constexpr std::string_view kSystemAuthorities = "system";

class UpstreamTls {
 public:
  // `name`: a host or an address that the certificate must be of. `authorities`: PEM, or kSystemAuthorities. With
  // `http2` the replica must speak that. `invalid` if the authorities cannot be read.
  static Result<std::shared_ptr<const UpstreamTls>> make(std::string_view name, std::string_view authorities,
                                                         bool http2);
  ~UpstreamTls();
  UpstreamTls(const UpstreamTls&) = delete;
  UpstreamTls& operator=(const UpstreamTls&) = delete;

  // A session at a socket that is connected; its handshake has not begun.
  std::unique_ptr<TlsSession> connect(int fd) const;
  // The same for all that say the same.
  const std::string& stamp() const { return stamp_; }

 private:
  UpstreamTls() = default;

  std::string name_;
  bool http2_ = false;
  std::string stamp_;
  ssl_ctx_st* context_ = nullptr;
};

}  // namespace sluice::router
