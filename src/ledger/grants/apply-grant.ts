import type { Grant } from '../../book/book.ts';
import { MAX_BALANCE, type Micro, micro } from '../../domain/credits.ts';
import type { EntryDraft } from '../../domain/ledger-entry.ts';
import { periodStarts } from '../../domain/period.ts';
import { draftText } from '../journal/entry-text.ts';
import { BalanceBeyondBound, IDEMPOTENCY_MARKER_MS } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, journalRedisKey } from '../redis/redis-keys.ts';

/**
 * Moves the balance by a grant that the book has recorded, once however often it is asked for (lua/apply.lua). Returns the
 * balance after it, or undefined where the account's live state must be rebuilt first. Rejects with BalanceBeyondBound
 * where the grant is refused, for good, and with the Redis error.
 */
export async function applyGrant(
  client: RedisClient,
  grant: Omit<Grant, 'balanceAfter'>,
): Promise<Micro | undefined> {
  const { accountId } = grant;
  const bucket = bucketOf(accountId);
  const starts = periodStarts(Date.now());
  const [reply, balance] = await client.apply(
    accountRedisKey(accountId),
    accountRedisKey(accountId),
    holdsRedisKey(bucket),
    journalRedisKey(bucket),
    grant.id,
    0,
    Date.now() + IDEMPOTENCY_MARKER_MS,
    grant.amount,
    starts.day,
    starts.week,
    starts.month,
    draftText(grantDraft(grant)),
    MAX_BALANCE,
  );
  if (reply === 'BEYOND') throw new BalanceBeyondBound();
  return reply === 'MISSING' ? undefined : micro(Number(balance));
}

/** The ledger entry of a change of balance that an operator ordered. */
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
