// Headers of both versions, whole, in pieces and spoilt.
#include "router/proxy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace proxy_header_test {

std::string binary(uint8_t command, uint8_t family, const std::string& rest) {
  std::string text("\r\n\r\n\0\r\nQUIT\n", 12);
  text += static_cast<char>(command);
  text += static_cast<char>(family);
  text += static_cast<char>(rest.size() >> 8);
  text += static_cast<char>(rest.size() & 255);
  return text + rest;
}

const std::string kV4("\xc0\0\2\7\x0a\0\0\1\x9c\x40\x01\xbb", 12);  // 192.0.2.7:40000 to 10.0.0.1:443

void expect_whole(const std::string& header, const std::string& from, uint16_t port) {
  ProxyHeader read;
  const std::string more = header + "GET / HTTP/1.1\r\n";
  ASSERT_EQ(parse_proxy_header(more, read), Parsed::complete) << read.fault;
  EXPECT_EQ(read.size, header.size());
  EXPECT_EQ(read.has_addresses, !from.empty());
  EXPECT_EQ(read.has_addresses ? to_string(read.from) : "", from);
  EXPECT_EQ(read.to_port, port);
  for (size_t size = 0; size < header.size(); ++size) {
    EXPECT_EQ(parse_proxy_header(header.substr(0, size), read), Parsed::incomplete) << size;
  }
}

TEST(ProxyHeader, ReadsTheLineOfVersion1) {
  expect_whole("PROXY TCP4 192.0.2.7 10.0.0.1 40000 443\r\n", "192.0.2.7:40000", 443);
  expect_whole("PROXY TCP6 2001:db8::7 ::1 40000 443\r\n", "[2001:db8::7]:40000", 443);
  expect_whole("PROXY UNKNOWN\r\n", "", 0);
  expect_whole("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", "", 0);
}

TEST(ProxyHeader, ReadsTheBytesOfVersion2) {
  expect_whole(binary(0x21, 0x11, kV4), "192.0.2.7:40000", 443);
  expect_whole(binary(0x21, 0x11, kV4 + std::string("\x03\0\4abcd", 7)), "192.0.2.7:40000", 443);
  const std::string v6 = std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + "\7" + std::string(15, '\0') +
                         "\1" + std::string("\x9c\x40\x01\xbb", 4);
  expect_whole(binary(0x21, 0x21, v6), "[2001:db8::7]:40000", 443);
  expect_whole(binary(0x20, 0x00, ""), "", 0);     // its own, such as a health check
  expect_whole(binary(0x20, 0x11, kV4), "", 0);    // its own all the same
  expect_whole(binary(0x21, 0x00, "xyz"), "", 0);  // of no kind
  expect_whole(binary(0x21, 0x31, std::string(216, '\0')), "", 0);
}

TEST(ProxyHeader, RefusesWhatIsNone) {
  for (const std::string& bad :
       {std::string("GET / HTTP/1.1\r\n"), std::string("PROXY\r\n"),
        std::string("PROXY TCP4 192.0.2.7 10.0.0.1 40000\r\n"),
        std::string("PROXY TCP4 192.0.2.7 10.0.0.1 40000 443 1\r\n"), std::string("PROXY TCP5 1.1.1.1 1.1.1.2 1 2\r\n"),
        std::string("PROXY TCP4 192.0.2.777 10.0.0.1 1 2\r\n"), std::string("PROXY TCP4 ::1 ::1 1 2\r\n"),
        std::string("PROXY TCP4 1.1.1.1 1.1.1.2 70000 2\r\n"), std::string("PROXY TCP4 1.1.1.1 1.1.1.2 01 2\r\n"),
        std::string("PROXY TCP4  1.1.1.1 1.1.1.2 1 2\r\n"), std::string("proxy unknown\r\n"),
        "PROXY UNKNOWN " + std::string(200, 'x'), binary(0x11, 0x11, kV4), binary(0x22, 0x11, kV4),
        binary(0x21, 0x41, kV4), binary(0x21, 0x11, "short"), binary(0x21, 0x11, std::string(3'000, 'x'))}) {
    ProxyHeader read;
    EXPECT_EQ(parse_proxy_header(bad, read), Parsed::bad) << bad;
    EXPECT_NE(std::string(read.fault), "") << bad;
  }
}

}  // namespace proxy_header_test
}  // namespace sluice::router
