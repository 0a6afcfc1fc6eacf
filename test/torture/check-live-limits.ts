import { LIMIT_FIELDS, type Limits, type LimitsModel, limitsWithin } from './limits-model.ts';
import type { Model } from './model.ts';
import type { Snapshot } from './snapshot.ts';

type Live = Readonly<Record<string, string>>;

/**
 * Checks once nothing is under way that the book has the limits that were answered last, that Redis has those of the book, that no
 * call is counted as open, and that nothing is kept of limits that are not there.
 */
export function checkLiveLimits(snapshot: Snapshot, model: Model): string[] {
  const { accounts, keys, liveAccounts, liveKeys } = snapshot;
  return [
    ...accounts.flatMap((row) => {
      const known = model.accounts.find(({ id }) => id === row.id);
      const name = `account ${row.id}`;
      return [
        ...(known ? checkBook(name, row, known.limits) : []),
        ...checkLive(name, row, liveAccounts.get(row.id)),
      ];
    }),
    ...keys.flatMap((row) => {
      const known = model.keys.find(({ id }) => id === row.id);
      const name = `key ${row.id}`;
      const live = liveKeys.get(row.id);
      const isLive = live?.ep !== undefined && live.ep === liveAccounts.get(row.account_id)?.ep;
      return [
        ...(known ? checkBook(name, row, known.limits) : []),
        ...(isLive ? checkLive(name, row, live) : []),
      ];
    }),
  ];
}

function checkBook(name: string, row: Limits, limits: LimitsModel): string[] {
  return LIMIT_FIELDS.filter(
    (field) => !limitsWithin(limits[field], Date.now(), Infinity).includes(row[field]),
  ).map((field) => `${name}: ${field} is ${row[field]} in the book, which was not answered last`);
}

function checkLive(name: string, row: Limits & { readonly version: number }, live: Live = {}): string[] {
  // A change that could not be published is, by the next sweep; the version shows it.
  if (live.ep === undefined || live.v !== String(row.version)) return [];
  const faults: string[] = [];
  const words = LIMIT_FIELDS.map((field) => row[field] ?? '-');
  const wanted = words.every((word) => word === '-') ? undefined : words.join(' ');
  if (live.lim !== wanted) faults.push(`${name}: limits are ${live.lim} in Redis, ${wanted} in the book`);
  if ((live.open ?? '0') !== '0')
    faults.push(`${name}: ${live.open} calls counted as open in Redis, there are none`);
  const states = { rq: row.rpm_limit, tk: row.tpm_limit, open: row.max_parallel_requests };
  for (const [field, limit] of Object.entries(states)) {
    const isKept = live[field] !== undefined;
    if (isKept !== (limit !== null))
      faults.push(`${name}: ${field} is ${live[field]} in Redis, its limit ${limit}`);
  }
  return faults;
}
