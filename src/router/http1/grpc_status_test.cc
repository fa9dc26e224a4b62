// Which answers are failures, and what the router itself says.
#include "router/http1/grpc_status.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace grpc_status_test {

TEST(GrpcStatus, IsToldByTheContentType) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "Application/GRPC; x=1"}) {
    EXPECT_TRUE(is_grpc(type)) << type;
  }
  for (const char* type : {"application/grpc-web", "application/json", ""}) EXPECT_FALSE(is_grpc(type)) << type;
}

TEST(GrpcStatus, IsReadFromTrailers) {
  EXPECT_EQ(grpc_status_in("x-a: 1\r\nGrpc-Status: 14\r\n", -1), 14);
  EXPECT_EQ(grpc_status_in("grpc-status: 0\r\n", 5), 0);
  EXPECT_EQ(grpc_status_in("grpc-message: no\r\n", 5), 5);
  EXPECT_EQ(grpc_status_in("grpc-status: many\r\n", 5), -1);
  EXPECT_EQ(read_grpc_status("200"), -1);
}

TEST(GrpcStatus, CountsAsAFailureWhereItIsTheApplications) {
  for (int8_t each : {2, 4, 12, 13, 14, 15}) EXPECT_GE(http_status_of(each), 500) << int{each};
  for (int8_t each : {1, 3, 5, 6, 7, 8, 9, 10, 11, 16}) EXPECT_EQ(http_status_of(each) / 100, 4) << int{each};
  EXPECT_EQ(http_status_of(0), 200);
}

TEST(GrpcStatus, IsWhatTheRouterItselfAnswers) {
  std::string text;
  write_grpc_answer(503, "4bf9", text);
  EXPECT_EQ(text,
            "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\ngrpc-status: 14\r\n"
            "grpc-message: 503 Service Unavailable, request 4bf9\r\n\r\n");
}

}  // namespace grpc_status_test
}  // namespace sluice::router
