// How a thread shares its core with others, for the few that should not be treated like all. Both are hints: a kernel
// that does not know them, or a process that may not give them, goes on as before.
#pragma once

namespace sluice {

// This thread has little to do, but that at once: when it wakes, whoever has its core gives it up. It must never do
// much in one go, and threads that it starts are like it until they say otherwise.
void go_first();

// This thread has much to do, and others go first. There is no way back without privileges: it is for threads that end.
void let_others_go_first();

// For the loops of such a thread, every hundred microseconds or so: between two ticks of its clock the kernel takes a
// core from nobody who does not give it.
void give_way();

}  // namespace sluice
