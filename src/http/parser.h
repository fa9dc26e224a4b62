// Reads HTTP/1.1 requests and answers from bytes as they come. What is ambiguous is refused: both or two lengths, bad
// chunks, folded headers, other versions, a missing Host; so is what is beyond the limits.
//
//   RequestParser parser(limits);
//   while (true) {
//     auto complete = parser.take(input);           // takes what it needs from the front of `input`
//     if (!complete) …                              // status() says with which answer it is refused
//     if (*complete) return parser.request();
//     …                                             // more input
//   }
//
// The body of a PUT or PATCH may be larger than memory: it is taken out piece by piece, and counts for no limit.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/message.h"

namespace sluice::http {

struct MessageLimits {
  size_t head_bytes = size_t{16} << 10U;
  size_t body_bytes = size_t{8} << 20U;
};

class RequestParser {
 public:
  explicit RequestParser(const MessageLimits& limits);
  ~RequestParser();

  // True: a request is complete; what follows it stays in `input`. False: more is needed.
  Result<bool> take(std::string& input);
  // After an error: the answer's status, as 400, 413, 431 and 505.
  int status() const { return status_; }
  bool has_head() const;
  // The sender waits for `100 Continue` before it sends the body.
  bool expects_continue() const;
  // Whether the body is to be taken out as it comes.
  bool is_streamed() const;
  // Without its body.
  Result<Request> head();
  // What has come of the body since the last call.
  std::string take_body();
  // The one that is complete; the parser is done with it.
  Result<Request> request();

 private:
  struct State;
  std::unique_ptr<State> state_;
  MessageLimits limits_;
  int status_ = 400;
};

struct Answer {
  int status = 0;
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = false;

  const std::string* header(std::string_view name) const { return find_header(headers, name); }
};

class AnswerParser {
 public:
  explicit AnswerParser(const MessageLimits& limits);
  ~AnswerParser();

  Result<bool> take(std::string& input);
  bool has_begun() const { return begun_; }
  Answer answer();
  // Of one that is not complete: the status, 0 as long as it is not known, and what of the body came since it was last
  // asked for.
  int status() const;
  std::vector<Header> headers() const;  // likewise
  std::string take_body();

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool begun_ = false;
};

}  // namespace sluice::http
