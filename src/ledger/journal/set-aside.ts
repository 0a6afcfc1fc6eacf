import type { Log } from '../../log/log.ts';

/**
 * Entries that stay in their journal because the book does not take them: no gateway wrote them, the balance has no room for
 * them, or a constraint of their account's rows refuses them. Each is logged once, and counted as long as it is found again.
 */
export class SetAside {
  readonly #log: Log;
  readonly #found = new Map<number, Set<string>>();
  readonly #before = new Map<number, ReadonlySet<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  get count(): number {
    return [...this.#found.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Begins a new count for a bucket, whose journal is read from its start: entries still refused are found again. */
  beginAnew(bucket: number): void {
    this.#before.set(bucket, this.#found.get(bucket) ?? new Set());
    this.#found.delete(bucket);
  }

  add(bucket: number, streamId: string, about: object): void {
    const found = this.#found.get(bucket);
    if (found) found.add(streamId);
    else this.#found.set(bucket, new Set([streamId]));
    if (this.#before.get(bucket)?.has(streamId)) return;
    this.#log.error(
      { bucket, streamId, ...about },
      'a journal entry cannot be booked; it is kept for repair, and others go on',
    );
  }
}
