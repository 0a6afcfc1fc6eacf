import type { Loss, Model } from '../model/model.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

const DAY_MS = 86_400_000;

/** Checks invariant 1 row by row, and that Redis agrees with the book. */
export function checkBalances({
  accounts,
  keys,
  ledger,
  liveAccounts,
  liveKeys,
  leftovers,
}: Snapshot): string[] {
  const faults = leftovers.map((what) => `left behind: ${what}`);
  const byAccount = Map.groupBy(ledger, (row) => row.account_id);
  for (const { id, balance, seq, epoch } of accounts) {
    let sum = 0;
    for (const row of byAccount.get(id) ?? []) {
      sum += row.credits;
      if (row.balance_after !== sum) {
        faults.push(`account ${id}: after ${row.id} the balance is ${row.balance_after}, the sum ${sum}`);
      }
    }
    if (sum !== balance) faults.push(`account ${id}: the balance is ${balance}, its ledger ${sum}`);
    const live = liveAccounts.get(id) ?? {};
    // The next use rebuilds an account that is missing in Redis.
    if (live.ep === undefined) continue;
    // 0 if there was never a hold.
    const wanted = { bal: String(balance), held: '0', slack: '0', seq: String(seq), ep: String(epoch) };
    for (const [field, value] of Object.entries(wanted)) {
      if ((live[field] ?? '0') !== value)
        faults.push(`account ${id}: ${field} is ${live[field]} in Redis, ${value} in the book`);
    }
  }
  const byKey = Map.groupBy(ledger, (row) => row.key_id);
  for (const { id, account_id } of keys) {
    const live = liveKeys.get(id) ?? {};
    if (live.ep === undefined || live.ep !== liveAccounts.get(account_id)?.ep) continue;
    faults.push(...checkSpends(id, live, byKey.get(id) ?? []));
  }
  return faults;
}

function checkSpends(
  id: number,
  live: Readonly<Record<string, string>>,
  rows: readonly LedgerRow[],
): string[] {
  // A key without any hold has no slack yet.
  const isFree = live.held === '0' && (live.slack ?? '0') === '0';
  const faults = isFree ? [] : [`key ${id}: ${live.held} held in Redis, with a slack of ${live.slack}`];
  for (const period of ['d', 'w', 'm']) {
    const start = Number(live[period]);
    const spent = rows.filter(({ day }) => day >= start).reduce((sum, { credits }) => sum - credits, 0);
    if (Number(live[`${period}s`]) !== spent) {
      faults.push(`key ${id}: ${live[`${period}s`]} spent since day ${start} in Redis, ${spent} in the book`);
    }
  }
  return faults;
}

/**
 * Invariant 2, by its two conditions: the holds of open calls are covered by balance and overdraft, so no balance is
 * below -overdraft; their estimates are covered by the balance alone, so it is below 0 only by what charges were above
 * estimates. Of a key's limit alike. Adjustments are not held back by the balance (docs/guarantees.md). What an emptied
 * Redis held for calls in flight, or had in its journal, is lost, so that much may be overspent (docs/guarantees.md).
 */
export function checkOverspending({ accounts, ledger }: Snapshot, model: Model): string[] {
  const faults: string[] = [];
  for (const { id } of accounts) {
    const slack = lostSpending(model.losses, (hold) => hold.accountId === id);
    let taken = 0;
    let excess = 0;
    const overdraft = model.accounts.find((account) => account.id === id)?.highestOverdraft ?? 0;
    for (const row of ledger.filter(({ account_id }) => account_id === id)) {
      if (row.type === 'adjustment') taken -= row.credits;
      excess += excessOf(row, model);
      if (row.balance_after >= -slack - taken - Math.min(overdraft, excess)) continue;
      faults.push(
        `account ${id}: its balance was ${row.balance_after} after ${row.id}, with ${slack} lost and ${taken} taken away, ` +
          `an overdraft of ${overdraft} and charges above estimates of ${excess}`,
      );
    }
  }
  for (const { id, highestLimit, account } of model.keys) {
    if (highestLimit === null) continue;
    const slack = lostSpending(model.losses, (hold) => hold.keyId === id);
    const months = Map.groupBy(
      ledger.filter((row) => row.key_id === id),
      ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 7),
    );
    for (const [month, rows] of months) {
      const spent = rows.reduce((sum, { credits }) => sum - credits, 0);
      const excess = rows.reduce((sum, row) => sum + excessOf(row, model), 0);
      if (spent > highestLimit + slack + Math.min(account.highestOverdraft, excess)) {
        faults.push(
          `key ${id}: spent ${spent} in ${month}, above its limit of ${highestLimit}, with ${slack} lost, ` +
            `an overdraft of ${account.highestOverdraft} and charges above estimates of ${excess}`,
        );
      }
    }
  }
  return faults;
}

/**
 * Maximum excess of a charge over its estimate. Only the gateway knows the estimate of a call by token, so this assumes
 * 0.
 */
export function excessOf({ id, model: slug, credits }: LedgerRow, model: Model): number {
  const call = model.estimatedCalls.find(({ requestId }) => requestId === id);
  if (call) return Math.max(0, -credits - call.estimate);
  return slug === 'tokens' ? Math.max(0, -credits) : 0;
}

/**
 * Lost holds, and lost charges that gateways repeat, in micro-credits. Until the repeat, others could spend these
 * credits.
 */
export function lostSpending(
  losses: readonly Loss[],
  isOf: (what: { accountId: number; keyId: number | null }) => boolean,
): number {
  const holds = losses.flatMap((loss) => [...loss.holds.values()]).filter(isOf);
  const charges = losses.flatMap((loss) => [...loss.entries.values()]).filter(isOf);
  return (
    holds.reduce((sum, { amount }) => sum + amount, 0) +
    charges.reduce((sum, { credits }) => sum + Math.max(0, -credits), 0)
  );
}

/** Checks that the ledger has each requested top-up and adjustment once, and starts with the initial credits. */
export function checkTopUps({ ledger, pendingGrants }: Snapshot, model: Model): string[] {
  const faults = pendingGrants > 0 ? [`${pendingGrants} top-ups are recorded and not applied`] : [];
  const grants = ledger.filter(({ type }) => type === 'top_up' || type === 'adjustment');
  const ordered = new Set(model.topUps.map(({ idempotencyKey }) => idempotencyKey));
  for (const { id, note } of grants) {
    if (note !== 'Initial credits' && !ordered.has(note ?? ''))
      faults.push(`${id} (${note}) was never ordered`);
  }
  for (const { account, amount, idempotencyKey } of model.topUps) {
    const found = grants.filter((row) => row.note === idempotencyKey);
    const [row] = found;
    const type = amount > 0 ? 'top_up' : 'adjustment';
    const isRight =
      found.length === 1 && row?.credits === amount && row.account_id === account.id && row.type === type;
    if (!isRight) faults.push(`${idempotencyKey} of ${amount}: ${JSON.stringify(found)}`);
  }
  for (const { id, granted } of model.accounts) {
    const rows = ledger.filter((row) => row.account_id === id);
    const initial = rows.filter(({ type, note }) => type === 'top_up' && note === 'Initial credits');
    // The sweep repeats initial credits that Redis lost, possibly after other grants.
    const first = rows.find(({ type }) => type === 'top_up' || type === 'adjustment');
    const isFirst = model.losses.length > 0 || initial[0]?.seq === first?.seq;
    if (initial.length !== 1 || initial[0]?.credits !== granted || !isFirst) {
      faults.push(`account ${id}: ${granted} initial credits, but ${JSON.stringify(initial)}`);
    }
  }
  return faults;
}
