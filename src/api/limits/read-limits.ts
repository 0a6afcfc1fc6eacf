import type { FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { creditsNumber, creditsString, micro } from '../../domain/credits.ts';
import { periodStarts } from '../../domain/period.ts';
import { readQuery } from '../../domain/shape.ts';
import {
  limitsOfKey,
  NO_WINDOWS,
  resetsAt,
  type SpendingLimit,
  spentIn,
  type Windows,
} from '../../domain/spending-limits.ts';
import type { Ledger, WindowOwner } from '../../ledger/ledger.ts';
import type { Reader } from '../http/callers.ts';
import { seesAll } from '../http/seen.ts';
import { type AccountLimitsView, type AccountLimitView, LimitsQuery } from './account-limit-view.ts';

export interface LimitsReading {
  readonly book: Book;
  readonly ledger: Ledger;
}

/** An account, a member or a key with spending limits. */
interface LimitedOwner {
  readonly of: AccountLimitView['of'];
  /** Where Redis counts its spend; undefined: a member without keys. */
  readonly owner: WindowOwner | undefined;
  readonly limits: readonly SpendingLimit[];
  /** True if the reader may not see the spend. */
  readonly isHidden?: boolean;
}

interface Ranked {
  readonly of: LimitedOwner;
  /** All but what is held, which does not decide the place. */
  readonly view: Omit<AccountLimitView, 'held'>;
  /** Part of the limit that is spent. */
  readonly share: number;
}

/**
 * Spending limits that a reader sees, of which the largest share is spent first. Reads only what has a limit, in parts
 * of 500 keys, each with one write to Redis, and the holds of those that are shown.
 */
export async function readLimits(
  { book, ledger }: LimitsReading,
  reader: Reader,
  request: FastifyRequest,
): Promise<AccountLimitsView> {
  const { limit, of: type, minShare } = readQuery(LimitsQuery, request.query);
  await ledger.flush(reader.accountId);
  let best: Ranked[] = [];
  let total = 0;
  for await (const owners of ownersOf(book, reader)) {
    const asked = owners.filter(({ of }) => type === undefined || of.type === type);
    const matching = (await ranked(ledger, reader.accountId, asked)).filter(({ share }) => share >= minShare);
    total += matching.length;
    best = [...best, ...matching].sort((a, b) => b.share - a.share).slice(0, limit);
  }
  return { limits: await Promise.all(best.map((one) => withHeld(ledger, reader.accountId, one))), total };
}

/** Owners of the limits that the reader sees: those that bind it, or all. */
async function* ownersOf(book: Book, reader: Reader): AsyncGenerator<LimitedOwner[]> {
  const { accountId, onlyKeyId } = reader;
  const only = onlyKeyId === undefined ? undefined : await book.key(accountId, onlyKeyId);
  const account = await book.account(accountId);
  if (account) {
    const of = { type: 'account', id: accountId, name: account.name, person_id: null } as const;
    yield [{ of, owner: 'account', limits: account.spendingLimits, isHidden: !seesAll(reader) }];
  }
  yield await membersOf(book, accountId, seesAll(reader) ? 'all' : (reader.onlyPersonId ?? only?.personId));
  if (only) yield [keyOwner(only)];
  else yield* keysOf(book, reader);
}

async function membersOf(
  book: Book,
  accountId: number,
  which: 'all' | number | null | undefined,
): Promise<LimitedOwner[]> {
  if (which == null) return [];
  const members = await (which === 'all' ? book.members(accountId) : book.member(accountId, which));
  const limited = [members ?? []]
    .flat()
    .filter(({ isActive, spendingLimits }) => isActive && spendingLimits.length > 0);
  const counts = await book.keyCounts(
    accountId,
    limited.map(({ personId }) => personId),
  );
  return limited.map(({ person: { id, name, email }, spendingLimits: limits }) => ({
    of: { type: 'member', id, name: name || email, person_id: id },
    owner: counts.has(id) ? { personId: id } : undefined,
    limits,
  }));
}

async function* keysOf(book: Book, { accountId, onlyPersonId }: Reader): AsyncGenerator<LimitedOwner[]> {
  for (let after = 0; ; ) {
    const keys = await book.limitedKeys(accountId, after, onlyPersonId);
    if (keys.length === 0) return;
    yield keys.map(keyOwner);
    after = keys.at(-1)?.id ?? after;
  }
}

function keyOwner(
  key: Parameters<typeof limitsOfKey>[0] & { id: number; name: string; personId: number | null },
): LimitedOwner {
  const { id, name, personId } = key;
  return { of: { type: 'key', id, name, person_id: personId }, owner: id, limits: limitsOfKey(key) };
}

async function ranked(ledger: Ledger, accountId: number, owners: readonly LimitedOwner[]): Promise<Ranked[]> {
  const limited = owners.filter(({ limits }) => limits.length > 0);
  const counted = limited.flatMap(({ owner }) => owner ?? []);
  const windows = await ledger.windows(accountId, counted);
  const now = ledger.now(accountId);
  const live = new Map(counted.map((owner, index) => [owner, windows[index]]));
  return limited.flatMap((one) => {
    const spent = (one.owner === undefined ? undefined : live.get(one.owner)) ?? NO_WINDOWS;
    return one.limits.map((limit) => limitOf(one, limit, spent, now));
  });
}

async function withHeld(ledger: Ledger, accountId: number, { of, view }: Ranked): Promise<AccountLimitView> {
  if (of.isHidden) return { ...view, held: null };
  const { held } = of.owner === undefined ? NOTHING_HELD : await ledger.reserved(accountId, of.owner);
  return { ...view, held: creditsString(held) };
}

const NOTHING_HELD = { held: micro(0) };

function limitOf(
  owner: LimitedOwner,
  { period, credits }: SpendingLimit,
  windows: Windows,
  now: number,
): Ranked {
  const { of, isHidden = false } = owner;
  const spent = spentIn(windows, period, periodStarts(now), now);
  const shown = (amount: number) => (isHidden ? null : creditsString(micro(amount)));
  const share = credits > 0 ? spent / credits : 1;
  return {
    of: owner,
    view: {
      of,
      period,
      credits: creditsNumber(credits),
      spent: shown(spent),
      left: shown(Math.max(0, credits - spent)),
      resets_at: resetsAt(period, windows.hours, now),
    },
    // The order, too, would tell a hidden spend.
    share: isHidden ? 0 : share,
  };
}
