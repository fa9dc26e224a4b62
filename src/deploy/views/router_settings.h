// What an environment's host config says of its routers: whose word on a request's origin counts, and how many requests
// are logged.
#pragma once

#include <string>

#include "deploy/views/states.h"
#include "router/table/table_document.h"

namespace sluice::deploy::views {

// Puts it into the table; what is not said stays as the table has it.
void put_router_settings(const States& states, const std::string& environment, ::sluice::router::TableDocument& table);

}  // namespace sluice::deploy::views
