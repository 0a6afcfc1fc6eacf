import { readBook } from '../test/helper/check/book-reader.ts';
import type { Account } from './accounts.ts';
import { api, type Place } from './gateway.ts';
import type { Server } from './program.ts';

export interface Check {
  readonly name: string;
  readonly holds: boolean;
  /** Counted values. */
  readonly detail: string;
}

/** The exact first number of the first row. */
type Ask = (sql: string) => Promise<bigint>;

/**
 * Checks invariants 1 to 4 of specification section 5 after the gateways have stopped, with its own SQL and connection
 * and without any code of the gateway. `upstreamCalls`: number of gateway calls that the upstream saw.
 */
export async function checkBook(place: Place, upstreamCalls: number): Promise<Check[]> {
  return await readBook(place, (rows) => {
    const ask: Ask = async (sql) => {
      const [row = {}] = await rows<Record<string, bigint>>(sql);
      return Object.values(row)[0] ?? 0n;
    };
    return checkWith(ask, upstreamCalls);
  });
}

async function checkWith(ask: Ask, upstreamCalls: number): Promise<Check[]> {
  const accounts = await ask('select count(*) from accounts');
  const unequal = await ask(`
    select count(*) from accounts a where a.balance <> (
      select coalesce(sum(l.credits), 0) from ledger l where l.account_id = a.id)`);
  const negative = await ask(`
    select count(*) from ledger l join accounts a on a.id = l.account_id where l.balance_after < -a.overdraft`);
  const overLimit = await ask(`
    select count(*) from keys k join accounts a on a.id = k.account_id where k.spending_limit + a.overdraft < (
      select -coalesce(sum(l.credits), 0) from ledger l where l.account_id = k.account_id and l.key_id = k.id)`);
  const rows = await ask("select count(*) from ledger where type in ('charge', 'expired_hold')");
  const ids = await ask("select count(distinct id) from ledger where type in ('charge', 'expired_hold')");
  const crossings = await ask(`
    select count(*) from ledger l join accounts a on a.id = l.account_id
    where l.credits < 0 and l.balance_after < a.alert_threshold
      and l.balance_after - l.credits >= a.alert_threshold`);
  const alerts = await ask('select count(*) from alerts where test = 0');
  return [
    {
      name: '1 ledger = balance',
      holds: unequal === 0n,
      detail: `${accounts} accounts, ${unequal} differ`,
    },
    {
      name: '2 nothing overspent',
      holds: negative === 0n && overLimit === 0n,
      detail: `${negative} balances below 0 or the overdraft, ${overLimit} keys above their limit`,
    },
    {
      name: '3 one row a call',
      holds: rows === BigInt(upstreamCalls) && ids === rows,
      detail: `${upstreamCalls} calls reached the upstream, ${rows} rows, ${ids} ids`,
    },
    {
      name: '4 one alert a crossing',
      holds: crossings === alerts,
      detail: `${crossings} crossings, ${alerts} alerts`,
    },
  ];
}

const ASKED_AT_ONCE = 16;

/** Checks at the running gateway that without traffic nothing is held, and no live balance is below 0. */
export async function checkLive(gateway: Server, accounts: readonly Account[]): Promise<Check> {
  let held = 0;
  let negative = 0;
  const left = [...accounts];
  const askSome = async () => {
    for (let account = left.pop(); account; account = left.pop()) {
      const key = account.keys[0] ?? '';
      const { credits_held, credits_balance } = await api<{ credits_held: number; credits_balance: number }>(
        gateway,
        'GET',
        '/api/account/',
        key,
      );
      if (credits_held !== 0) held += 1;
      if (credits_balance < 0) negative += 1;
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askSome));
  return {
    name: 'nothing left held',
    holds: held === 0 && negative === 0,
    detail: `${accounts.length} accounts, ${held} with holds, ${negative} below 0`,
  };
}
