import { BalanceBeyondBound, LedgerUnavailable } from '../ledger.ts';
import { bucketOf } from '../redis/redis-keys.ts';
import type { ConnectionGate } from './connection-gate.ts';
import type { Rebuilder } from './rebuild.ts';

/** Access to the live state of accounts. Whatever goes wrong becomes LedgerUnavailable: the caller answers 503. */
export class LiveAccess {
  readonly #gate: ConnectionGate;
  readonly #rebuilder: Rebuilder;

  constructor(gate: ConnectionGate, rebuilder: Rebuilder) {
    this.#gate = gate;
    this.#rebuilder = rebuilder;
  }

  /** Runs commands about an account once the gate lets them through. Passes BalanceBeyondBound on. */
  async ask<T>(accountId: number, commands: () => Promise<T>): Promise<T> {
    const bucket = bucketOf(accountId);
    if (!this.#gate.isOpen(bucket)) await this.#gate.opened(bucket);
    return await orUnavailable(commands);
  }

  /** Rebuilds the account's live state, where `keyId` or the account was found not to be live. */
  async rebuild(accountId: number, keyId?: number | null): Promise<void> {
    try {
      await this.#rebuilder.rebuild(accountId, { keyId });
    } catch (error) {
      throw new LedgerUnavailable('the live state could not be rebuilt', { cause: error });
    }
  }
}

/** Runs commands without waiting at the gate; their failure becomes LedgerUnavailable. Passes BalanceBeyondBound on. */
export async function orUnavailable<T>(commands: () => Promise<T>): Promise<T> {
  try {
    return await commands();
  } catch (error) {
    if (error instanceof BalanceBeyondBound) throw error;
    throw new LedgerUnavailable('redis did not answer', { cause: error, reason: 'no_answer' });
  }
}
