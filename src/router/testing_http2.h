// A client of HTTP/2 for a TestingProxy: nghttp2's other half.
//
//   TestingHttp2 client(proxy);
//   int32_t id = client.ask({.path = "/cart"});
//   proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//   client.answer(id).body;
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "router/testing_proxy.h"

struct nghttp2_session;

namespace sluice::router {

struct TestingRequest {
  std::string method = "GET";
  std::string path = "/";
  std::string authority = "shop.example";
  std::vector<std::pair<std::string, std::string>> fields = {};
  bool ends = true;  // without a body
};

struct TestingAnswer {
  int status = 0;
  std::vector<int> interim;
  std::map<std::string, std::string> fields, trailers;
  std::string body;
  bool over = false;
  uint32_t error = 0;  // why it is over; 0: as it should be
};

class TestingHttp2 {
 public:
  explicit TestingHttp2(TestingProxy& proxy, const Secured* secured = nullptr);
  ~TestingHttp2();

  int32_t ask(const TestingRequest& request);
  void send(int32_t id, const std::string& body, bool ends = true,
            const std::vector<std::pair<std::string, std::string>>& trailers = {});
  void reset(int32_t id);
  void window(int32_t size);  // of every stream, from now on
  void grow(int32_t id, int32_t by);
  // Exchanges what there is until both have nothing more to say.
  void flow();
  const TestingAnswer& answer(int32_t id);
  // How much it may still send of a stream's body.
  int32_t may_send(int32_t id);

  int fd = -1;
  int goaways = 0;
  uint32_t goaway_error = 0;
  int32_t goaway_last = 0;

 private:
  friend struct TestingHttp2Callbacks;
  struct Body {
    std::string bytes;
    bool ends = false;
    std::vector<std::pair<std::string, std::string>> trailers;
  };

  TestingProxy& proxy_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, TestingAnswer> answers_;
  std::map<int32_t, Body> bodies_;
};

}  // namespace sluice::router
