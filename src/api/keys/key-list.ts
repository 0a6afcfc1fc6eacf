import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { KeyFilter } from '../../book/keys.ts';
import type { KeyRecord } from '../../domain/key.ts';
import type { KeyStatus } from '../../domain/key-status.ts';
import { readQuery } from '../../domain/shape.ts';
import type { Windows } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyAsked, keyNotFound, type Reader } from '../http/callers.ts';
import { type NextPage, sendPages } from '../http/long-answer.ts';
import { KeyListQuery } from './key-schema.ts';
import { type KeyUse, type KeyView, keyView } from './key-view.ts';
import { keyIdOf } from './keys.ts';

/** Sources of the key views. */
interface KeyViewDeps {
  readonly book: Book;
  readonly ledger: Ledger;
}

const DAY_MS = 86_400_000;

/**
 * Use of each of these keys of one account, in the given order. The book supplies the time of the latest call and the
 * refused calls; await `ledger.flush` first to include all calls so far.
 */
export async function keyUses(
  { book, ledger }: KeyViewDeps,
  accountId: number,
  keys: readonly KeyRecord[],
): Promise<KeyUse[]> {
  const ids = keys.map(({ id }) => id);
  const people = [...new Set(keys.flatMap(({ personId }) => personId ?? []))];
  const owners = [...ids, 'account' as const, ...people.map((personId) => ({ personId }))];
  const [windows, lastCalls, refused, names, account] = await Promise.all([
    ledger.windows(accountId, owners),
    book.lastCalls(accountId, ids),
    book.allRefused(accountId, ids, Date.now() - DAY_MS),
    people.length > 0 ? book.personNames(people) : NO_NAMES,
    book.account(accountId),
  ]);
  const [ofAccount, ...ofPeople] = windows.slice(ids.length);
  return keys.map(({ id, personId }, index) => ({
    windows: windows[index] as Windows,
    memberWindows: personId === null ? undefined : ofPeople[people.indexOf(personId)],
    account: { limits: account?.spendingLimits ?? [], windows: ofAccount as Windows },
    lastUsedAt: lastCalls.get(id),
    isAllRefused: refused.has(id),
    member: personId === null ? null : { id: personId, name: names.get(personId) ?? '' },
  }));
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

/** Views of keys of one account; await `ledger.flush` first to include all calls so far. */
export async function keyViews(
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

/** View of the key in the path. Throws `key_not_found`, also for a key that the reader may not see. */
export async function readKey(deps: KeyViewDeps, reader: Reader, request: FastifyRequest): Promise<KeyView> {
  const keyId = await keyAsked(deps.book, keyIdOf(request), reader);
  const key = keyId === undefined ? undefined : await deps.book.key(reader.accountId, keyId);
  if (key === undefined) throw keyNotFound();
  return await keyViewNow(deps, key);
}

/** Keys of an account to list, in pages of the book. */
interface Asked {
  readonly accountId: number;
  readonly onlyKeyId: number | undefined;
  readonly filter: KeyFilter;
  readonly status: KeyStatus | undefined;
  readonly after: number;
  /** Maximum keys of the answer; undefined for all. */
  readonly limit: number | undefined;
}

/**
 * Streams an account's keys by the query's `limit` and `after` and its filters; with `onlyKeyId`, at most that key, and
 * with `onlyPersonId` the person's. Holds one page of the book in memory, because ten thousand keys with full lists take
 * gigabytes.
 */
export async function sendKeys(
  deps: KeyViewDeps & { readonly pools: Pools },
  request: FastifyRequest,
  reply: FastifyReply,
  { accountId, onlyKeyId, onlyPersonId, owner }: Reader,
): Promise<FastifyReply> {
  const { after = 0, limit, search, personId, status } = readQuery(KeyListQuery, request.query);
  const isOthers = onlyPersonId !== undefined && personId !== undefined && personId !== onlyPersonId;
  const whose = isOthers ? NOBODY : (personId ?? onlyPersonId);
  const filter = { personId: whose, search, ...filterOf(status) };
  await deps.ledger.flush(accountId);
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const next = keyPages(viewsOf(deps, { accountId, onlyKeyId, filter, status, after, limit }), limit);
  return await sendPages(deps.pools, reply, { owner, headers }, next);
}

/** Ids of people start at 1. */
const NOBODY = 0;

/** What of a status the book can find. */
function filterOf(status: KeyStatus | undefined): KeyFilter {
  if (status === undefined) return {};
  const isActive = status !== 'inactive';
  return status === 'expired' ? { isActive, expiredAt: Date.now() } : { isActive };
}

/** Views of the keys, in parts that can be empty. */
async function* viewsOf(
  deps: KeyViewDeps,
  { accountId, onlyKeyId, filter, status, after, limit }: Asked,
): AsyncGenerator<KeyView[], undefined> {
  let place = onlyKeyId === undefined ? after : Math.max(after, onlyKeyId - 1);
  // One more than asked for says whether there is a next page.
  const atOnce = status === undefined && limit !== undefined ? limit + 1 : undefined;
  for (;;) {
    const keys = await deps.book.keys(accountId, place, atOnce, filter);
    const last = keys.at(-1);
    if (!last) return;
    place = last.id;
    const seen = onlyKeyId === undefined ? keys : keys.filter(({ id }) => id === onlyKeyId);
    const views = await keyViews(deps, accountId, seen);
    yield status === undefined ? views : views.filter((view) => view.status === status);
    if (onlyKeyId !== undefined) return;
  }
}

/** The answer as text, from parts of its keys; `limit`: most keys, with `next`. */
function keyPages(parts: AsyncGenerator<KeyView[], undefined>, limit: number | undefined): NextPage {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let opening = '{"keys":[';
  let lastId = 0;
  let isOver = false;
  return async () => {
    while (!isOver) {
      const { value: views, done } = await parts.next();
      const shown = views?.slice(0, left) ?? [];
      isOver = done === true || shown.length < (views?.length ?? 0);
      if (shown.length === 0 && !isOver) continue;
      left -= shown.length;
      lastId = shown.at(-1)?.id ?? lastId;
      const keys = shown.map((view) => JSON.stringify(view)).join(',');
      const head = opening.startsWith('{') || shown.length > 0 ? opening : '';
      opening = ',';
      return `${head}${keys}${isOver ? endOf(limit, done ? null : lastId) : ''}`;
    }
    return undefined;
  };
}

function endOf(limit: number | undefined, next: number | null): string {
  return limit === undefined ? ']}' : `],"next":${next === null ? null : `"${next}"`}}`;
}
