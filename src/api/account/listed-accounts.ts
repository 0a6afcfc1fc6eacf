import type { AccountSums } from '../../book/account-sums.ts';
import { creditsString } from '../../domain/credits.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { lastsDays } from '../../domain/pace.ts';
import { timestamp } from '../../domain/period.ts';
import {
  type AccountPlace,
  type AccountSort,
  type ListedAccountView,
  type liveAmounts,
  operatorAccountView,
} from './account-view.ts';

const DAY_MS = 86_400_000;

/** Adds what an account did lately. */
export function listedAccountView(
  account: AccountRecord,
  live: Awaited<ReturnType<typeof liveAmounts>>,
  sums: AccountSums,
  now: number,
): ListedAccountView {
  return {
    ...operatorAccountView(account, live),
    spent_30d: creditsString(sums.spent),
    lasts_days: lastsDays(live.balance, sums, Math.floor(now / DAY_MS)),
    refused_24h: sums.refusedOfDay,
    out_of_credits: sums.refused > 0,
    last_used_at: sums.lastCallAt === null ? null : timestamp(sums.lastCallAt),
  };
}

/** The value by which an account is sorted; null: it has none. */
const VALUES: Readonly<Record<AccountSort, (sums: AccountSums, today: number) => number | null>> = {
  id: ({ id }) => id,
  balance: ({ balance }) => balance,
  spend: ({ spent }) => Number(spent),
  lasts: (sums, today) => lastsDays(sums.balance, sums, today),
  refused: ({ refusedOfDay }) => refusedOfDay,
  last_used: ({ lastCallAt }) => lastCallAt,
};

/**
 * Ids of a page of accounts, by a value. A page begins after the place of the last account of the one before, so
 * accounts whose values change meanwhile shift no others.
 */
export async function sortedPage(
  parts: AsyncIterable<readonly AccountSums[]>,
  sort: AccountSort | `-${AccountSort}`,
  after: AccountPlace | undefined,
  limit: number,
  now: number,
): Promise<{ readonly ids: readonly number[]; readonly next: string | null }> {
  const isDescending = sort.startsWith('-');
  const sortValue = VALUES[(isDescending ? sort.slice(1) : sort) as AccountSort];
  const compare = comparer(isDescending);
  const today = Math.floor(now / DAY_MS);
  const places: AccountPlace[] = [];
  for await (const part of parts) {
    const some = part.map((sums) => ({ value: sortValue(sums, today), id: sums.id }));
    places.push(...some.filter((place) => after === undefined || compare(place, after) > 0));
  }
  places.sort(compare);
  const page = places.slice(0, limit);
  const last = places.length > limit ? page.at(-1) : undefined;
  return { ids: page.map(({ id }) => id), next: last === undefined ? null : cursorOf(last) };
}

function cursorOf({ value, id }: AccountPlace): string {
  return `${value ?? 'none'}:${id}`;
}

function comparer(isDescending: boolean) {
  return (one: AccountPlace, other: AccountPlace): number => {
    if (one.value === other.value) return one.id - other.id;
    if (one.value === null || other.value === null) return one.value === null ? 1 : -1;
    return isDescending ? other.value - one.value : one.value - other.value;
  };
}
