// The router's own pages.
#include "router/http1/own_answers.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace own_answers_test {

TEST(OwnAnswers, SayTheStatusAndTheRequest) {
  std::string text;
  write_own_answer({.status = 502, .trace = "abc", .keep_alive = true}, text);
  EXPECT_EQ(text,
            "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 29\r\n"
            "Cache-Control: no-store\r\n\r\n502 Bad Gateway, request abc\n");
  text.clear();
  write_own_answer({.status = 400, .trace = "abc", .is_head = true}, text);
  EXPECT_EQ(text,
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 29\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n");
}

TEST(OwnAnswers, HaveAPauseWithItsPageAndItsTime) {
  Deployment paused;
  paused.retry_after_s = 7;
  std::string text;
  write_own_answer({.status = 503, .trace = "abc", .old_client = true, .keep_alive = true, .paused = &paused}, text);
  EXPECT_NE(text.find("Retry-After: 7\r\nConnection: keep-alive\r\n\r\n503 Service Unavailable, request abc\n"),
            std::string::npos);
}

}  // namespace own_answers_test
}  // namespace sluice::router
