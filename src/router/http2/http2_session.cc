// nghttp2's callbacks, each as short as it can be.
#include "router/http2/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <string>

#include "router/http2/http2_fields.h"

namespace sluice::router {
namespace {

constexpr size_t kMostFields = kMaxHeaderLines;
// Nobody has such a head who knows what the settings say. Small as it was sent, reading it takes time.
constexpr size_t kBombBytes = 8 * kMaxHeadBytes;

}  // namespace

bool Allowance::take(int64_t now_ms) {
  left_ = std::min<double>(most_, left_ + static_cast<double>(now_ms - at_ms_) * per_second_ / 1'000);
  at_ms_ = now_ms;
  left_ -= 1;
  return left_ >= 0;
}

struct Http2Callbacks {
  static Http2Session& of(void* user) { return *static_cast<Http2Session*>(user); }
  static void* stream(nghttp2_session* session, int32_t id) {
    return nghttp2_session_get_stream_user_data(session, id);
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    of(user).head_ = {.id = frame->hd.stream_id};
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size, const uint8_t* value,
                    size_t value_size, uint8_t, void* user) {
    Http2Session& self = of(user);
    self.take_field(view_of(name, name_size), view_of(value, value_size));
    if (self.head_.bytes <= kBombBytes) return 0;
    self.too_much(false);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  // Bytes that no field can have. Left to itself, nghttp2 would pass over the field.
  static int invalid_header(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t*, size_t,
                            const uint8_t*, size_t, uint8_t, void*) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Session& self = of(user);
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
          self.counts_.streams.fetch_add(1, std::memory_order_relaxed);
          if (!self.begin_request(frame->hd.stream_id, ends)) {
            nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
          }
        } else if (void* found = stream(session, frame->hd.stream_id); found != nullptr && ends) {
          self.events_.end_of_body(found, self.head_.fields);
        }
        break;
      case NGHTTP2_DATA:
        if (void* found = stream(session, frame->hd.stream_id); found != nullptr && ends) {
          self.events_.end_of_body(found, {});
        }
        if (frame->hd.length == 0 && !ends) self.too_much(self.idle_talk_.take(self.now_ms_));
        break;
      case NGHTTP2_RST_STREAM:
        self.count_reset();
        break;
      case NGHTTP2_PING:
      case NGHTTP2_SETTINGS:
        self.too_much(self.idle_talk_.take(self.now_ms_));
        break;
      default:
        break;
    }
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* user) {
    if (void* found = stream(session, id)) {
      of(user).events_.body(found, view_of(bytes, size));
    } else {
      nghttp2_session_consume(session, id, size);  // nobody wants it any more
    }
    return 0;
  }

  // What ends a stream of ours although nobody here wants that: the other end has provoked it.
  static int sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
        frame->rst_stream.error_code != NGHTTP2_INTERNAL_ERROR && frame->rst_stream.error_code != NGHTTP2_CANCEL) {
      of(user).count_reset();
    }
    // What is still to come of a request that has its answer is for nobody.
    const bool ends = (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
                      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (ends && nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int closed(nghttp2_session* session, int32_t id, uint32_t, void* user) {
    if (void* found = stream(session, id)) of(user).events_.over(found);
    return 0;
  }

  static ssize_t fill(nghttp2_session* session, int32_t id, uint8_t* into, size_t room, uint32_t* flags,
                      nghttp2_data_source*, void* user) {
    Http2Session& self = of(user);
    void* found = stream(session, id);
    if (found == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    bool last = false;
    const size_t size = self.events_.fill(found, reinterpret_cast<char*>(into), room, last);
    if (size == 0 && !last) return NGHTTP2_ERR_DEFERRED;
    if (!last) return static_cast<ssize_t>(size);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    const std::string_view lines = self.events_.trailers(found);
    if (lines.empty()) return static_cast<ssize_t>(size);
    Http2Fields fields;
    fields.add_lines(lines);
    const auto& all = fields.all();
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    nghttp2_submit_trailer(session, id, all.data(), all.size());
    return static_cast<ssize_t>(size);
  }
};

Http2Session::Http2Session(Http2Events& events, Http2Counts& counts, SessionPages& pages)
    : events_(events), counts_(counts), memory_(pages) {
  nghttp2_session_callbacks* callbacks = nullptr;
  require_http2(nghttp2_session_callbacks_new(&callbacks), "nghttp2_session_callbacks_new");
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Http2Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Http2Callbacks::header);
  nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, Http2Callbacks::invalid_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Http2Callbacks::frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Http2Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Http2Callbacks::sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Http2Callbacks::closed);
  nghttp2_option* option = nullptr;
  require_http2(nghttp2_option_new(&option), "nghttp2_option_new");
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // Its own limits only where ours do not come first.
  nghttp2_option_set_stream_reset_rate_limit(option, 2'000, 400);
  nghttp2_option_set_max_outbound_ack(option, 10'000);
  nghttp2_option_set_max_send_header_block_length(option, 2 * kMaxHeadBytes);
  const int made = nghttp2_session_server_new3(&session_, callbacks, this, option, memory_.allocator());
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  require_http2(made, "nghttp2_session_server_new3");
  memory_.made();
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes},
                                             {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  require_http2(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)),
                "nghttp2_submit_settings");
  require_http2(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow),
                "nghttp2_session_set_local_window_size");
}

Http2Session::~Http2Session() { nghttp2_session_del(session()); }

