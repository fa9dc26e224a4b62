// Answers of a certificate authority, in the order in which they come, between lines of "--": status and fields, an
// empty line, and the body. Whatever they say, an attempt ends, asks only over TLS, writes only into its own folder,
// shows only what can be shown, and takes back what it has shown. covers: src/acme/authority.cc src/acme/order.cc
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "acme/order.h"
#include "base/testing_volatile_disk.h"

namespace {

using namespace sluice;

constexpr int kMostRequests = 20'000;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view until(std::string_view& rest, std::string_view end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(std::min(at + end.size(), rest.size()));
  return piece;
}

http::OutgoingAnswer answer_in(std::string_view text) {
  std::string_view head = until(text, "\n\n");
  http::OutgoingAnswer answer{.status = std::atoi(std::string(until(head, "\n")).c_str()), .body = std::string(text)};
  while (!head.empty()) {
    std::string_view line = until(head, "\n");
    const std::string_view name = until(line, ": ");
    answer.headers.push_back({std::string(name), std::string(line)});
  }
  return answer;
}

bool can_be_shown(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  int asked = 0;
  const acme::Send send = [&](const http::OutgoingRequest& request) -> Result<http::OutgoingAnswer> {
    require(++asked < kMostRequests);
    require(request.url.starts_with("https://") || request.method == "HEAD");
    if (input.empty()) return Error{.code = Code::unavailable, .message = "nobody is there any more"};
    return answer_in(until(input, "\n--\n"));
  };
  VolatileDisk disk;
  ManualClock clock;
  require(disk.make_folder("/home", 0700).has_value());
  const acme::Wish wish{.directory = "https://ca.example/directory", .names = {"a.example", "b.example"}};
  const acme::Place place{.disk = disk, .clock = clock, .folder = "/home/acme", .id = "a"};
  int shown = 0;
  const acme::Hooks hooks{.show = [&](const std::vector<acme::Challenge>& challenges) -> Result<void> {
                            ++shown;
                            for (const acme::Challenge& each : challenges) {
                              require(!each.token.empty() && each.token.find_first_of("/.\\") == std::string::npos);
                              require(each.key_authorization.starts_with(each.token + "."));
                              require(std::ranges::find(wish.names, each.name) != wish.names.end());
                            }
                            return {};
                          },
                          .hide = [&](const std::vector<acme::Challenge>&) { --shown; }};
  acme::Authority authority(wish, place, send);
  auto attempt = [&]() -> Result<acme::Issued> {
    if (auto opened = authority.open(); !opened) return opened.error();
    if (auto known = authority.log_in(); !known) return known.error();
    return acme::fulfil_order(wish, place, authority, hooks);
  };
  auto issued = attempt();
  require(shown == 0);
  require(issued ? !issued->chain_pem.empty() : can_be_shown(issued.error().message));
  require(disk.list("/")->size() == 1 && disk.list("/home")->size() <= 1);
  return 0;
}
