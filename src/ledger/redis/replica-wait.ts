import type { BucketOwners } from './bucket-owners.ts';
import { holdsRedisKey, waitedRedisKey } from './redis-keys.ts';

/**
 * Longest wait for the replicas, which acknowledge within a round trip. While a replica is away, each admission takes
 * this long and then fails.
 */
const WITHIN_MS = 200;
/** Attempts to ask a node: a cluster that has just changed is looked up again in between. */
const ATTEMPTS = 3;

const NO_NODE = 'no connection to the node of redis that has this account';
/** Errors of a node that does not have the bucket: MOVED, or no connection to the node that has. */
const ELSEWHERE = new RegExp(`^(MOVED |${NO_NODE}$)`);

/** Holds that the next WAIT is to cover: request ids, by bucket. */
type Holds = Map<number, string[]>;

/** Answer of a node: the number of replicas that have its writes, and those of the holds that it has itself. */
interface Answer {
  readonly reached: number;
  readonly held: ReadonlySet<string>;
}

interface Round {
  readonly holds: Holds;
  readonly answer: Promise<Answer>;
}

/**
 * Waits until replicas have the holds that were taken before (REDIS_WAIT_REPLICAS). One WAIT serves everybody who asks
 * within a tick, or while another WAIT is under way.
 *
 * WAIT uses its own connection. Redis reads nothing further from a connection that waits; if the gateway
 * is killed then, Redis drops the bytes that came meanwhile, and the settle of a call whose answer has ended may be
 * among them. WAIT covers writes before the last write of its own connection, so it follows a write of a
 * Redis key that nobody reads. The holds are looked up before: a node that took over since the admission may lack them,
 * and has replicas of its own.
 */
export class ReplicaWait {
  readonly #calls: BucketOwners;
  readonly #confirming: BucketOwners | undefined;
  readonly #replicas: number;
  readonly #next = new Map<string, Round>();
  readonly #underWay = new Map<string, Promise<Answer>>();

  /**
   * `calls`: the nodes by the connections of the calls. `confirming`: the same nodes by the connections that wait;
   * undefined if `replicas` is 0. `replicas`: how many must have a write; with 0, `confirm` must not be called.
   */
  constructor(calls: BucketOwners, confirming: BucketOwners | undefined, replicas: number) {
    this.#calls = calls;
    this.#confirming = confirming;
    this.#replicas = replicas;
  }

  get isOn(): boolean {
    return this.#replicas > 0;
  }

  /** Resolves when the replicas have the hold of the call. Rejects if too few do in time, or its node does not. */
  async confirm(bucket: number, requestId: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { reached, held } = await this.#query(bucket, requestId);
        if (!held.has(requestId))
          throw new Error('the node that has this account now does not have the hold');
        if (reached >= this.#replicas) return;
        throw new Error(`${reached} of ${this.#replicas} replicas have the hold`);
      } catch (error) {
        if (!(error instanceof Error) || !ELSEWHERE.test(error.message) || attempt === ATTEMPTS) throw error;
        await Promise.all([this.#calls.refreshed(), this.#confirming?.refreshed()]);
      }
    }
  }

  /** Asks the bucket's node. Rejects if it does not answer, or is another one. */
  async #query(bucket: number, requestId: string): Promise<Answer> {
    const owner = this.#calls.ownerOf(bucket);
    if (owner === undefined) throw new Error('no node of redis is known to have this account');
    let round = this.#next.get(owner);
    if (!round) {
      const before = this.#underWay.get(owner) ?? new Promise<void>((resolve) => setImmediate(resolve));
      const holds: Holds = new Map();
      const begun = () => {
        this.#next.delete(owner);
        return this.#wait(owner, holds);
      };
      round = { holds, answer: before.then(begun, begun) };
      this.#next.set(owner, round);
    }
    round.holds.set(bucket, [...(round.holds.get(bucket) ?? []), requestId]);
    return await round.answer;
  }

  #wait(owner: string, holds: Holds): Promise<Answer> {
    const node = this.#confirming?.commandsOn(owner);
    if (!node) return Promise.reject(new Error(NO_NODE));
    const found = [...holds].map(async ([bucket, ids]) => {
      const texts = await node.hmget(holdsRedisKey(bucket), ...ids);
      return ids.filter((_, index) => texts[index] !== null);
    });
    const writes = [...holds.keys()].map((bucket) => node.set(waitedRedisKey(bucket), ''));
    const waited = Promise.all([node.wait(this.#replicas, WITHIN_MS), Promise.all(found), ...writes]).then(
      ([reached, ids]) => ({ reached, held: new Set(ids.flat()) }),
    );
    this.#underWay.set(owner, waited);
    const ended = () => {
      if (this.#underWay.get(owner) === waited) this.#underWay.delete(owner);
    };
    waited.then(ended, ended);
    return waited;
  }
}
