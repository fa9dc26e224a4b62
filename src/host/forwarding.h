// Passes a request on to another server, and its answer back, as they are: but for the headers that are about one
// connection. An answer without a length is passed on as it comes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/client.h"
#include "http/message.h"

namespace sluice::host {

// `more` is the body of an upload, if it is one. An error: there is no answer; of a request that changes something
// nobody knows then whether it was done, and the error says so.
Result<http::Response> forward(std::unique_ptr<http::Client> to, http::Request request,
                               const std::function<Result<bool>(std::string& piece)>& more = {});

}  // namespace sluice::host
