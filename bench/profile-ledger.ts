import { openBook } from '../src/book/open-book.ts';
import { isPostgresInstalled, startPostgres } from '../test/helper/start/postgres-server.ts';
import { type BigBook, fillBook } from './big-book.ts';
import { type BookQuery, bookQueries } from './book-queries.ts';
import type { Check } from './check.ts';
import { Cleanup } from './cleanup.ts';
import { api, makePlace, type Place, startGateway } from './gateway.ts';
import type { Options } from './options.ts';
import type { Server } from './program.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { percentile } from './rounds.ts';
import { startSharedRedis } from './shared-redis.ts';

/** Limit for every query, however long the ledger. */
const BAR_MS = 50;
const REPEATS = 9;
const DAY_MS = 86_400_000;
/** This gateway never forwards a call. */
const NO_UPSTREAM = 'http://127.0.0.1:9';

const COLUMNS: readonly Column[] = [
  { key: 'sqliteMs', title: 'SQLite p50 ms', digits: 1 },
  { key: 'sqliteMaxMs', title: 'max', digits: 1 },
  { key: 'postgresMs', title: 'PostgreSQL p50 ms', digits: 1 },
  { key: 'postgresMaxMs', title: 'max', digits: 1 },
];

interface Timed {
  readonly p50: number;
  readonly max: number;
}

/** Times of all queries of a gateway and its owners in a book with many rows, half of them of one account. */
export async function ledger({ rows }: Options): Promise<ProfileReport> {
  const about = `a year's ledger of ${rows} rows, half of them of one account with 100 keys; each query ${REPEATS} times`;
  const sqlite = await onBook(rows, undefined);
  const postgres = isPostgresInstalled() ? await onPostgres(rows) : new Map<string, Timed>();
  const table: Row[] = [...sqlite].map(([target, { p50, max }]) => ({
    target,
    values: {
      sqliteMs: p50,
      sqliteMaxMs: max,
      postgresMs: postgres.get(target)?.p50 ?? null,
      postgresMaxMs: postgres.get(target)?.max ?? null,
    },
  }));
  const checks = [barOf('SQLite', sqlite), ...(postgres.size > 0 ? [barOf('PostgreSQL', postgres)] : [])];
  return { profile: 'ledger', about, columns: COLUMNS, rows: table, checks, notes: [] };
}

function barOf(engine: string, timed: ReadonlyMap<string, Timed>): Check {
  const slow = [...timed].filter(([, { p50 }]) => p50 > BAR_MS);
  return {
    name: `${engine}: every query within ${BAR_MS} ms`,
    holds: slow.length === 0,
    detail: slow.length === 0 ? `${timed.size} queries` : slow.map(([name]) => name).join('; '),
  };
}

async function onPostgres(rows: number): Promise<Map<string, Timed>> {
  const postgres = await startPostgres();
  try {
    return await onBook(rows, postgres.url('postgres'));
  } finally {
    await postgres.stop();
  }
}

async function onBook(rows: number, databaseUrl: string | undefined): Promise<Map<string, Timed>> {
  const cleanup = new Cleanup();
  try {
    const shared =
      databaseUrl === undefined ? {} : { databaseUrl, redisUrl: await startSharedRedis(cleanup) };
    const place = makePlace(cleanup, NO_UPSTREAM, shared);
    const big = await fillBook({ databaseUrl, dataDir: place.dataDir }, rows);
    return new Map([...(await askBook(place, big)), ...(await askGateway(cleanup, place, big))]);
  } finally {
    await cleanup.run();
  }
}

async function askBook({ databaseUrl, dataDir }: Place, big: BigBook): Promise<Map<string, Timed>> {
  const book = await openBook({ databaseUrl, dataDir });
  try {
    return await timeAll(bookQueries(book, big));
  } finally {
    await book.close();
  }
}

async function askGateway(cleanup: Cleanup, place: Place, big: BigBook): Promise<Map<string, Timed>> {
  const gateway = await startGateway(cleanup, place);
  const timed = await timeAll(ownersCalls(gateway, big));
  await gateway.stop();
  return timed;
}

function ownersCalls(gateway: Server, { key, keyIds, entries }: BigBook): BookQuery[] {
  const day = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
  const year = `from=${day(365)}&to=${day(0)}`;
  const paths = [
    '/api/account/',
    '/api/account/ledger/',
    '/api/account/calls/',
    '/api/account/calls/?result=refused',
    `/api/account/ledger/?before=${Math.floor(entries / 2)}`,
    `/api/account/ledger/?key_id=${keyIds.at(-1)}`,
    `/api/account/usage/?${year}&group_by=day`,
    `/api/account/usage/?${year}&group_by=key`,
    `/api/account/usage/?${year}&group_by=model`,
    '/api/keys/',
    '/api/account/alerts/',
  ];
  return paths.map((path) => ({
    name: `GET ${path.replace(year, 'year')}`,
    run: () => api(gateway, 'GET', path, key),
  }));
}

async function timeAll(queries: readonly BookQuery[]): Promise<Map<string, Timed>> {
  const all = new Map<string, Timed>();
  for (const query of queries) {
    const milliseconds: number[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      await query.prepare?.();
      const startedAt = performance.now();
      await query.run();
      milliseconds.push(performance.now() - startedAt);
    }
    milliseconds.sort((a, b) => a - b);
    all.set(query.name, { p50: percentile(milliseconds, 0.5), max: milliseconds.at(-1) ?? Number.NaN });
  }
  return all;
}
