import type { Redis } from 'ioredis';
import type { Book } from '../../src/book/book.ts';
import { callLimitsOf, hasCallLimits, NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import type { AccountRecord, KeyRecord } from '../../src/domain/key.ts';
import type { Admission, TokenCorrection } from '../../src/ledger/ledger.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { admissionOf, chargeOf } from './ledger.ts';

export interface LimitedCall extends Omit<Partial<Admission>, 'limits' | 'hold'> {
  /** Tokens that it is likely to use; default 1. */
  readonly tokens?: number;
  /** Micro-credits; default 1,000,000. */
  readonly hold?: number;
  /** Its account, where that was changed or has limits. */
  readonly owner?: AccountRecord | undefined;
}

/** An admission of a call, subject to the limits in the records of its key and of its account. */
export function callWith(key: KeyRecord, call: LimitedCall = {}): Admission {
  const { tokens = 1, hold = 1_000_000, owner, ...more } = call;
  const account = owner ? callLimitsOf(owner) : NO_CALL_LIMITS;
  const isLimited = hasCallLimits(key) || hasCallLimits(account);
  return admissionOf(key, hold / 1e6, {
    ...(isLimited && { limits: { key: callLimitsOf(key), account, tokens } }),
    ...(owner && { accountVersion: owner.version }),
    ...more,
  });
}

interface Parts {
  readonly book: Book;
  readonly open: Pick<OpenLedger, 'ledger'>;
}

/** Changes a key, in the book and in Redis. */
export async function changeKey(
  { book, open }: Parts,
  { accountId, id }: Pick<KeyRecord, 'accountId' | 'id'>,
  change: Parameters<Book['updateKey']>[2],
): Promise<KeyRecord> {
  const changed = await book.updateKey(accountId, id, change, Date.now());
  if (!changed) throw new Error('there is no such key');
  await open.ledger.publishKey(changed);
  return changed;
}

/** Changes an account, in the book and in Redis. */
export async function changeAccount(
  { book, open }: Parts,
  accountId: number,
  change: Parameters<Book['updateAccount']>[1],
): Promise<AccountRecord> {
  const changed = await book.updateAccount(accountId, change, Date.now());
  if (!changed) throw new Error('there is no such account');
  await open.ledger.publishAccount(changed);
  return changed;
}

/** Admits a call that is expected to be held. Resolves with what settles it, with 0 credits. */
export async function held({ ledger }: Pick<OpenLedger, 'ledger'>, admission: Admission) {
  const admitted = await ledger.admit(admission);
  if (admitted.verdict !== 'held') throw new Error(`the call is ${admitted.verdict}`);
  return (correction?: TokenCorrection) =>
    new Promise<void>((resolve) => ledger.settle(chargeOf(admission, 0), resolve, correction));
}

/** A bucket as it stands in a hash; `at`: ms since the epoch, `since`: version of the record that set the limit. */
export async function storedBucket(raw: Redis, name: string, field: 'rq' | 'tk') {
  const [debt, at, since] = ((await raw.hget(name, field)) ?? '').split(' ').map(Number);
  return { debt: debt as number, at: at as number, since: since as number };
}
