// The program sluice-orders: every command of sluice, with the handlers of this kit besides those of its own.
#include "cli/program.h"
#include "orders/mailbox.h"
#include "orders/orders_kit.h"

int main(int count, char** words) {
  std::optional<sluice::orders::Mailbox> mailbox;
  return sluice::cli::run_program(
      count, words, [&](sluice::host::LoadedConcepts& loaded, sluice::Disk& disk, const sluice::Variables& variables) {
        mailbox.emplace(disk, variables("ORDERS_MAILBOX").value_or(""));
        for (const sluice::lang::ConceptBinding* each : sluice::orders::concepts()) loaded.concepts.push_back(each);
        loaded.tools.add(*mailbox);
      });
}
