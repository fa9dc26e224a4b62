// The system's resolver can only wait, so it does that where nobody else does.
#include "router/name_lookup.h"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

namespace sluice::router {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* all) const { ::freeaddrinfo(all); }
};

Result<Address> resolve(const std::string& host, uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &all);
  std::unique_ptr<addrinfo, FreeAddresses> found(all);
  if (failed != 0 || !found || found->ai_addrlen > sizeof(sockaddr_storage)) {
    return Error{.code = Code::not_found, .message = std::string("the name leads nowhere: ") + ::gai_strerror(failed)};
  }
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

}  // namespace

std::future<Result<Address>> look_up_name(const std::string& host, uint16_t port) {
  auto promise = std::make_shared<std::promise<Result<Address>>>();
  std::future<Result<Address>> found = promise->get_future();
  std::string literal = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  if (auto address = parse_address(literal + ":" + std::to_string(port))) {
    promise->set_value(*address);
    return found;
  }
  try {
    std::thread([promise, host, port] { promise->set_value(resolve(host, port)); }).detach();
  } catch (const std::system_error& error) {
    promise->set_value(Error{.code = Code::failed, .message = error.what()});
  }
  return found;
}

}  // namespace sluice::router
