import { MICRO_PER_CREDIT } from '../../../src/domain/credits.ts';
import type { ReceivedRequest } from '../../helper/stand-ins/receiver.ts';
import type { AccountModel, Model } from '../model/model.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/**
 * Time after a loss in which sequence numbers don't show when a threshold changed: a loss sets accounts back, and their
 * next entries reuse earlier numbers.
 */
const AROUND_A_LOSS_MS = 15_000;

/**
 * Checks invariant 4: an entry that crosses the threshold has one alert, any other entry has none, and the book has the
 * latest threshold. Several thresholds may have been in force for an entry.
 */
export function checkCrossings({ accounts, ledger, alerts }: Snapshot, model: Model): string[] {
  const faults: string[] = [];
  const alerted = new Set(alerts.map(({ entry_id }) => entry_id));
  if (alerted.size !== alerts.length) faults.push('an entry has two alerts');
  for (const { id, alert_threshold } of accounts) {
    const account = model.accounts.find((candidate) => candidate.id === id);
    // The model lacks accounts whose creation got no answer. Nobody has their keys, so their thresholds never changed.
    const inForce = account ? thresholdsOf(account, model) : () => [alert_threshold];
    if (!inForce(Number.MAX_SAFE_INTEGER).includes(alert_threshold)) {
      faults.push(`account ${id}: its threshold is ${alert_threshold}, not the last that was answered`);
    }
    for (const row of ledger.filter(({ account_id }) => account_id === id)) {
      const crossed = inForce(row.seq).map((threshold) => isCrossing(row, threshold));
      const isAlerted = alerted.delete(row.id);
      if (isAlerted && !crossed.includes(true)) faults.push(`${row.id} crosses nothing and has an alert`);
      if (!isAlerted && !crossed.includes(false)) faults.push(`${row.id} is a crossing without an alert`);
    }
  }
  for (const id of alerted) faults.push(`an alert is of ${id}, which is not in the ledger`);
  return faults;
}

function isCrossing({ credits, balance_after }: LedgerRow, threshold: number): boolean {
  return credits < 0 && balance_after < threshold && balance_after - credits >= threshold;
}

/** Returns a function from an entry's sequence number to the thresholds that may have been in force for it. */
function thresholdsOf(account: AccountModel, { losses }: Model): (seq: number) => number[] {
  const changes = account.thresholds.map((change) =>
    change.askedAt > 0 && losses.some(({ at }) => at > change.askedAt - AROUND_A_LOSS_MS)
      ? {
          ...change,
          afterSeq: 0,
          surelyAfterSeq: change.surelyAfterSeq === undefined ? undefined : Number.MAX_SAFE_INTEGER - 1,
        }
      : change,
  );
  return (seq) => {
    let inForce: number[] = [];
    for (const { threshold, afterSeq, surelyAfterSeq } of changes) {
      if (surelyAfterSeq !== undefined && seq > surelyAfterSeq) inForce = [threshold];
      else if (seq > afterSeq) inForce.push(threshold);
    }
    return inForce;
  };
}

/** Checks that no alert was sent twice, and that each sent alert is in the book with the same content. */
export function checkDeliveries(
  { alerts, deliveries }: Snapshot,
  requests: readonly ReceivedRequest[],
): string[] {
  const faults: string[] = [];
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
