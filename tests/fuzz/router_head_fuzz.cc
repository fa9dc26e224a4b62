// Heads and chunks of HTTP as the router reads them: the same however the bytes are cut, and what is passed on must be
// read again as what it was. covers: src/router/http1/http1_parser.cc src/router/http1/chunk_reader.cc
// src/router/http1/head_writer.cc covers: src/router/http1/fields.cc
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "router/http1/chunk_reader.h"
#include "router/http1/head_writer.h"

namespace {

using namespace sluice::router;

void require(bool holds) {
  if (!holds) std::abort();
}

struct BodyRead {
  std::string content;
  size_t taken = 0;
  bool done = false, bad = false;

  bool operator==(const BodyRead&) const = default;
};

BodyRead read_chunks(std::string_view bytes, size_t at_a_time) {
  ChunkReader reader;
  BodyRead read;
  while (read.taken < bytes.size() && !reader.done() && !reader.bad()) {
    std::string_view content;
    read.taken += reader.take(bytes.substr(read.taken, at_a_time), content);
    read.content += content;
  }
  read.done = reader.done();
  read.bad = reader.bad();
  return read;
}

void check_passed_on(const RequestHead& head) {
  Forwarding forwarding{
      .peer = "192.0.2.1", .port = 80, .trace = "aaaabbbbccccddddaaaabbbbccccdddd", .span = "1111222233334444"};
  Buffers buffers;
  Buffer* out = buffers.take(request_head_room(head, forwarding));
  write_request_head(head, forwarding, *out);
  require(out->end <= out->capacity);
  RequestHead again;
  Parsed parsed = parse_request_head(out->view(), again);
  // Only the lines that were added can make it too large.
  if (parsed == Parsed::complete) {
    require(again.size == out->view().size());
    require(again.method == head.method && again.path == head.path && again.host == head.host);
    require(again.framing.chunked == head.framing.chunked && again.framing.length == head.framing.length);
  } else {
    require(head.headers.count > 90 || head.size > 28'000);
  }
  buffers.give(out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  static RequestHead head, part;
  Parsed whole = parse_request_head(input, head);
  // What is bad stays so, and nothing is complete before its end.
  for (size_t cut : {size / 3, size / 2, size - (size > 0 ? 1 : 0)}) {
    Parsed early = parse_request_head(input.substr(0, cut), part);
    if (early == Parsed::bad) require(whole == Parsed::bad);
    if (early == Parsed::complete) require(whole == Parsed::complete && part.size == head.size);
  }
  whole = parse_request_head(input, head);
  if (whole == Parsed::complete) {
    require(head.size <= size && head.target.size() > 0);
    for (uint32_t i = 0; i < head.headers.count; ++i) {
      require(head.headers.lines[i].value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    }
    check_passed_on(head);
    input.remove_prefix(head.size);
  }
  BodyRead chunks = read_chunks(input, size + 1);
  for (size_t at_a_time : {1, 7}) require(read_chunks(input, at_a_time) == chunks);
  static ResponseHead answer;
  if (parse_response_head({reinterpret_cast<const char*>(bytes), size}, answer) == Parsed::complete) {
    std::string out(response_head_room(answer, {}), '\0');
    out.resize(write_response_head(answer, {}, out.data()));
    static ResponseHead again;
    require(parse_response_head(out, again) == Parsed::complete && again.status == answer.status);
  }
  return 0;
}
