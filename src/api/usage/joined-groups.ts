import type { Book, UsageByRow, UsagePlace, UsageRow } from '../../book/book.ts';
import { invalidField } from '../../domain/errors.ts';
import { addMargin, type MarginSums, noMargin } from '../operator/margin-view.ts';
import type { Names } from './usage-view.ts';

/** Rows of a report by two things, or by hour; more would take too much memory. */
const MOST_ROWS = 50_000;

/** Joins the parts of a report, each group once, in the order of its places. Throws `invalid_field` where there are too many. */
export async function joinedGroups(parts: AsyncIterable<readonly UsageByRow[]>): Promise<UsageByRow[]> {
  const joined = new Map<string, MarginSums & { readonly groups: UsageByRow['groups'] }>();
  for await (const rows of parts) {
    for (const row of rows) {
      const name = JSON.stringify(row.groups);
      const sums = joined.get(name) ?? { ...noMargin(), groups: row.groups };
      joined.set(name, sums);
      addMargin(sums, row);
    }
    if (joined.size > MOST_ROWS) {
      throw invalidField('from', `The report has more than ${MOST_ROWS} rows. Ask for fewer days.`);
    }
  }
  return [...joined.values()].sort((a, b) => byPlaces(a.groups, b.groups));
}

function byPlaces(a: UsageByRow['groups'], b: UsageByRow['groups']): number {
  for (const [at, value] of a.entries()) {
    const order = comparePlaces(value, b[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
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