bool Http2Session::receive(std::string_view bytes, int64_t now_ms) {
  now_ms_ = now_ms;
  if (ended_) return false;
  const ssize_t taken =
      nghttp2_session_mem_recv(session(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) ended_ = true;  // nghttp2 has a GOAWAY to send, if that makes sense
  return !ended_ && !too_much_;
}

std::string_view Http2Session::send(int64_t now_ms) {
  now_ms_ = now_ms;
  const uint8_t* bytes = nullptr;
  const ssize_t size = nghttp2_session_mem_send(session(), &bytes);
  if (size < 0) ended_ = true;
  return size > 0 ? view_of(bytes, static_cast<size_t>(size)) : std::string_view();
}

bool Http2Session::has_ended() const {
  return ended_ || (nghttp2_session_want_read(session()) == 0 && nghttp2_session_want_write(session()) == 0);
}

void Http2Session::rest() {
  if (ended_ || memory_.rests() || nghttp2_session_want_write(session_) != 0) return;
  head_ = {};
  text_ = {};
  memory_.rest();
}

void Http2Session::take_field(std::string_view name, std::string_view value) {
  head_.bytes += name.size() + value.size() + 4;
  ++head_.lines;
  // The parser refuses a head that is larger than this; more need not be kept.
  if (head_.bytes > 2 * kMaxHeadBytes || head_.lines > 2 * kMostFields) return;
  if (name == ":method") {
    head_.method = value;
  } else if (name == ":path") {
    head_.path = value;
  } else if (name == ":authority") {
    head_.authority = value;
  } else if (name == "host") {
    head_.host = value;
  } else if (name == "cookie") {
    if (!head_.cookie.empty()) head_.cookie += "; ";
    head_.cookie += value;
  } else if (!name.starts_with(':')) {
    head_.has_length = head_.has_length || name == "content-length";
    head_.fields.append(name).append(": ").append(value).append("\r\n");
  }
}

// False: it could be read in two ways.
bool Http2Session::begin_request(int32_t id, bool ends) {
  Head& head = head_;
  if (!head.authority.empty() && !head.host.empty() && head.authority != head.host) return false;
  const std::string& host = head.authority.empty() ? head.host : head.authority;
  text_.clear();
  text_.append(head.method).append(" ").append(head.path.empty() ? head.authority : head.path).append(" HTTP/1.1\r\n");
  text_.append("host: ").append(host).append("\r\n").append(head.fields);
  if (!head.cookie.empty()) text_.append("cookie: ").append(head.cookie).append("\r\n");
  if (!ends && !head.has_length) text_ += "transfer-encoding: chunked\r\n";
  text_ += "\r\n";
  void* stream = events_.request(id, text_, ends);
  if (stream != nullptr) nghttp2_session_set_stream_user_data(session(), id, stream);
  return true;
}

void Http2Session::too_much(bool within) {
  if (within || too_much_) return;
  too_much_ = true;
  nghttp2_session_terminate_session(session(), NGHTTP2_ENHANCE_YOUR_CALM);
}

void Http2Session::count_reset() {
  counts_.resets.fetch_add(1, std::memory_order_relaxed);
  too_much(resets_.take(now_ms_));
}

void Http2Session::interim(int32_t id, const ResponseHead& head) {
  const std::string status = std::to_string(head.status);
  Http2Fields fields;
  fields.add(":status", status);
  for (uint32_t i = 0; i < head.headers.count; ++i) {
    const HeaderLine& line = head.headers.lines[i];
    if (stays_in_answer(head, {}, line)) fields.add(line.name, line.value);
  }
  const auto& all = fields.all();
  nghttp2_submit_headers(session(), NGHTTP2_FLAG_NONE, id, nullptr, all.data(), all.size(), nullptr);
}

void Http2Session::answer(int32_t id, const ResponseHead& head, const Answering& answering, bool has_body) {
  const std::string status = std::to_string(head.status);
  Http2Fields fields;
  fields.add(":status", status);
  for (uint32_t i = 0; i < head.headers.count; ++i) {
    const HeaderLine& line = head.headers.lines[i];
    if (line.field != Field::transfer_encoding && stays_in_answer(head, answering, line))
      fields.add(line.name, line.value);
  }
  if (!answering.set_cookie.empty()) fields.add_line(answering.set_cookie);
  if (!answering.hsts.empty() && !head.headers.has(Field::strict_transport_security)) fields.add_line(answering.hsts);
  if (!answering.revision.empty()) {
    fields.add("x-sluice-deployment", answering.deployment);
    fields.add("x-sluice-revision", answering.revision);
  }
  nghttp2_data_provider provider{.source = {}, .read_callback = Http2Callbacks::fill};
  const auto& all = fields.all();
  nghttp2_submit_response(session(), id, all.data(), all.size(), has_body ? &provider : nullptr);
}

void Http2Session::more(int32_t id) { nghttp2_session_resume_data(session(), id); }

void Http2Session::reset(int32_t id, uint32_t code) {
  nghttp2_session_set_stream_user_data(session(), id, nullptr);
  nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, id, code);
}

void Http2Session::consumed(int32_t id, size_t bytes) { nghttp2_session_consume(session(), id, bytes); }

void Http2Session::given_up(size_t bytes) { nghttp2_session_consume_connection(session(), bytes); }

void Http2Session::warn_of_end() { nghttp2_submit_shutdown_notice(session()); }

void Http2Session::end() {
  nghttp2_submit_goaway(session(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session()),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace sluice::router
