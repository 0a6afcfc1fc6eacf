import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { newWebhookSecret } from '../src/alerts/send.ts';
import type { Book } from '../src/book/book.ts';
import { type BookPlace, openBook } from '../src/book/open-book.ts';
import { micro } from '../src/domain/credits.ts';
import { DEFAULT_SETTINGS } from '../src/domain/key-settings.ts';
import { newKeyValue } from '../src/domain/key-value.ts';

const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;
/** Keys of the owner whose account has half of all rows. With three models, that makes 300 sums a day. */
const OWNER_KEYS = 100;
const MAX_OTHERS = 10_000;
const ALERTS = 10_000;
/** Micro-credits of every charge. Each account starts with the cost of a year, and some more. */
const CHARGE = 120;
const START = 1_000_000_000_000;

export interface BigBook {
  /** The owner of half of the ledger. */
  readonly accountId: number;
  readonly keyIds: readonly number[];
  /** Value of the owner's first key. */
  readonly key: string;
  /** Entries of the owner's account; their seq is 1 to this. */
  readonly entries: number;
  /** Accounts that share the other half, ids from `accountId` + 1. */
  readonly others: number;
}

/** One SQL statement that needs no answer. */
export type Run = (sql: string) => Promise<void>;

/**
 * Fills an empty book with this many ledger rows of the last year, and the matching sums, keys, accounts and alerts, by
 * a dozen statements. Ten million rows through the gateway would take hours. The balances agree.
 */
export async function fillBook(place: BookPlace, rows: number): Promise<BigBook> {
  const book = await openBook(place);
  const owner = await makeOwner(book);
  await book.close();
  const big = { ...owner, entries: Math.floor(rows / 2), others: Math.min(MAX_OTHERS, Math.ceil(rows / 20)) };
  await withSql(place, (run, engine) => fill(run, engine, big, rows - big.entries));
  return big;
}

async function makeOwner(book: Book): Promise<Omit<BigBook, 'entries' | 'others'>> {
  const { value, hash, prefix } = newKeyValue('sk-tg-');
  const settings = { ...DEFAULT_SETTINGS, name: 'bench', canManage: true };
  const account = {
    email: 'owner@example.com',
    alertThreshold: micro(0),
    webhookSecret: newWebhookSecret(),
  };
  const made = await book.createAccount(account, { ...settings, hash, prefix }, null, Date.now());
  const keyIds = [made.key.id];
  while (keyIds.length < OWNER_KEYS) {
    const key = { ...settings, hash: randomBytes(32).toString('hex'), prefix };
    keyIds.push((await book.createKey(made.account.id, key, Date.now())).id);
  }
  return { accountId: made.account.id, keyIds, key: value };
}

const SUM_COLUMNS =
  'calls, credits, input, output, cached_input, cache_write, characters, images, audio_seconds, video_seconds';
const SUMS = `sum(calls), sum(credits), sum(input), sum(output), sum(cached_input), sum(cache_write), sum(characters),
  sum(images), sum(audio_seconds), sum(video_seconds)`;

type Engine = 'sqlite' | 'postgres';

export async function withSql(
  place: Pick<BookPlace, 'dataDir'> & { readonly databaseUrl?: string | undefined },
  work: (run: Run, engine: Engine) => Promise<void>,
): Promise<void> {
  if (place.databaseUrl !== undefined) {
    const client = new pg.Client({ connectionString: place.databaseUrl });
    await client.connect();
    await work(async (sql) => void (await client.query(sql)), 'postgres');
    await client.end();
    return;
  }
  const db = new DatabaseSync(join(place.dataDir, 'book.sqlite'));
  // Favors speed: if the machine fails, fill the book again.
  db.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000');
  await work(async (sql) => db.exec(sql), 'sqlite');
  db.exec('pragma journal_mode = wal');
  db.close();
}

async function fill(run: Run, engine: Engine, big: BigBook, otherRows: number): Promise<void> {
  const { accountId, keyIds, entries, others } = big;
  const each = Math.ceil(otherRows / others);
  const today = Math.floor(Date.now() / DAY_MS);
  const firstKey = keyIds[0] ?? 0;
  const firstOtherKey = (keyIds.at(-1) ?? 0) + 1;
  await run('begin');
  await run(accountRows(engine, others));
  await run(keyRows(accountId));
  // Three models and a hundred keys have no common divisor: every key has calls of every model.
  const ownKey = `${firstKey} + i % ${keyIds.length}`;
  await run(
    ledgerRows({
      numbers: numbers(engine, entries),
      account: String(accountId),
      seq: 'i',
      key: ownKey,
      of: entries,
      today,
    }),
  );
  const other = `${accountId + 1} + i % ${others}`;
  const seq = `i / ${others} + 1`;
  const otherKey = `${firstOtherKey} + i % ${others}`;
  const from0 = `(select i - 1 as i from ${numbers(engine, each * others)}) as zero`;
  await run(ledgerRows({ numbers: from0, account: other, seq, key: otherKey, of: each, today }));
  await run(`insert into spend_days (account_id, key_id, model, day, upstream, ${SUM_COLUMNS}) select account_id, key_id, model, day, 'openai', count(*), -sum(credits),
    count(*) * 200, count(*) * 100, 0, 0, 0, 0, 0, 0 from ledger where type = 'charge' group by 1, 2, 3, 4`);
  await run(
    `insert into spend_model_days (account_id, day, model, upstream, ${SUM_COLUMNS})
    select account_id, day, model, 'openai', ${SUMS} from spend_days group by 1, 2, 3`,
  );
  await run(`insert into spend_key_months (account_id, month, key_id, ${SUM_COLUMNS})
    select account_id, ${monthOf(engine)}, key_id, ${SUMS}
    from spend_days group by 1, 2, 3`);
  await run(`update accounts set seq = ${entries}, balance = ${balanceAfter(entries)}, last_entry_at = ${today * DAY_MS}
    where id = ${accountId}`);
  await run(`update accounts set seq = ${each}, balance = ${balanceAfter(each)},
    last_entry_at = ${today * DAY_MS} - (id % 100) * ${DAY_MS} where id > ${accountId}`);
  await run('update accounts set last_entry_hour = last_entry_at / 3600000');
  await run(alertRows(engine, accountId));
  await run(`insert into deliveries (alert_id, key_id, url, status, http_status, duration_ms, attempted_at)
    select id, ${firstKey}, 'https://example.com/hook', 'delivered', 200, 12, created_at from alerts`);
  await run(refusalRows(engine, accountId, firstKey, entries));
  await run('commit');
  // As autovacuum does within minutes.
  if (engine === 'postgres') await run('vacuum analyze');
}

