// nghttp2's callbacks, each as short as it can be.
#include "router/http2/http2_client.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>

#include "router/http2/http2_fields.h"
#include "router/http2/http2_session.h"

namespace sluice::router {

std::string_view line_of(std::string_view head, Field field) {
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && field_named(line.substr(0, colon)) == field) {
      return without_blanks(line.substr(colon + 1));
    }
  }
  return {};
}

struct Http2ClientCallbacks {
  static Http2Client& of(void* user) { return *static_cast<Http2Client*>(user); }
  static void* stream(nghttp2_session* session, int32_t id) {
    return nghttp2_session_get_stream_user_data(session, id);
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame*, void* user) {
    of(user).head_ = {};
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size, const uint8_t* value,
                    size_t value_size, uint8_t, void* user) {
    Http2Client::Head& head = of(user).head_;
    const std::string_view field = view_of(name, name_size), text = view_of(value, value_size);
    if (field == ":status") {
      std::from_chars(text.data(), text.data() + text.size(), head.status);
      return 0;
    }
    head.has_length = head.has_length || field == "content-length";
    // The parser refuses a head that is larger than this; more need not be kept.
    if (head.fields.size() < 2 * kMaxHeadBytes) head.fields.append(field).append(": ").append(text).append("\r\n");
    return 0;
  }

  // Bytes that no field can have. Left to itself, nghttp2 would pass over the field.
  static int invalid_header(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t*, size_t,
                            const uint8_t*, size_t, uint8_t, void*) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Client& self = of(user);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    void* found = stream(session, frame->hd.stream_id);
    if (found == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_DATA) {
      if (ends) self.events_.end_of_body(found, {});
    } else if (self.head_.status != 0) {
      self.events_.answer(found, self.head_.status, self.head_.fields, self.head_.has_length, ends);
    } else if (ends) {
      self.events_.end_of_body(found, self.head_.fields);
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

  static int closed(nghttp2_session* session, int32_t id, uint32_t error, void* user) {
    if (void* found = stream(session, id)) of(user).events_.over(found, error == NGHTTP2_REFUSED_STREAM);
    return 0;
  }

  static int not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    if (frame->hd.type == NGHTTP2_HEADERS) of(user).events_.not_sent(frame->hd.stream_id);
    return 0;
  }

  static ssize_t fill(nghttp2_session* session, int32_t id, uint8_t* into, size_t room, uint32_t* flags,
                      nghttp2_data_source*, void* user) {
    Http2Client& self = of(user);
    void* found = stream(session, id);
    if (found == nullptr) return NGHTTP2_ERR_DEFERRED;  // it is about to be reset
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

Http2Client::Http2Client(Http2ClientEvents& events) : events_(events) {
  nghttp2_session_callbacks* callbacks = nullptr;
  require_http2(nghttp2_session_callbacks_new(&callbacks), "nghttp2_session_callbacks_new");
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Http2ClientCallbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Http2ClientCallbacks::header);
  nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, Http2ClientCallbacks::invalid_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Http2ClientCallbacks::frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Http2ClientCallbacks::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Http2ClientCallbacks::closed);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, Http2ClientCallbacks::not_sent);
  nghttp2_option* option = nullptr;
  require_http2(nghttp2_option_new(&option), "nghttp2_option_new");
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_max_send_header_block_length(option, 2 * kMaxHeadBytes);
  const int made = nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  require_http2(made, "nghttp2_session_client_new2");
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes}};
  require_http2(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)),
                "nghttp2_submit_settings");
  require_http2(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow),
                "nghttp2_session_set_local_window_size");
}

Http2Client::~Http2Client() { nghttp2_session_del(session_); }

bool Http2Client::receive(std::string_view bytes) {
  if (ended_) return false;
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) ended_ = true;
  return !ended_;
}

std::string_view Http2Client::send() {
  const uint8_t* bytes = nullptr;
  const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
  if (size < 0) ended_ = true;
  return size > 0 ? view_of(bytes, static_cast<size_t>(size)) : std::string_view();
}

bool Http2Client::has_ended() const {
  return ended_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

bool Http2Client::takes(uint32_t under_way) const {
  if (ended_ || nghttp2_session_check_request_allowed(session_) == 0) return false;
  const uint32_t most = nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return under_way < std::clamp<uint32_t>(most, 1, kMostUpstreamStreams);
}

int32_t Http2Client::ask(std::string_view head, bool has_body, void* stream) {
  std::string_view first = head.substr(0, head.find("\r\n"));
  head.remove_prefix(std::min(first.size() + 2, head.size()));
  const std::string_view method = first.substr(0, first.find(' '));
  first.remove_prefix(std::min(method.size() + 1, first.size()));
  Http2Fields fields;
  fields.add(":method", method);
  fields.add(":scheme", "http");
  fields.add(":path", first.substr(0, first.find(' ')));
  const std::string_view authority = line_of(head, Field::host);
  if (!authority.empty()) fields.add(":authority", authority);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    switch (field_named(line.substr(0, line.find(':')))) {
      case Field::host:
      case Field::connection:
      case Field::transfer_encoding:
      case Field::upgrade:
      case Field::hop_by_hop:
        break;
      default:
        fields.add_line(line);
    }
  }
  fields.add("te", "trailers");  // the router passes them on
  nghttp2_data_provider provider{.source = {}, .read_callback = Http2ClientCallbacks::fill};
  const auto& all = fields.all();
  return nghttp2_submit_request(session_, nullptr, all.data(), all.size(), has_body ? &provider : nullptr, stream);
}

void Http2Client::more(int32_t id) { nghttp2_session_resume_data(session_, id); }

void Http2Client::let_go(int32_t id) { nghttp2_session_set_stream_user_data(session_, id, nullptr); }

void Http2Client::reset(int32_t id) {
  let_go(id);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void Http2Client::consumed(int32_t id, size_t bytes) { nghttp2_session_consume(session_, id, bytes); }

void Http2Client::given_up(size_t bytes) { nghttp2_session_consume_connection(session_, bytes); }

}  // namespace sluice::router
