import type { Model } from '../../domain/catalog.ts';
import { foldName, invalidJson, otherCase } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { DROPPED_FIELDS, refuseObeyed } from '../../metering/members.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { RootNames } from './json/json-reader.ts';

/**
 * Fields that checks and holds read, of all endpoints. None may repeat, because an upstream could read the other one.
 */
export const INSPECTED_FIELDS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ members = [] }) =>
    [...members].filter(([, { isRead }]) => isRead).map(([name]) => name),
  ),
);

/**
 * Refuses inspected fields that repeat, in any spelling, or have escapes in their name, and fields that a gateway behind
 * the upstream's address obeys.
 */
export class InspectedNames implements RootNames {
  readonly #seen = new Set<string>();

  take(name: string, isEscaped: boolean): boolean {
    const folded = foldName(name);
    if (!INSPECTED_FIELDS.has(folded) && !DROPPED_FIELDS.has(folded)) {
      refuseObeyed(folded);
      return false;
    }
    if (this.#seen.has(folded)) {
      throw invalidJson(`The request body has the field "${folded}" more than once. Send it once.`, folded);
    }
    // An upstream that ignores case would read an unchecked value.
    if (name !== folded) throw otherCase('The body', name, folded);
    if (isEscaped) {
      throw invalidJson(
        `The request body has escapes in the name of the field "${folded}". Write it plainly.`,
        folded,
      );
    }
    this.#seen.add(folded);
    return true;
  }
}

const DAY_MS = 86_400_000;
/** Maximum names reported per account and day: clients can make names up. */
const MAX_NAMES = 20;

/** Reports unknown members of admitted calls, by the log and a metric: each name once a day (UTC). */
export class UnknownMembers {
  readonly #count: (name: string) => void;
  readonly #reported = new Set<string>();
  /** Names reported by account. */
  readonly #counts = new Map<number, number>();
  #day = 0;

  /** `count` counts a name for the metric. */
  constructor(count: (name: string) => void) {
    this.#count = count;
  }

  note(names: readonly string[], model: Model, accountId: number, log: Log, now = Date.now()): void {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) {
      this.#reported.clear();
      this.#counts.clear();
    }
    this.#day = day;
    for (const member of names) {
      const count = this.#counts.get(accountId) ?? 0;
      if (count >= MAX_NAMES) return;
      if (this.#reported.has(member)) continue;
      this.#reported.add(member);
      this.#counts.set(accountId, count + 1);
      this.#count(member);
      log.warn(
        { member, model: model.slug },
        'a request has a field that this version of Tollgate does not know; check whether the provider bills for it',
      );
    }
  }
}
