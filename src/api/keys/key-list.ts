import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { readQuery } from '../../domain/shape.ts';
import type { Windows } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import type { Reader } from '../http/callers.ts';
import { type NextPage, sendPages } from '../http/long-answer.ts';
import { KeyListQuery } from './key-schema.ts';
import { type KeyUse, type KeyView, keyView } from './key-view.ts';

/** Sources of the key views. */
interface KeyViewDeps {
  readonly book: Book;
  readonly ledger: Ledger;
}

/**
 * Use of each of these keys of one account, in the given order. The book supplies the time of the latest call; await
 * `ledger.flush` first to include all calls so far.
 */
export async function keyUses(
  { book, ledger }: KeyViewDeps,
  accountId: number,
  keys: readonly KeyRecord[],
): Promise<KeyUse[]> {
  const ids = keys.map(({ id }) => id);
  const [windows, lastCalls] = await Promise.all([
    ledger.windows(accountId, ids),
    book.lastCalls(accountId, ids),
  ]);
  return keys.map(({ id }, index) => ({
    windows: windows[index] as Windows,
    lastUsedAt: lastCalls.get(id),
  }));
}

async function keyViews(
  deps: KeyViewDeps,
  accountId: number,
  keys: readonly KeyRecord[],
): Promise<KeyView[]> {
  const uses = await keyUses(deps, accountId, keys);
  return keys.map((key, index) => keyView(key, uses[index] as KeyUse, deps.ledger.now(accountId)));
}

/** View of one key, with its calls so far. */
export async function keyViewNow(deps: KeyViewDeps, key: KeyRecord): Promise<KeyView> {
  await deps.ledger.flush(key.accountId);
  const [view] = await keyViews(deps, key.accountId, [key]);
  return view as KeyView;
}

interface Page {
  readonly after: number;
  /** Maximum keys of the page; undefined for all. */
  readonly limit: number | undefined;
}

/** Reads keys with ids above `after`, ascending: at most `limit`, and at most one page of the book. */
type ReadKeys = (after: number, limit?: number) => Promise<readonly KeyRecord[]>;

/**
 * Streams an account's keys by the query's `limit` and `after`; with `onlyKeyId`, at most that key, and with `onlyPersonId` the person's. Holds one page of
 * the book in memory, because ten thousand keys with full lists take gigabytes.
 */
export async function sendKeys(
  deps: KeyViewDeps & { readonly pools: Pools },
  request: FastifyRequest,
  reply: FastifyReply,
  { accountId, onlyKeyId, onlyPersonId, owner }: Reader,
): Promise<FastifyReply> {
  const { after = 0, limit } = readQuery(KeyListQuery, request.query);
  const page = { after, limit };
  const next = keyPages(readKeys(deps.book, { accountId, onlyKeyId, onlyPersonId }), deps, accountId, page);
  await deps.ledger.flush(accountId);
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return await sendPages(deps.pools, reply, { owner, headers }, next);
}

function readKeys(book: Book, { accountId, onlyKeyId, onlyPersonId }: Omit<Reader, 'owner'>): ReadKeys {
  if (onlyKeyId === undefined) return (after, limit) => book.keys(accountId, after, limit, onlyPersonId);
  return async (after) => {
    const own = after < onlyKeyId ? await book.key(accountId, onlyKeyId) : undefined;
    return own ? [own] : [];
  };
}

function keyPages(
  keysAfter: ReadKeys,
  deps: KeyViewDeps,
  accountId: number,
  { after, limit }: Page,
): NextPage {
  let place = after;
  let left = limit ?? Number.POSITIVE_INFINITY;
  let opening = '{"keys":[';
  let isOver = false;
  return async () => {
    if (isOver) return undefined;
    const keys = left > 0 ? await keysAfter(place, limit === undefined ? undefined : left) : [];
    if (keys.length > 0) {
      const text = opening + (await texts(deps, accountId, keys));
      opening = ',';
      place = keys.at(-1)?.id ?? place;
      left -= keys.length;
      return text;
    }
    isOver = true;
    const head = opening === ',' ? '' : opening;
    if (limit === undefined) return `${head}]}`;
    const isMore = left === 0 && (await keysAfter(place, 1)).length > 0;
    return `${head}],"next":${isMore ? `"${place}"` : null}}`;
  };
}

async function texts(deps: KeyViewDeps, accountId: number, keys: readonly KeyRecord[]): Promise<string> {
  return (await keyViews(deps, accountId, keys)).map((view) => JSON.stringify(view)).join(',');
}