/** The first day of the month of a column's day, in days since the epoch. */
function monthOf(engine: Engine): string {
  return engine === 'postgres'
    ? "cast(date_trunc('month', date '1970-01-01' + day) as date) - date '1970-01-01'"
    : "unixepoch(day * 86400, 'unixepoch', 'start of month') / 86400";
}

/** A table of one column, i, from 1. */
export function numbers(engine: Engine, count: number): string {
  if (engine === 'postgres') return `generate_series(1, ${count}) as numbers(i)`;
  return `(with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${count})
    select i from numbers) as numbers`;
}

function accountRows(engine: Engine, count: number): string {
  return `insert into accounts (email, email_key, alert_threshold, is_active, webhook_secret, published_version, created_at, updated_at)
    select 'o' || i || '@example.com', 'o' || i || '@example.com', 0, 1, 'whsec_dGVzdA==', 1, 1, 1
    from ${numbers(engine, count)} order by i`;
}

function keyRows(ownerId: number): string {
  return `insert into keys (account_id, hash, prefix, name, description, is_active, can_manage, allowed_models,
      allowed_categories, spending_period, active_hours, allowed_ips, allowed_origins, blocked_countries, webhook_url,
      bytes, published_version, created_at, updated_at)
    select id, 'hash-' || id, 'sk-tg-abcd', 'first', '', 1, 1, '[]', '[]', 'monthly', '', '[]', '[]', '[]', '', 100, 1, 1, 1
    from accounts where id > ${ownerId} order by id`;
}

/**
 * Entries of one or many accounts, spread evenly over the year that ends today. The first entry of each account is its
 * top-up.
 */
function ledgerRows(rows: {
  numbers: string;
  account: string;
  seq: string;
  key: string;
  of: number;
  today: number;
}): string {
  const { account, seq, key, of, today } = rows;
  const outcome = `case when (${seq}) % 100 = 0 then 'upstream_error' else 'complete' end`;
  const day = `${today - YEAR_DAYS + 1} + cast((${seq}) as bigint) * ${YEAR_DAYS - 1} / ${of}`;
  return `insert into ledger (account_id, seq, id, epoch, type, created_at, day, key_id, model, category, endpoint, status,
      outcome, usage, estimated, credits, balance_after, started_at, code, upstream)
    select ${account}, ${seq}, 'req_' || (${account}) || 'AbCdEfGhIj' || (${seq}), 0,
      case when ${seq} = 1 then 'top_up' else 'charge' end, (${day}) * ${DAY_MS}, ${day},
      case when ${seq} = 1 then null else ${key} end, 'bench-model-' || ((${seq}) % 3), 'text', '/v1/chat/completions', 200,
      ${outcome}, '{"input":200,"output":100}', 0, case when ${seq} = 1 then ${START} else ${-CHARGE} end,
      ${START} - cast((${seq}) - 1 as bigint) * ${CHARGE},
      case when ${seq} = 1 then null else (${day}) * ${DAY_MS} + (${seq}) % ${DAY_MS} end,
      case when (${seq}) % 100 = 0 then 'rate_limit_exceeded' else null end, 'openai'
    from ${rows.numbers}`;
}

/** Refused calls of the owner, as many as its ledger entries, spread evenly over the last 30 days. */
function refusalRows(engine: Engine, accountId: number, keyId: number, count: number): string {
  const at = `${Date.now() - 30 * DAY_MS} + cast(i as bigint) * ${Math.floor((30 * DAY_MS) / count)}`;
  return `insert into refusals (id, account_id, key_id, created_at, minute, is_rest, repeated, model, category, endpoint, streamed,
      status, code, told)
    select 'refused_' || i, ${accountId}, ${keyId} + i % ${OWNER_KEYS}, ${at}, (${at}) / 60000, 0, 1, 'bench-model-' || (i % 3), 'text',
      '/v1/chat/completions', 0, 402, case when i % 1000 = 0 then 'ip_not_allowed' else 'insufficient_credits' end,
      '{"slug":null,"message":"Refused.","param":null,"durationMs":1,"userAgent":null,"detail":null}'
    from ${numbers(engine, count)} order by i`;
}

function balanceAfter(entries: number): number {
  return START - (entries - 1) * CHARGE;
}

function alertRows(engine: Engine, accountId: number): string {
  return `insert into alerts (account_id, created_at, credits_balance, test, state)
    select ${accountId}, i, 0, 1, 'claimed' from ${numbers(engine, ALERTS)} order by i`;
}
