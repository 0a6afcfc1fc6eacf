import type { Grant } from '../../book/grants.ts';
import { MAX_BALANCE, type Micro, micro } from '../../domain/credits.ts';
import type { EntryDraft, HourStarts } from '../../domain/ledger-entry.ts';
import type { PeriodStarts } from '../../domain/period.ts';
import { BalanceBeyondBound } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import { postingRedisKeys } from '../redis/redis-keys.ts';
import { draftText } from './entry-text.ts';

/** Lifetime of an idempotency marker; a repeat comes within seconds. */
const MARKER_MS = 24 * 3_600_000;

interface PostingTerms {
  /** Periods of the spend. */
  readonly starts: PeriodStarts;
  /** Redis' time, in milliseconds since the epoch. Not for refunds. */
  readonly now?: number;
  /** The five hours in which a refunded charge counted. */
  readonly hours?: HourStarts | undefined;
  /** Required epoch of the account; default: any. */
  readonly epoch?: string;
  /** Maximum absolute balance minus holds, in micro-credits. An entry beyond it is refused for good. */
  readonly mostBalance?: number;
}

/** Reply of lua/post-once.lua, with the balance if the entry is posted. */
export type PostedOnce =
  | { readonly reply: 'APPLIED' | 'DONE'; readonly balance: Micro }
  | { readonly reply: 'MISSING' | 'REBUILT' | 'HELD' | 'BEYOND' };

/** Posts an entry without a hold, idempotently (lua/post-once.lua). Rejects with the Redis error. */
export async function postOnce(
  client: RedisClient,
  draft: EntryDraft,
  { starts, now = 0, hours, epoch, mostBalance }: PostingTerms,
): Promise<PostedOnce> {
  const { accountId, keyId, personId } = draft;
  const keys = postingRedisKeys(accountId, keyId, personId);
  const [reply, balance] = await client.postOnce(
    keys.length,
    ...keys,
    draft.id,
    keyId === null ? 0 : 1,
    draft.credits,
    `${starts.day} ${starts.week} ${starts.month} ${hours ? `${hours.key} ${hours.account} ${hours.member ?? 0}` : `${now} ${draft.admittedAt ?? 0}`}`,
    draftText(draft),
    Date.now() + MARKER_MS,
    epoch ?? '',
    mostBalance ?? '',
  );
  if (reply === 'APPLIED' || reply === 'DONE') return { reply, balance: micro(Number(balance)) };
  return { reply };
}

/**
 * Applies a recorded grant idempotently (lua/post-once.lua). `epoch`: the account's when the book had no entry of the
 * grant; in a later one the book may have it, without an idempotency marker in Redis. `starts`: current periods.
 * Returns the balance after it, or undefined if the account is not live in that epoch. Rejects with BalanceBeyondBound
 * if the grant is refused for good, and with the Redis error.
 */
export async function applyGrant(
  client: RedisClient,
  grant: Omit<Grant, 'balanceAfter'>,
  epoch: string,
  starts: PeriodStarts,
): Promise<Micro | undefined> {
  const posted = await postOnce(client, grantDraft(grant), {
    starts,
    epoch,
    mostBalance: MAX_BALANCE,
  });
  if (posted.reply === 'BEYOND') throw new BalanceBeyondBound();
  return 'balance' in posted ? posted.balance : undefined;
}

function grantDraft(grant: Omit<Grant, 'balanceAfter'>): EntryDraft {
  const { id, type, accountId, createdAt, amount, note } = grant;
  return {
    id,
    type,
    accountId,
    keyId: null,
    createdAt,
    model: null,
    category: null,
    endpoint: null,
    status: null,
    outcome: null,
    usage: {},
    estimated: false,
    credits: amount,
    ...(note ? { note } : {}),
  };
}
