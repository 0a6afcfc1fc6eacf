import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import type { UsageByRow, UsagePlace, UsageRow } from '../../book/usage.ts';
import { invalidField } from '../../domain/errors.ts';
import { addMargin, type MarginSums, noMargin } from '../operator/margin-view.ts';
import type { Names } from './usage-view.ts';

/** Rows of a report by two things, or by hour: none of the steps that make it holds the event loop for 50 ms. */
const MOST_ROWS = 15_000;

/** Joins the parts of a report, each group once, in the order of its places. Throws `invalid_field` if there are too many. */
export async function joinedGroups(parts: AsyncIterable<readonly UsageByRow[]>): Promise<UsageByRow[]> {
  const joined = new Map<string, UsageByRow | Joined>();
  for await (const rows of parts) {
    for (const row of rows) {
      const name = row.groups.join('\0');
      const known = joined.get(name);
      // Most groups are in one part only, and need no sums of their own.
      if (known) joined.set(name, sumOf(known, row));
      else joined.set(name, row);
    }
    if (joined.size > MOST_ROWS) {
      throw invalidField('from', `The report has more than ${MOST_ROWS} rows. Ask for fewer days.`);
    }
  }
  await nextTurn();
  const sorted = [...joined.values()].sort(byPlaces);
  await nextTurn();
  return sorted;
}

type Joined = MarginSums & Pick<UsageByRow, 'groups'>;

function sumOf(known: UsageByRow | Joined, row: UsageByRow): Joined {
  const sums = { ...noMargin(), groups: row.groups };
  addMargin(sums, known);
  addMargin(sums, row);
  return sums;
}

function byPlaces(a: Pick<UsageByRow, 'groups'>, b: Pick<UsageByRow, 'groups'>): number {
  return (
    comparePlaces(a.groups[0] ?? null, b.groups[0] ?? null) ||
    comparePlaces(a.groups[1] ?? null, b.groups[1] ?? null)
  );
}

function comparePlaces(a: UsageRow['group'], b: UsageRow['group']): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

/** The names of the keys and accounts in rows, as far as the report tells them apart. */
export async function namesIn(
  book: Pick<Book, 'keyNames' | 'emails'>,
  groups: readonly UsagePlace[],
  rows: readonly { readonly groups: UsageByRow['groups'] }[],
): Promise<Names> {
  const idsOf = (group: UsagePlace) => {
    const at = groups.indexOf(group);
    return at < 0
      ? []
      : [...new Set(rows.map((row) => row.groups[at]).filter((id) => typeof id === 'number'))];
  };
  const [keys, accounts] = [idsOf('key'), idsOf('account')];
  return {
    keys: keys.length > 0 ? await book.keyNames(keys) : NO_NAMES,
    emails: accounts.length > 0 ? await book.emails(accounts) : NO_NAMES,
  };
}
