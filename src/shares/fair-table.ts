/** Part of a table that one account may fill. */
const PART_OF_ONE = 8;

interface Entry<Value> {
  readonly accountId: number;
  readonly value: Value;
}

/**
 * A table of bounded size that all accounts share; the newest entries stay. An account has at most an eighth of it, and
 * loses its own oldest first.
 */
export class FairTable<Value> {
  readonly #size: number;
  /** Each in the order in which entries were set. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #namesOf = new Map<number, Set<string>>();

  constructor(size: number) {
    this.#size = size;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  /** A name belongs to one account. */
  set(accountId: number, name: string, value: Value): void {
    this.#delete(name);
    const names = this.#namesOf.get(accountId) ?? new Set();
    this.#namesOf.set(accountId, names.add(name));
    this.#entries.set(name, { accountId, value });
    const all = names.size > this.#size / PART_OF_ONE ? names : this.#entries;
    const [oldest] = all.keys();
    if (oldest !== undefined && (all === names || all.size > this.#size)) this.#delete(oldest);
  }

  #delete(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    const names = this.#namesOf.get(entry.accountId);
    names?.delete(name);
    if (names?.size === 0) this.#namesOf.delete(entry.accountId);
  }
}
