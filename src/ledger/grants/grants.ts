import type { Grant } from '../../book/book.ts';
import type { Micro } from '../../domain/credits.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { LedgerUnavailable } from '../ledger.ts';
import type { LiveAccess } from '../recovery/live-access.ts';
import { REBUILDS } from '../recovery/rebuild.ts';
import type { RedisClient } from '../redis/connect.ts';
import { bucketOf } from '../redis/redis-keys.ts';
import { applyGrant } from './apply-grant.ts';

/** Applies grants to the live balance, each once however often it is asked for. */
export class Grants {
  readonly #client: RedisClient;
  readonly #live: LiveAccess;
  readonly #drain: JournalDrain;

  constructor(parts: { client: RedisClient; live: LiveAccess; drain: JournalDrain }) {
    this.#client = parts.client;
    this.#live = parts.live;
    this.#drain = parts.drain;
  }

  /** The balance after it. Throws BalanceBeyondBound or LedgerUnavailable. */
  async apply(grant: Omit<Grant, 'balanceAfter'>): Promise<Micro> {
    const { accountId } = grant;
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const balance = await this.#live.ask(accountId, () => applyGrant(this.#client, grant));
      if (balance !== undefined) {
        this.#drain.touch(bucketOf(accountId));
        return balance;
      }
      await this.#live.rebuild(accountId);
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }
}
