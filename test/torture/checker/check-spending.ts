import type { Model } from '../model/model.ts';
import { SPENDING_PERIODS, type SpendingModel, type SpendingPeriod } from '../model/spending-model.ts';
import { excessOf, lostSpending } from './check-money.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

const DAY_MS = 86_400_000;
const FIVE_HOURS_MS = 5 * 3_600_000;

type Owner = 'key' | 'account';

/** Windows of an owner: pairs of a start and what was spent, as Redis has them; `total` without a start. */
interface Live {
  readonly d: readonly [number, number];
  readonly w: readonly [number, number];
  readonly m: readonly [number, number];
  readonly h: readonly [number, number];
  readonly total: number;
}

type Hash = Readonly<Record<string, string>>;

/**
 * Checks at rest that Redis has for every key and account what the ledger says was spent in each window, and the
 * spending limits of the book, and that every entry of a call says when it was admitted and in which five hours it
 * counts.
 */
export function checkWindows({ accounts, keys, ledger, liveAccounts, liveKeys }: Snapshot): string[] {
  const calls = ledger.filter(({ key_id }) => key_id !== null);
  const faults = calls
    .filter((row) => !isInTime(row))
    .map(({ id, call }) => `${id} does not say when it was admitted: ${call}`);
  for (const row of accounts) {
    const live = liveAccounts.get(row.id);
    // The next use rebuilds an account that is missing in Redis.
    if (live?.ep === undefined) continue;
    const rows = calls.filter(({ account_id }) => account_id === row.id);
    faults.push(...checkOwner(`account ${row.id}`, accountWindows(live), rows, 'account'));
    if (live.win?.split(' ')[0] !== live.seq)
      faults.push(`account ${row.id}: its windows are those of seq ${live.win}, not of ${live.seq}`);
    if (live.v === String(row.version) && live.sl !== row.spending_limits)
      faults.push(`account ${row.id}: limits are ${live.sl} in Redis, ${row.spending_limits} in the book`);
  }
  for (const { id, account_id } of keys) {
    const live = liveKeys.get(id);
    if (live?.ep === undefined || live.ep !== liveAccounts.get(account_id)?.ep) continue;
    const rows = calls.filter(({ key_id }) => key_id === id);
    faults.push(...checkOwner(`key ${id}`, keyWindows(live), rows, 'key'));
  }
  return faults;
}

function isInTime(row: LedgerRow): boolean {
  const { admittedAt, hours } = callOf(row);
  const starts = [hours?.key, hours?.account];
  // A call that was admitted in five hours may settle in the next ones.
  return typeof admittedAt === 'number' && starts.every((start) => typeof start === 'number' && start > 0);
}

interface CallTimes {
  readonly admittedAt?: number;
  readonly hours?: Readonly<Record<Owner, number>>;
}

function callOf({ call }: LedgerRow): CallTimes {
  return call === null ? {} : (JSON.parse(call) as CallTimes);
}

function checkOwner(name: string, live: Live, rows: readonly LedgerRow[], owner: Owner): string[] {
  const [hours] = live.h;
  const inHours = (row: LedgerRow) => Math.abs((callOf(row).hours?.[owner] ?? 0) - hours) < FIVE_HOURS_MS;
  const wanted = {
    day: [live.d, sumOf(rows.filter(({ day }) => day >= live.d[0]))],
    week: [live.w, sumOf(rows.filter(({ day }) => day >= live.w[0]))],
    month: [live.m, sumOf(rows.filter(({ day }) => day >= live.m[0]))],
    'five hours': [live.h, sumOf(rows.filter(inHours))],
    beginning: [[0, live.total], sumOf(rows)],
  } as const;
  const faults = Object.entries(wanted)
    .filter(([, [[, spent], sum]]) => spent !== sum)
    .map(
      ([what, [[start, spent], sum]]) =>
        `${name}: ${spent} spent in the ${what} from ${start} in Redis, ${sum} in the book`,
    );
  const later = rows.filter((row) => (callOf(row).hours?.[owner] ?? 0) >= hours + FIVE_HOURS_MS);
  return [...faults, ...later.map(({ id }) => `${name}: ${id} counts in later five hours than ${hours}`)];
}

function sumOf(rows: readonly LedgerRow[]): number {
  return rows.reduce((sum, { credits }) => sum - credits, 0);
}

function keyWindows(live: Hash): Live {
  const pair = (field: string) => [Number(live[field]), Number(live[`${field}s`])] as const;
  return { d: pair('d'), w: pair('w'), m: pair('m'), h: pair('h'), total: Number(live.ts) };
}

/** `win`: seq, then the pairs and the total; five hours that began since are in `h`. */
function accountWindows({ win = '', h }: Hash): Live {
  const [, d, ds, w, ws, m, ms, hours, spent, total] = win.split(' ').map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const last = Number(h) > hours ? ([Number(h), 0] as const) : ([hours, spent] as const);
  return { d: [d, ds], w: [w, ws], m: [m, ms], h: last, total };
}

/**
 * Checks that in no window a key or an account has spent more than its highest limit, with the excuses of
 * `checkOverspending`.
 */
export function checkSpendingLimits({ ledger }: Snapshot, model: Model): string[] {
  const calls = ledger.filter(({ key_id }) => key_id !== null);
  return [
    ...model.keys.flatMap(({ id, account, spending }) =>
      checkLimitsOf(`key ${id}`, { owner: 'key', spending, overdraft: account.highestOverdraft }, model, {
        rows: calls.filter(({ key_id }) => key_id === id),
        lost: lostSpending(model.losses, (what) => what.keyId === id),
      }),
    ),
    ...model.accounts.flatMap(({ id, spending, highestOverdraft }) =>
      checkLimitsOf(`account ${id}`, { owner: 'account', spending, overdraft: highestOverdraft }, model, {
        rows: calls.filter(({ account_id }) => account_id === id),
        lost: lostSpending(model.losses, (what) => what.accountId === id),
      }),
    ),
  ];
}

function checkLimitsOf(
  name: string,
  of: { readonly owner: Owner; readonly spending: SpendingModel; readonly overdraft: number },
  model: Model,
  { rows, lost }: { readonly rows: readonly LedgerRow[]; readonly lost: number },
): string[] {
  return SPENDING_PERIODS.flatMap((period) => {
    const limit = of.spending[period];
    if (limit === null) return [];
    return [...Map.groupBy(rows, (row) => windowOf(row, period, of.owner))].flatMap(([window, within]) => {
      const spent = sumOf(within);
      const excess = within.reduce((sum, row) => sum + excessOf(row, model), 0);
      if (spent <= limit + lost + Math.min(of.overdraft, excess)) return [];
      return (
        `${name}: spent ${spent} in the ${period} window ${window}, above its limit of ${limit}, with ${lost} lost, ` +
        `an overdraft of ${of.overdraft} and charges above estimates of ${excess}`
      );
    });
  });
}

function windowOf(row: LedgerRow, period: SpendingPeriod, owner: Owner): string {
  const date = new Date(row.day * DAY_MS);
  switch (period) {
    case '5h':
      return String(callOf(row).hours?.[owner]);
    case 'daily':
      return date.toISOString().slice(0, 10);
    case 'weekly':
      return new Date((row.day - ((date.getUTCDay() + 6) % 7)) * DAY_MS).toISOString().slice(0, 10);
    case 'monthly':
      return date.toISOString().slice(0, 7);
    case 'total':
      return 'of all';
  }
}
