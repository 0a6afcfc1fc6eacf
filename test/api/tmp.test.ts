import t from 'tap';
import type { EntryView } from '../../src/api/entry-view.ts';
import { csvEntry, csvHeader } from '../../src/api/ledger-csv.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { apiOf, refusalOf } from '../helper/api.ts';
import { startWorld, type TestAccount } from '../helper/world.ts';

const world = await startWorld(t);
const CHARGES = 1_234;
const owner = await world.account({ credits: 10_000 });
await world.settled();
await charge(owner, CHARGES);

/** Writes charges to the book as the journal would bring them. */
async function charge({ accountId, keyId }: TestAccount, count: number): Promise<void> {
  const [last] = await world.book.ledger({ accountId, limit: 1 });
  const [place] = await world.book.recentAccounts(0).then((all) => all.filter(({ id }) => id === accountId));
  if (!last || !place) throw new Error('the account has no ledger yet');
  const entries = Array.from(
    { length: count },
    (_, index): JournalEntry => ({
      id: `export-${index}`,
      type: 'charge',
      accountId,
      keyId,
      createdAt: Date.now(),
      model: 'flat',
      category: 'text',
      endpoint: '/v1/chat/completions',
      status: 200,
      outcome: 'complete',
      usage: { input: 10, output: 2 },
      estimated: index % 2 === 1,
      credits: micro(-1),
      seq: last.seq + 1 + index,
      epoch: place.epoch,
      balanceAfter: micro(last.balanceAfter - 1 - index),
      day: Math.floor(Date.now() / 86_400_000),
      crossing: false,
    }),
  );
  await world.book.post(entries);
}

const leaving = new AbortController();
const response = await fetch(`${world.url}/api/account/ledger/?format=csv`, {
  headers: { authorization: `Bearer ${owner.key}` },
  signal: leaving.signal,
});
if (process.env.READ) await response.body?.getReader().read();
leaving.abort();
await new Promise((r) => setTimeout(r, 300));
console.log((process as any)._getActiveHandles().filter((h: any) => h.constructor.name === 'Socket').map((h: any) => [h.localPort, h.remotePort, h.destroyed, h._httpMessage?.finished, h.writableEnded, h.server ? 'srv':'' ]));
console.time('close');
const timer = setTimeout(() => {
console.log((process as any)._getActiveHandles().filter((h: any) => h.constructor.name === 'Socket').map((h: any) => [h.localPort, h.remotePort, h.destroyed, h._httpMessage?.finished, h.writableEnded, h.server ? 'srv':'' ]));
}, 2000);
await world.close();
clearTimeout(timer);
console.timeEnd('close');
