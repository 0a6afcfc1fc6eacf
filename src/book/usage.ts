import { micro } from '../domain/credits.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import type { Book, UsageRow } from './book.ts';
import { USAGE_COLUMNS } from './spend-days.ts';
import type { Store } from './store.ts';

const GROUP_COLUMNS = { day: 'day', key: 'key_id', model: 'model' } as const;
const DAY_MS = 86_400_000;

export function usageQueries({ db }: Store): Pick<Book, 'usage'> {
  return {
    async usage(accountId, fromDay, toDay, groupBy) {
      const column = GROUP_COLUMNS[groupBy];
      const rows = await db
        .selectFrom('spend_days')
        .select(`${column} as place`)
        .select(({ fn }) => [
          fn.sum<number>('calls').as('calls'),
          fn.sum<number>('credits').as('credits'),
          fn.sum<number>('input').as('input'),
          fn.sum<number>('output').as('output'),
          fn.sum<number>('cached_input').as('cached_input'),
          fn.sum<number>('cache_write').as('cache_write'),
          fn.sum<number>('characters').as('characters'),
          fn.sum<number>('images').as('images'),
          fn.sum<number>('audio_seconds').as('audio_seconds'),
          fn.sum<number>('video_seconds').as('video_seconds'),
        ])
        .where('account_id', '=', accountId)
        .where('day', '>=', fromDay)
        .where('day', '<', toDay)
        .groupBy(column)
        .execute();
      // Sorted here: the engines order text differently.
      return rows.sort(byPlace).map((row) => ({
        group: groupName(groupBy, row.place),
        calls: row.calls,
        credits: micro(row.credits),
        usage: usageOf(row),
      }));
    },
  };
}

type Sums = Record<keyof typeof USAGE_COLUMNS, number>;

/** Absent = 0. */
function usageOf(sums: Sums): Usage {
  const used = Object.entries(USAGE_COLUMNS).map(([column, field]) => [field, sums[column as keyof Sums]]);
  return Object.fromEntries(used.filter(([, amount]) => amount !== 0));
}

function byPlace(a: { place: string | number }, b: { place: string | number }): number {
  return a.place < b.place ? -1 : Number(a.place > b.place);
}

function groupName(groupBy: 'day' | 'key' | 'model', place: string | number): UsageRow['group'] {
  if (groupBy === 'day') return new Date(Number(place) * DAY_MS).toISOString().slice(0, 10);
  return place === '' ? null : place;
}
