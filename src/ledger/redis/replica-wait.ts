import type { BucketOwners } from './bucket-owners.ts';

/** Longest wait for the replicas, which acknowledge within a round trip. While one is away, admissions take this long and fail. */
const WITHIN_MS = 200;

/**
 * Waits until replicas have the writes that were sent before (REDIS_WAIT_REPLICAS). One WAIT serves everybody who asks in a
 * tick: it covers every write that its connection has sent.
 */
export class ReplicaWait {
  readonly #owners: BucketOwners;
  readonly #replicas: number;
  #asked = new Map<string, Promise<number>>();

  /** `replicas`: how many must have a write; 0: `confirm` is not to be called. */
  constructor(owners: BucketOwners, replicas: number) {
    this.#owners = owners;
    this.#replicas = replicas;
  }

  get isOn(): boolean {
    return this.#replicas > 0;
  }

  /** Resolves when the replicas have every write sent to the bucket's node. Rejects where too few do in time. */
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
