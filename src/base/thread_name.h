// Names a thread for those who look at the process from outside: `top -H`, a debugger, a profile.
#pragma once

#include <pthread.h>

namespace sluice {

// Of the thread that calls it; at most 15 characters.
inline void name_this_thread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace sluice
