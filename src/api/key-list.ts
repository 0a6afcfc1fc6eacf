import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../book/book.ts';
import { micro } from '../domain/credits.ts';
import type { KeyRecord } from '../domain/key.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { cursorParam, integerParam, queryOf } from './query.ts';
import { type KeyView, keyView } from './views/key-view.ts';

const NOTHING_SPENT = micro(0);

/** Keys as the API shows them, with what each has spent in its current period. */
export async function keyViews(
  ledger: Ledger,
  accountId: number,
  keys: readonly KeyRecord[],
): Promise<KeyView[]> {
  const periods = keys.map((key) => ({ id: key.id, period: key.spendingPeriod }));
  const spent = await ledger.spent(accountId, periods);
  return keys.map((key, index) => keyView(key, spent[index] ?? NOTHING_SPENT));
}

interface Page {
  readonly after: number;
  /** Most keys of the page; undefined for all. */
  readonly limit: number | undefined;
}

/** Reader of keys with ids above `after`, by id ascending: at most `limit`, and no more than the book gives at once. */
type ReadKeys = (after: number, limit?: number) => Promise<readonly KeyRecord[]>;

/**
 * Streams the keys of an account by the `limit` and `after` of the query; with `onlyKeyId`, that key at most. One page
 * of the book is in memory at a time, because ten thousand keys with full lists are gigabytes. The first page is read
 * before the answer starts, so that a book out of reach is still a clean 503; a later fault breaks the connection.
 */
export async function sendKeys(
  { book, ledger }: { readonly book: Book; readonly ledger: Ledger },
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: number,
  onlyKeyId?: number,
): Promise<FastifyReply> {
  const query = queryOf(request);
  const limit = integerParam(query, 'limit', { min: 1, max: 1_000 });
  const page = { after: cursorParam(query, 'after') ?? 0, limit };
  const chunks = keyChunks(readKeys(book, accountId, onlyKeyId), ledger, accountId, page);
  const first = await chunks.next();
  const body = async function* () {
    if (!first.done) yield first.value;
    yield* chunks;
  };
  return reply.type('application/json; charset=utf-8').send(Readable.from(body()));
}

function readKeys(book: Book, accountId: number, onlyKeyId: number | undefined): ReadKeys {
  if (onlyKeyId === undefined) return (after, limit) => book.keys(accountId, after, limit);
  return async (after) => {
    const own = after < onlyKeyId ? await book.key(accountId, onlyKeyId) : undefined;
    return own ? [own] : [];
  };
}

async function* keyChunks(
  keysAfter: ReadKeys,
  ledger: Ledger,
  accountId: number,
  { after, limit }: Page,
): AsyncGenerator<string, void> {
  let place = after;
  let left = limit ?? Number.POSITIVE_INFINITY;
  let opening = '{"keys":[';
  const read = () => keysAfter(place, limit === undefined ? undefined : left);
  for (let keys = await read(); keys.length > 0; keys = left > 0 ? await read() : []) {
    yield opening + (await texts(ledger, accountId, keys));
    opening = ',';
    place = keys.at(-1)?.id ?? place;
    left -= keys.length;
  }
  const head = opening === ',' ? '' : opening;
  if (limit === undefined) yield `${head}]}`;
  else {
    const isMore = left === 0 && (await keysAfter(place, 1)).length > 0;
    yield `${head}],"next":${isMore ? `"${place}"` : null}}`;
  }
}

async function texts(ledger: Ledger, accountId: number, keys: readonly KeyRecord[]): Promise<string> {
  return (await keyViews(ledger, accountId, keys)).map((view) => JSON.stringify(view)).join(',');
}
