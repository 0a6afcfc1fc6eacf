import { foldName, invalidJson, otherCase } from '../../../domain/errors.ts';
import { ENDPOINTS } from '../../endpoints.ts';
import type { RootNames } from './json-reader.ts';

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
