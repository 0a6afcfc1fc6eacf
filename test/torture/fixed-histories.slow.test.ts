import t from 'tap';
import { runHistory } from './driver/run-history.ts';
import { RunSummary } from './driver/run-summary.ts';
import { FIXED_HISTORIES } from './generator/fixed-histories.ts';
import { LIMIT_HISTORIES } from './generator/limit-histories.ts';
import { BookServers } from './world/book-server.ts';

/** Number of parallel histories; a history mostly waits. Each has its own PostgreSQL, which it may stop. */
const AT_ONCE = 3;
const free = Array.from({ length: AT_ONCE }, () => new BookServers(t));
t.jobs = AT_ONCE;

for (const plan of [...FIXED_HISTORIES, ...LIMIT_HISTORIES]) {
  t.test(plan.name, { buffered: true }, async (t) => {
    const servers = free.pop();
    if (!servers) throw new Error('more histories at once than servers');
    const summary = new RunSummary();
    await t.resolves(runHistory(plan, servers, summary).finally(() => free.push(servers)));
    t.comment(summary.report());
  });
}
