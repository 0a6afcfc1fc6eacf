import type { Model } from '../../domain/catalog.ts';
import type { Log } from '../../log/log.ts';

const DAY_MS = 86_400_000;
/** Names that are remembered for a day. Clients make names up; further ones count as one. */
const MOST_NAMES = 500;

/** Reports members of requests that no table of ours has: each name once a day (UTC), of whatever call has it first. */
export class UnknownMembers {
  readonly #reported = new Set<string>();
  #day = 0;

  note(names: readonly string[], model: Model, log: Log, now = Date.now()): void {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) this.#reported.clear();
    this.#day = day;
    for (const member of names) {
      if (this.#reported.has(member) || this.#reported.size >= MOST_NAMES) continue;
      this.#reported.add(member);
      log.warn(
        { member, model: model.slug },
        'a request has a field that this version of Tollgate does not know; check whether the provider bills for it',
      );
    }
  }
}
