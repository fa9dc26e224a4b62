// Statuses of gRPC (https://grpc.io, status codes): what an answer says, and what a status of HTTP is to who speaks it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::router {

bool is_grpc(std::string_view content_type);

// 0 to 127; -1: that is none.
int8_t read_grpc_status(std::string_view value);
// In lines of trailers; `otherwise` if they say none.
int8_t grpc_status_in(std::string_view trailers, int8_t otherwise);

// As gRPC takes a status of HTTP from who does not speak it.
int8_t grpc_status_of(uint16_t http);
// As what a status of gRPC counts: from 500 on it is the application's fault.
uint16_t http_status_of(int8_t grpc);

// Appends an answer of the router's own: a head alone.
void write_grpc_answer(uint16_t http, std::string_view trace, std::string& out);

}  // namespace sluice::router
