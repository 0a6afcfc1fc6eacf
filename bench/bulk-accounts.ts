import { newWebhookSecret } from '../src/alerts/send.ts';
import { settingColumns } from '../src/book/key-row.ts';
import { openBook } from '../src/book/open-book.ts';
import { newKeyValue } from '../src/domain/key-value.ts';
import { type Account, CREDITS, RESTRICTED, THRESHOLD } from './accounts.ts';
import { numbers, type Run, withSql } from './big-book.ts';
import type { Place } from './gateway.ts';

const MICRO = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROWS_A_STATEMENT = 1_000;
/**
 * One in this many accounts crosses its threshold, so the checks have alerts to count. An alert takes its own
 * transaction, once in the life of an account. With 10,000 crossings in turn, a call cost some 50 µs more, which says
 * nothing about a call.
 */
const ACCOUNTS_AN_ALERT = 100;

/**
 * Makes accounts with credits and restricted keys in an empty book by a few statements. A hundred thousand keys one by
 * one would take minutes. Redis has none of them, so the gateway loads each on first use.
 */
export async function makeManyAccounts(
  place: Place,
  { accounts, keysEach }: { accounts: number; keysEach: number },
): Promise<Account[]> {
  await (await openBook({ databaseUrl: place.databaseUrl, dataDir: place.dataDir })).close();
  const values = Array.from({ length: accounts * keysEach }, () => newKeyValue('sk-tg-'));
  await withSql(place, async (run, engine) => {
    await run('begin');
    await run(accountRows(numbers(engine, accounts)));
    await run(topUpRows());
    await insertKeys(run, keysEach, values);
    await run('commit');
    if (engine === 'postgres') await run('vacuum analyze');
  });
  // The book was empty, so ids start at 1.
  return Array.from({ length: accounts }, (_, index) => ({
    id: index + 1,
    keys: values.slice(index * keysEach, (index + 1) * keysEach).map(({ value }) => value),
  }));
}

function accountRows(from: string): string {
  const now = Date.now();
  const threshold = `case when i % ${ACCOUNTS_AN_ALERT} = 1 then ${THRESHOLD * MICRO} else 0 end`;
  return `insert into accounts (id, email, email_key, alert_threshold, is_active, webhook_secret, balance, seq,
      published_version, last_entry_at, last_entry_hour, created_at, updated_at)
    select i, 'owner-' || i || '@example.com', 'owner-' || i || '@example.com', ${threshold}, 1,
      '${newWebhookSecret()}', ${CREDITS * MICRO}, 1, 1, ${now}, ${Math.floor(now / HOUR_MS)}, 1, 1
    from ${from} order by i`;
}

function topUpRows(): string {
  return `insert into ledger (account_id, seq, id, epoch, type, created_at, day, usage, estimated, credits, balance_after)
    select id, 1, 'grant-' || id, epoch, 'top_up', last_entry_at, last_entry_at / ${DAY_MS}, '{}', 0, balance, balance
    from accounts`;
}

async function insertKeys(
  run: Run,
  keysEach: number,
  values: readonly { readonly hash: string; readonly prefix: string }[],
): Promise<void> {
  const settings = settingColumns(RESTRICTED);
  const literals = Object.values(settings).map(literal).join(', ');
  for (let from = 0; from < values.length; from += ROWS_A_STATEMENT) {
    const rows = values.slice(from, from + ROWS_A_STATEMENT).map(({ hash, prefix }, index) => {
      const account = Math.floor((from + index) / keysEach) + 1;
      return `(${account}, '${hash}', '${prefix}', ${literals}, 1, 1, 1)`;
    });
    await run(`insert into keys (account_id, hash, prefix, ${Object.keys(settings).join(', ')}, published_version,
      created_at, updated_at) values ${rows.join(', ')}`);
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}
