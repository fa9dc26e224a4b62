// A registry for tests that can be ill: it gives what it was told to have, and asks for a login if it is to. Pushes are
// tested against a real one (tests/oci).
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "oci/manifest.h"
#include "oci/reference.h"

namespace sluice::oci {

class TestingRegistry {
 public:
  TestingRegistry();
  ~TestingRegistry();
  TestingRegistry(const TestingRegistry&) = delete;
  TestingRegistry& operator=(const TestingRegistry&) = delete;

  std::string host() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  Reference reference(const std::string& tag) const {
    return {.host = host(), .repository = "team/shop", .tag = tag, .digest = ""};
  }
  // Its descriptor.
  Descriptor add(const std::string& bytes, std::string_view media_type);
  std::string add_manifest(const std::string& tag, const Manifest& manifest);  // its digest
  void add_bytes(const std::string& name, std::string bytes);                  // of "blobs/…" or "manifests/…"

  // What it is like; changed between requests alone.
  std::string login;       // "user:password" that it wants; empty: none
  std::string realm;       // where tokens are to be had; empty: it wants the login itself
  int ill = 0;             // so many answers are 503
  bool cuts = false;       // a blob is answered with its first half, unless a range is asked for
  std::string moved_to;    // blobs are at this address
  int asked_for_rest = 0;  // so many times a range was asked for
  std::string told;        // what it was last told as Authorization

 private:
  void serve();
  std::string answer(const std::string& head);

  std::mutex mutex_;
  std::map<std::string, std::string> kept_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_{context_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::oci
