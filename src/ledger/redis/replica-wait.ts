import type { BucketOwners } from './bucket-owners.ts';
import { holdsRedisKey, waitedRedisKey } from './redis-keys.ts';

/**
 * Maximum wait for the replicas, which acknowledge within a round trip. While a replica is down, each admission takes
 * this long and then fails.
 */
const WITHIN_MS = 200;
/** Attempts, with a refresh of the slot map in between. */
const ATTEMPTS = 3;

const NO_NODE = 'no connection to the node of redis that has this account';
/** Errors of a node without the bucket: MOVED, or no connection to the node that has it. */
const ELSEWHERE = new RegExp(`^(MOVED |${NO_NODE}$)`);

/** Holds that the next WAIT covers: request ids, by bucket. */
type Holds = Map<number, string[]>;

/** A node's answer: the number of replicas that have its writes, and the holds that it has itself. */
interface Answer {
  readonly reached: number;
  readonly held: ReadonlySet<string>;
}

interface Round {
  readonly holds: Holds;
  readonly answer: Promise<Answer>;
}

/**
 * Waits until replicas have earlier holds (REDIS_WAIT_REPLICAS). One WAIT serves everyone who asks within a tick or
 * during another WAIT.
 *
 * WAIT has its own connection, because Redis reads nothing more from a connection that waits. If the gateway is killed
 * then, Redis drops the bytes received meanwhile, which may include the settle of a call whose answer has ended. WAIT
 * covers writes before the last write of its own connection, so it follows a dummy write. The holds are looked up
 * first: a node that took over since the admission may lack them and has replicas of its own.
 */
export class ReplicaWait {
  readonly #calls: BucketOwners;
  readonly #confirming: BucketOwners | undefined;
  readonly #replicas: number;
  readonly #next = new Map<string, Round>();
  readonly #running = new Map<string, Promise<Answer>>();

  /**
   * `calls`: the nodes on the calls' connections. `confirming`: the same nodes on the connections that wait; undefined
   * if `replicas` is 0. `replicas`: how many must have a write; with 0, don't call `confirm`.
   */
  constructor(calls: BucketOwners, confirming: BucketOwners | undefined, replicas: number) {
    this.#calls = calls;
    this.#confirming = confirming;
    this.#replicas = replicas;
  }

  get isOn(): boolean {
    return this.#replicas > 0;
  }

  /** Resolves when the replicas have the hold. Rejects if too few confirm in time, or its node does not answer. */
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

  /** Queries the bucket's node. Rejects if it does not answer or has moved. */
  async #query(bucket: number, requestId: string): Promise<Answer> {
    const owner = this.#calls.ownerOf(bucket);
    if (owner === undefined) throw new Error('no node of redis is known to have this account');
    let round = this.#next.get(owner);
    if (!round) {
      const before = this.#running.get(owner) ?? new Promise<void>((resolve) => setImmediate(resolve));
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
    this.#running.set(owner, waited);
    const ended = () => {
      if (this.#running.get(owner) === waited) this.#running.delete(owner);
    };
    waited.then(ended, ended);
    return waited;
  }
}
