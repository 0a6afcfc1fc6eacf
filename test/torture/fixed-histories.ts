import type { Test } from 'tap';
import { runHistory } from './driver/run-history.ts';
import { RunSummary } from './driver/run-summary.ts';
import { FIXED_HISTORIES, type FixedHistory } from './generator/fixed-histories.ts';
import { LIMIT_HISTORIES } from './generator/limit-histories.ts';
import { BookServers } from './world/book-server.ts';

/** Names of the histories in the core of the tests: of a killed gateway, a lost Redis and limits, with few starts. */
const SHORT: readonly string[] = [
  'a book in a file survives the death of its only gateway',
  'entries of an epoch that is over are posted once, and their account rebuilt',
  'requests and tokens of a minute stay within limits that change',
];

const ALL = [...FIXED_HISTORIES, ...LIMIT_HISTORIES];
export const SHORT_HISTORIES = ALL.filter(({ name }) => SHORT.includes(name));
export const LONG_HISTORIES = ALL.filter(({ name }) => !SHORT.includes(name));

/** Number of parallel histories; a history mostly waits. Each has its own PostgreSQL, which it may stop. */
const AT_ONCE = 3;

/** Registers a test for each history. */
export function testHistories(t: Test, plans: readonly FixedHistory[], atOnce = AT_ONCE): void {
  const free = Array.from({ length: atOnce }, () => new BookServers(t));
  t.jobs = atOnce;
  for (const plan of plans) {
    t.test(plan.name, { buffered: atOnce > 1 }, async (t) => {
      const servers = free.pop();
      if (!servers) throw new Error('more histories at once than servers');
      const summary = new RunSummary();
      await t.resolves(runHistory(plan, servers, summary).finally(() => free.push(servers)));
      t.comment(summary.report());
    });
  }
}
