import type { Model } from '../../domain/catalog.ts';
import { foldName, invalidJson, otherCase } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { RootNames } from './json/json-reader.ts';

/**
 * Names of the fields that checks and holds read, of all endpoints. None may be repeated, since an upstream could read the
 * other one.
 */
export const INSPECTED_FIELDS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ members = [] }) =>
    [...members].filter(([, { isRead }]) => isRead).map(([name]) => name),
  ),
);

/** The inspected fields of a body, none of which may come twice, in another spelling, or with escapes in its name. */
export class InspectedNames implements RootNames {
  readonly #seen = new Set<string>();

  take(name: string, isEscaped: boolean): boolean {
    const folded = foldName(name);
    if (!INSPECTED_FIELDS.has(folded)) return false;
    if (this.#seen.has(folded)) {
      throw invalidJson(`The request body has the field "${folded}" more than once. Send it once.`, folded);
    }
    // An upstream that ignores the case of names would read a value that was not checked.
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
