import type { BucketOwners } from './bucket-owners.ts';

/** Replicas acknowledge within a round trip; while one is away every admission takes this long, and then fails. */
const WITHIN_MS = 200;

/**
 * Waits until replicas have what was written (REDIS_WAIT_REPLICAS). One WAIT serves all who ask in one tick: it covers
 * every write that its connection has sent before.
 */
export class ReplicaWait {
  readonly #owners: BucketOwners;
  readonly #replicas: number;
  #asked = new Map<string, Promise<number>>();

  /** `replicas`: 0 waits for none. */
  constructor(owners: BucketOwners, replicas: number) {
    this.#owners = owners;
    this.#replicas = replicas;
  }

  get isOn(): boolean {
    return this.#replicas > 0;
  }

  /** Rejects where fewer replicas than asked for have it in time. */
  async confirm(bucket: number): Promise<void> {
    const owner = this.#owners.ownerOf(bucket);
    const node = owner === undefined ? undefined : this.#owners.node(owner);
    if (owner === undefined || !node) throw new Error('no node of redis is known to have this account');
    let asked = this.#asked.get(owner);
    if (!asked) {
      asked = node.wait(this.#replicas, WITHIN_MS);
      this.#asked.set(owner, asked);
      setImmediate(() => this.#asked.delete(owner));
    }
    const reached = await asked;
    if (reached < this.#replicas) throw new Error(`${reached} of ${this.#replicas} replicas have the hold`);
  }
}
