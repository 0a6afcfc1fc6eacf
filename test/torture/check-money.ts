import { MICRO_PER_CREDIT } from '../../src/domain/credits.ts';
import type { ReceivedRequest } from '../helper/receiver.ts';
import type { Loss, Model } from './model.ts';
import type { AccountRow, LedgerRow, Snapshot } from './snapshot.ts';

const DAY_MS = 86_400_000;

/** Invariant 1, row by row, and that Redis says the same as the book. */
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
    // Not live: its next use rebuilds it.
    if (live.ep === undefined) continue;
    const wanted = { bal: String(balance), held: '0', seq: String(seq), ep: String(epoch) };
    for (const [field, value] of Object.entries(wanted)) {
      if (live[field] !== value)
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
  const faults = live.held === '0' ? [] : [`key ${id}: ${live.held} held in Redis`];
  for (const period of ['d', 'w', 'm']) {
    const start = Number(live[period]);
    const spent = rows.filter(({ day }) => day >= start).reduce((sum, { credits }) => sum - credits, 0);
    if (Number(live[`${period}s`]) !== spent) {
      faults.push(`key ${id}: ${live[`${period}s`]} spent since day ${start} in Redis, ${spent} in the book`);
    }
  }
  return faults;
}

/** Invariant 2. What an emptied Redis held for calls in flight is lost, so that much may be overspent (README). */
export function checkOverspending({ accounts, ledger }: Snapshot, model: Model): string[] {
  const faults: string[] = [];
  for (const { id } of accounts) {
    const slack = lostHolds(model.losses, (hold) => hold.accountId === id);
    const lowest = Math.min(
      0,
      ...ledger.filter((row) => row.account_id === id).map((row) => row.balance_after),
    );
    if (lowest < -slack) faults.push(`account ${id}: its balance was ${lowest}, with ${slack} of holds lost`);
  }
  for (const { id, highestLimit } of model.keys) {
    if (highestLimit === null) continue;
    const slack = lostHolds(model.losses, (hold) => hold.keyId === id);
    const months = Map.groupBy(
      ledger.filter((row) => row.key_id === id),
      ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 7),
    );
    for (const [month, rows] of months) {
      const spent = rows.reduce((sum, { credits }) => sum - credits, 0);
      if (spent > highestLimit + slack) {
        faults.push(
          `key ${id}: spent ${spent} in ${month}, above its limit of ${highestLimit}, with ${slack} of holds lost`,
        );
      }
    }
  }
  return faults;
}

function lostHolds(
  losses: readonly Loss[],
  isOf: (hold: { accountId: number; keyId: number }) => boolean,
): number {
  return losses
    .flatMap(({ holds }) => [...holds.values()])
    .filter(isOf)
    .reduce((sum, { amount }) => sum + amount, 0);
}

/** Top-ups: each that was ordered stands in the ledger once; so do initial credits. */
export function checkTopUps({ ledger, pendingGrants }: Snapshot, model: Model): string[] {
  const faults = pendingGrants > 0 ? [`${pendingGrants} top-ups are recorded and not applied`] : [];
  const grants = ledger.filter(({ type }) => type === 'top_up');
  for (const { account, amount, idempotencyKey } of model.topUps) {
    const found = grants.filter((row) => row.note === idempotencyKey);
    const isRight = found.length === 1 && found[0]?.credits === amount && found[0].account_id === account.id;
    if (!isRight) faults.push(`${idempotencyKey} of ${amount}: ${JSON.stringify(found)}`);
  }
  for (const { id, granted } of model.accounts) {
    const rows = ledger.filter((row) => row.account_id === id);
    const initial = rows.filter(({ type, note }) => type === 'top_up' && note === 'Initial credits');
    // Lost with Redis, it is applied again by the sweep, and others may have come first.
    const isFirst = model.losses.length > 0 || initial[0]?.seq === rows[0]?.seq;
    if (initial.length !== 1 || initial[0]?.credits !== granted || !isFirst) {
      faults.push(`account ${id}: ${granted} initial credits, but ${JSON.stringify(initial)}`);
    }
  }
  return faults;
}

/** Invariant 4, and that no POST was made twice, nor one that the book does not know. */
export function checkAlerts(
  { accounts, ledger, alerts, deliveries }: Snapshot,
  requests: readonly ReceivedRequest[],
): string[] {
  const faults: string[] = [];
  const thresholds = new Map(accounts.map((account: AccountRow) => [account.id, account.alert_threshold]));
  const crossings = ledger.filter(({ account_id, credits, balance_after }) => {
    const threshold = thresholds.get(account_id) ?? 0;
    return credits < 0 && balance_after < threshold && balance_after - credits >= threshold;
  });
  const alerted = alerts.map(({ entry_id }) => entry_id).sort();
  const crossed = crossings.map(({ id }) => id).sort();
  if (String(alerted) !== String(crossed)) faults.push(`crossings ${crossed}, but alerts for ${alerted}`);
  for (const { id, state } of alerts) if (state !== 'claimed') faults.push(`alert ${id} is still ${state}`);

  const planned = new Map(deliveries.map((row) => [`msg_${row.alert_id}_${row.key_id}`, row.status]));
  if (planned.size !== deliveries.length) faults.push('an alert is planned twice for a key');
  const balances = new Map(alerts.map((alert) => [String(alert.id), alert.credits_balance]));
  const received = new Set<string>();
  for (const { headers, body } of requests) {
    const id = String(headers['webhook-id']);
    if (received.has(id)) faults.push(`${id} was sent twice`);
    received.add(id);
    if (!planned.has(id)) faults.push(`${id} was sent, but is not in the book`);
    const balance = (balances.get(id.split('_')[1] ?? '') ?? Number.NaN) / MICRO_PER_CREDIT;
    if ((JSON.parse(body) as { credits_balance: number }).credits_balance !== balance) {
      faults.push(`${id} says ${body}, the balance was ${balance}`);
    }
  }
  for (const [id, status] of planned) {
    if (status === 'delivered' && !received.has(id)) faults.push(`${id} is delivered, but did not arrive`);
  }
  return faults;
}
