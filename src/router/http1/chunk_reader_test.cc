// Bodies in chunks, whole and in pieces, good and bad.
#include "router/http1/chunk_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace chunk_reader_test {

struct ReadBody {
  std::string content;
  size_t taken = 0;
  bool done = false;
  bool bad = false;
};

ReadBody read_body(std::string_view bytes, size_t piece) {
  ChunkReader reader;
  ReadBody read;
  while (read.taken < bytes.size() && !reader.done() && !reader.bad()) {
    std::string_view content;
    read.taken += reader.take(bytes.substr(read.taken, piece), content);
    read.content += content;
  }
  read.done = reader.done();
  read.bad = reader.bad();
  return read;
}

TEST(ChunkReader, ReadsContentAndStopsBehindTheBody) {
  std::string body = "3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n000\r\nX-Sum: 1\r\n\r\n";
  for (size_t piece : {size_t{1}, size_t{2}, size_t{7}, size_t{1'000}}) {
    ReadBody read = read_body(body + "GET /", piece);
    EXPECT_EQ(read.content, "abc0123456789");
    EXPECT_EQ(read.taken, body.size());
    EXPECT_TRUE(read.done);
  }
}

TEST(ChunkReader, RefusesWhatIsNotAsItMustBe) {
  for (const char* body :
       {"\r\n", "g\r\n", "-1\r\n", "0x3\r\nabc\r\n", " 3\r\nabc\r\n", "3 \r\nabc\r\n", "3\nabc\r\n", "3\r\nabcd\r\n",
        "3\r\nabc\n", "1000000000000000\r\n", "3;a\nabc\r\n", "3;a=\"b\r\nabc\r\n", "0\r\nContent-Length: 3\r\n\r\n",
        "0\r\nHost: a\r\n\r\n", "0\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n X: y\r\n\r\n", "0\r\nX\r\n\r\n",
        "0\r\n\rX", "0\r\nX: a\nb\r\n\r\n"}) {
    EXPECT_TRUE(read_body(body, 1).bad) << body;
    EXPECT_TRUE(read_body(body, 100).bad) << body;
  }
  EXPECT_TRUE(read_body("3;" + std::string(300, 'a'), 1'000).bad);
  EXPECT_TRUE(read_body("0\r\nX: " + std::string(9'000, 'a'), 10'000).bad);
}

TEST(ChunkReader, LeavesAQuoteThatIsEscapedOpen) {
  EXPECT_TRUE(read_body("0;a=\"b\\\"\r\n", 100).bad);
  EXPECT_TRUE(read_body("0;a=\"b\\\"\"\r\n\r\n", 100).done);
}

}  // namespace chunk_reader_test
}  // namespace sluice::router
