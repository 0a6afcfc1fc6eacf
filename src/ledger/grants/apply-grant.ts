import type { Grant } from '../../book/book.ts';
import { MAX_BALANCE, type Micro } from '../../domain/credits.ts';
import type { EntryDraft } from '../../domain/ledger-entry.ts';
import type { PeriodStarts } from '../../domain/period.ts';
import { postOnce } from '../journal/post-once.ts';
import { BalanceBeyondBound } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';

/**
 * Moves the balance by a grant that the book has recorded, once however often it is asked for (lua/post-once.lua). `epoch`: of
 * the account when the book had no entry of the grant. In a later one that may have changed, and the idempotency marker be
 * lost. `starts`: the periods of now. Returns the balance after it, or undefined where the account is not live in that epoch. Rejects with
 * BalanceBeyondBound where the grant is refused, for good, and with the Redis error.
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
