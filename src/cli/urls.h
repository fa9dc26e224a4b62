// Where people reach a deployment: the addresses of a router, with the hosts and paths of the deployment's route.
#pragma once

#include <string>
#include <vector>

#include "deploy/views/documents.h"

namespace sluice::cli {

// `listen` as routers say it, "127.0.0.1:8080". Unix sockets and hosts with a wildcard are no URLs.
std::vector<std::string> urls_of(const std::vector<std::string>& listen, const deploy::views::RouteDocument& route);

}  // namespace sluice::cli
