import type { BucketOwners } from './bucket-owners.ts';
import { waitedRedisKey } from './redis-keys.ts';

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

/** Buckets whose writes the next WAIT is to cover. */
interface Round {
  readonly buckets: Set<number>;
  readonly reached: Promise<number>;
}

/**
 * Waits until replicas have the writes that were made before (REDIS_WAIT_REPLICAS). One WAIT serves everybody who asks
 * within a tick, or while another WAIT is under way.
 *
 * WAIT goes over a connection of its own. Redis reads nothing further from a connection that waits; where the gateway
 * is killed then, Redis drops the bytes that came meanwhile, and the settle of a call whose answer has ended may be
 * among them. WAIT covers what was written before the last write of its own connection, so it follows a write of a
 * Redis key that nobody reads.
 */
export class ReplicaWait {
  readonly #calls: BucketOwners;
  readonly #confirming: BucketOwners | undefined;
  readonly #replicas: number;
  readonly #next = new Map<string, Round>();
  readonly #underWay = new Map<string, Promise<number>>();

  /**
   * `calls`: the nodes by the connections of the calls. `confirming`: the same nodes by the connections that wait;
   * undefined where `replicas` is 0. `replicas`: how many must have a write; with 0, `confirm` must not be called.
   */
  constructor(calls: BucketOwners, confirming: BucketOwners | undefined, replicas: number) {
    this.#calls = calls;
    this.#confirming = confirming;
    this.#replicas = replicas;
  }

  get isOn(): boolean {
    return this.#replicas > 0;
  }

  /** Resolves when the replicas have every write that the bucket's node has made. Rejects where too few do in time. */
  async confirm(bucket: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const reached = await this.#reached(bucket);
        if (reached >= this.#replicas) return;
        throw new Error(`${reached} of ${this.#replicas} replicas have the hold`);
      } catch (error) {
        if (!(error instanceof Error) || !ELSEWHERE.test(error.message) || attempt === ATTEMPTS) throw error;
        await this.#confirming?.refreshed();
      }
    }
  }

  /** The number of replicas that have the bucket's writes. Rejects where its node does not answer, or is another one. */
  async #reached(bucket: number): Promise<number> {
    const owner = this.#calls.ownerOf(bucket);
    if (owner === undefined) throw new Error('no node of redis is known to have this account');
    let round = this.#next.get(owner);
    if (!round) {
      const before = this.#underWay.get(owner) ?? new Promise<void>((resolve) => setImmediate(resolve));
      const buckets = new Set<number>();
      const begun = () => {
        this.#next.delete(owner);
        return this.#wait(owner, buckets);
      };
      round = { buckets, reached: before.then(begun, begun) };
      this.#next.set(owner, round);
    }
    round.buckets.add(bucket);
    return await round.reached;
  }

  #wait(owner: string, buckets: ReadonlySet<number>): Promise<number> {
    const node = this.#confirming?.writer(owner);
    if (!node) return Promise.reject(new Error(NO_NODE));
    const writes = [...buckets].map((bucket) => node.set(waitedRedisKey(bucket), ''));
    const waited = Promise.all([node.wait(this.#replicas, WITHIN_MS), ...writes]).then(
      ([reached]) => reached,
    );
    this.#underWay.set(owner, waited);
    const ended = () => {
      if (this.#underWay.get(owner) === waited) this.#underWay.delete(owner);
    };
    waited.then(ended, ended);
    return waited;
  }
}
