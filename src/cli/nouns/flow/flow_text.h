// A flow's document as people read it: in a few lines, and as a tree.
#pragma once

#include <string>

#include "base/terminal.h"
#include "host/flows/flow_document.h"

namespace sluice::cli {

// The cells that a trace may take at most.
inline constexpr size_t kTraceWidth = 100;

std::string show_text(const host::FlowDocument& flow, const Terminal& terminal);
std::string trace_text(const host::FlowDocument& flow, bool gates, const Terminal& terminal);
// A sentence that fits, its further lines indented.
std::string sentence(const std::string& text, const Terminal& terminal);

}  // namespace sluice::cli
