import { test } from 'tap';
import type { KeyModel } from '../model/model.ts';
import { changedTo, type SpendingLimit, spendingFrom } from '../model/spending-model.ts';
import { CREDIT, fixture, loss, PREFIX, row } from './check-fixture.ts';
import { checkSpendingLimits, checkWindows } from './check-spending.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

// Tests of the checker: faults in spending limits that it must find, and excuses.

const HOUR_MS = 3_600_000;
/** The start of the five hours of the account and its key: 10:00 of day 20,000. */
const START = (20_000 * 24 + 10) * HOUR_MS;

function callAt(hours: number): string {
  return JSON.stringify({ admittedAt: hours, hours: { key: hours, account: hours } });
}

/** The fixture, whose two calls of 1 and 2 credits count in five hours that run. */
function whole(more: Partial<Snapshot> = {}): Snapshot {
  const { snapshot } = fixture();
  const [key] = snapshot.liveKeys.values();
  const [account] = snapshot.liveAccounts.values();
  const spent = 3 * CREDIT;
  return {
    ...snapshot,
    ledger: snapshot.ledger.map((each) => (each.key_id === null ? each : { ...each, call: callAt(START) })),
    liveKeys: new Map([[1, { ...key, h: String(START), hs: String(spent), ts: String(spent) }]]),
    liveAccounts: new Map([
      [1, liveAccount(`4 20000 ${spent} 19998 ${spent} 19990 ${spent} ${START} ${spent} ${spent}`)],
    ]),
    ...more,
  };

  function liveAccount(win: string) {
    return { ...account, v: '1', sl: '[]', win, h: String(START) };
  }
}

function withLive(
  base: Snapshot,
  owner: 'liveKeys' | 'liveAccounts',
  fields: Record<string, string>,
): Snapshot {
  return { ...base, [owner]: new Map([...base[owner]].map(([id, live]) => [id, { ...live, ...fields }])) };
}

test('windows that agree with the ledger pass, and so do five hours in which nothing was spent', async (t) => {
  t.same(checkWindows(whole()), []);
  const later = String(START + 5 * HOUR_MS);
  const begun = withLive(withLive(whole(), 'liveKeys', { h: later, hs: '0' }), 'liveAccounts', { h: later });
  t.same(checkWindows(begun), []);
});

test('each window that does not agree with the ledger is found', async (t) => {
  for (const field of ['ds', 'ws', 'ms', 'hs', 'ts']) {
    t.match(checkWindows(withLive(whole(), 'liveKeys', { [field]: '1' })), [
      /^key 1: 1 spent .* 3000000 in the book$/,
    ]);
  }
  const words = whole().liveAccounts.get(1)?.win?.split(' ') ?? [];
  for (const at of [2, 4, 6, 8, 9]) {
    const win = words.with(at, '1').join(' ');
    t.match(checkWindows(withLive(whole(), 'liveAccounts', { win })), [
      /^account 1: 1 spent .* 3000000 in the book$/,
    ]);
  }
  const win = words.with(0, '3').join(' ');
  t.match(checkWindows(withLive(whole(), 'liveAccounts', { win })), [
    /^account 1: its windows are those of seq 3/,
  ]);
  t.match(checkWindows(withLive(whole(), 'liveAccounts', { sl: '[1]' })), [
    /^account 1: limits are \[1\] in Redis/,
  ]);
});

test('a call in later five hours than Redis knows, and one without times, are found', async (t) => {
  const base = whole();
  const changed = (call: string | null) =>
    checkWindows({ ...base, ledger: base.ledger.map((each) => (each.seq === 3 ? { ...each, call } : each)) });
  const later = changed(callAt(START + 5 * HOUR_MS));
  t.match(later, [/5 ?hours|five hours/, /later five hours/, /five hours/, /later five hours/]);
  t.match(changed(null), [/^req_a+2 does not say when it was admitted/, /five hours/, /five hours/]);
});

/** Faults of the fixture if its key, or its account, has had this limit from the beginning. */
function faultsUnder(of: 'key' | 'account', limit: SpendingLimit, more: readonly LedgerRow[] = []) {
  const { model } = fixture();
  const [key] = model.keys as [KeyModel];
  Object.assign(of === 'key' ? key : key.account, { spending: spendingFrom([limit]) });
  const base = whole();
  return {
    model,
    key,
    find: () => checkSpendingLimits({ ...base, ledger: [...base.ledger, ...more] }, model),
  };
}

test('spending above the limit of any window is found, of a key and of an account', async (t) => {
  for (const owner of ['key', 'account'] as const) {
    for (const period of ['5h', 'daily', 'weekly', 'monthly', 'total'] as const) {
      t.same(faultsUnder(owner, { period, credits: 3 }).find(), []);
      t.match(faultsUnder(owner, { period, credits: 2 }).find(), [
        new RegExp(`^${owner} 1: spent 3000000 in the ${period} window .*, above its limit of 2000000`),
      ]);
    }
  }
});

test('each window counts only its own calls', async (t) => {
  // The next day, in the same week and month.
  const next = row(5, `${PREFIX}3`, -2, 10, { day: 20_001, call: callAt(START + 24 * HOUR_MS) });
  const count = (period: SpendingLimit['period'], credits: number) =>
    faultsUnder('key', { period, credits }, [next]).find().length;
  t.equal(count('daily', 3), 0);
  t.equal(count('5h', 3), 0);
  for (const period of ['weekly', 'monthly', 'total'] as const) {
    t.equal(count(period, 4), 1);
    t.equal(count(period, 5), 0);
  }
});

test('a limit that was higher at some time, or absent, and lost holds excuse spending', async (t) => {
  const raised = faultsUnder('key', { period: 'daily', credits: 2 });
  changedTo(raised.key.spending, [{ period: 'daily', credits: 3 }]);
  t.same(raised.find(), []);
  const removed = faultsUnder('key', { period: 'daily', credits: 2 });
  changedTo(removed.key.spending, []);
  changedTo(removed.key.spending, [{ period: 'daily', credits: 1 }]);
  t.same(removed.find(), []);
  const lost = faultsUnder('account', { period: 'total', credits: 2 });
  const hold = { accountId: 1, keyId: 1, amount: CREDIT, createdAt: 0 };
  lost.model.losses.push(loss({ holds: new Map([['lost', hold]]) }));
  t.same(lost.find(), []);
});
