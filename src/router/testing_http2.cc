// Frames go to and fro until nobody has more.
#include "router/testing_http2.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

namespace sluice::router {
namespace {

std::vector<nghttp2_nv> pairs_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<nghttp2_nv> all;
  for (const auto& [name, value] : fields) {
    all.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                   reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                   NGHTTP2_NV_FLAG_NONE});
  }
  return all;
}

}  // namespace

struct TestingHttp2Callbacks {
  static TestingHttp2& of(void* user) { return *static_cast<TestingHttp2*>(user); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* user) {
    TestingAnswer& answer = of(user).answers_[frame->hd.stream_id];
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      if (answer.status != 0) answer.interim.push_back(answer.status);
      answer.status = std::stoi(text);
      answer.fields.clear();
    } else if (frame->headers.cat == NGHTTP2_HCAT_HEADERS && answer.status >= 200 && !answer.body.empty()) {
      answer.trailers[key] = text;
    } else {
      answer.fields[key] = text;
    }
    return 0;
  }

  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* user) {
    of(user).answers_[id].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    ++of(user).goaways;
    of(user).goaway_error = frame->goaway.error_code;
    of(user).goaway_last = frame->goaway.last_stream_id;
    return 0;
  }

  static int closed(nghttp2_session*, int32_t id, uint32_t error, void* user) {
    of(user).answers_[id].over = true;
    of(user).answers_[id].error = error;
    return 0;
  }

  static ssize_t fill(nghttp2_session* session, int32_t id, uint8_t* into, size_t room, uint32_t* flags,
                      nghttp2_data_source*, void* user) {
    TestingHttp2::Body& body = of(user).bodies_[id];
    const size_t size = std::min(room, body.bytes.size());
    std::memcpy(into, body.bytes.data(), size);
    body.bytes.erase(0, size);
    if (body.bytes.empty() && body.ends) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!body.trailers.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        auto pairs = pairs_of(body.trailers);
        nghttp2_submit_trailer(session, id, pairs.data(), pairs.size());
      }
    } else if (size == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(size);
  }
};

TestingHttp2::TestingHttp2(TestingProxy& proxy, const Secured* secured) : proxy_(proxy) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, TestingHttp2Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, TestingHttp2Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, TestingHttp2Callbacks::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, TestingHttp2Callbacks::closed);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);  // windows grow by grow() alone
  nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  fd = proxy.connect("192.0.2.7:40000", secured);
  flow();
}

TestingHttp2::~TestingHttp2() { nghttp2_session_del(session_); }

void TestingHttp2::flow() {
  for (bool more = true; more;) {
    more = false;
    std::string bytes;
    const uint8_t* piece = nullptr;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &piece);
      if (size <= 0) break;
      bytes.append(reinterpret_cast<const char*>(piece), static_cast<size_t>(size));
    }
    if (!bytes.empty() && !proxy_.is_closed(fd)) {
      proxy_.send(fd, bytes);
      more = true;
    }
    const std::string came = proxy_.taken(fd);
    if (!came.empty()) {
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(came.data()), came.size());
      more = true;
    }
  }
}

int32_t TestingHttp2::ask(const TestingRequest& request) {
  std::vector<std::pair<std::string, std::string>> fields = {
      {":method", request.method}, {":scheme", "http"}, {":path", request.path}, {":authority", request.authority}};
  fields.insert(fields.end(), request.fields.begin(), request.fields.end());
  auto pairs = pairs_of(fields);
  nghttp2_data_provider provider{.source = {}, .read_callback = TestingHttp2Callbacks::fill};
  const int32_t id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                            request.ends ? nullptr : &provider, nullptr);
  flow();
  return id;
}

void TestingHttp2::send(int32_t id, const std::string& body, bool ends,
                        const std::vector<std::pair<std::string, std::string>>& trailers) {
  Body& left = bodies_[id];
  left.bytes += body;
  left.ends = ends;
  left.trailers = trailers;
  nghttp2_session_resume_data(session_, id);
  flow();
}

void TestingHttp2::reset(int32_t id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  flow();
}

void TestingHttp2::window(int32_t size) {
  const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(size)};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
  flow();
}

void TestingHttp2::grow(int32_t id, int32_t by) {
  nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, id, by);
  flow();
}

const TestingAnswer& TestingHttp2::answer(int32_t id) {
  flow();
  return answers_[id];
}

int32_t TestingHttp2::may_send(int32_t id) {
  flow();
  return nghttp2_session_get_stream_remote_window_size(session_, id);
}

}  // namespace sluice::router
