import t from 'tap';
import { BookServers } from './book-server.ts';
import { FIXED_HISTORIES } from './fixed-histories.ts';
import { LIMIT_HISTORIES } from './limit-histories.ts';
import { runHistory } from './run-history.ts';
import { RunSummary } from './run-summary.ts';

/**
 * Histories that run in parallel, because a history mostly waits. Each has a PostgreSQL to itself, which it may stop.
 */
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
