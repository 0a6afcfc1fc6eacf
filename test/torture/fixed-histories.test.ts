import t from 'tap';
import { BookServers } from './book-server.ts';
import { FIXED_HISTORIES } from './fixed-histories.ts';
import { runHistory } from './run-history.ts';
import { Tally } from './tally.ts';

const servers = new BookServers(t);

for (const plan of FIXED_HISTORIES) {
  t.test(plan.name, async (t) => {
    const tally = new Tally();
    await t.resolves(runHistory(plan, servers, tally));
    t.comment(tally.report());
  });
}
