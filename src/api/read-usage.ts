import type { FastifyRequest } from 'fastify';
import type { Book, UsageRow } from '../book/book.ts';
import { creditsString } from '../domain/credits.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import { dayString } from '../domain/period.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { USAGE_NAMES, usageView } from './entry-view.ts';
import { GROUPS } from './ledger-schema.ts';
import { queryOf, wordParam } from './query.ts';
import { keyAsked, type Reader } from './reader.ts';
import { usageDays } from './usage-days.ts';

/** `group_by` and the field that names the group in a row. */
type Group = (typeof GROUPS)[number];
const GROUP_FIELDS = { day: 'day', key: 'key_id', model: 'model' } as const satisfies Record<Group, string>;

export interface UsageReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

/** The sums that a query asks for, of what the reader sees. */
export async function readUsage(
  { book, ledger, now = Date.now }: UsageReading,
  reader: Reader,
  request: FastifyRequest,
) {
  const query = queryOf(request);
  const group = wordParam(query, 'group_by', GROUPS) ?? 'day';
  const { from, to } = usageDays(query, now());
  const keyId = keyAsked(query, reader);
  await ledger.flush(reader.accountId);
  const rows = await book.usage(reader.accountId, from, to + 1, group, keyId);
  return {
    from: dayString(from),
    to: dayString(to),
    group_by: group,
    rows: rows.map((row) => ({ [GROUP_FIELDS[group]]: row.group, ...sums(row) })),
    total: sums(total(rows)),
  };
}

interface Sums {
  readonly calls: number;
  readonly credits: bigint;
  readonly usage: Usage;
}

function sums({ calls, credits, usage }: Sums) {
  return { calls, credits: creditsString(credits), usage: usageView(usage) };
}

function total(rows: readonly UsageRow[]): Sums {
  const usage: Usage = {};
  for (const unit of Object.keys(USAGE_NAMES) as (keyof Usage)[]) {
    const amounts = rows.flatMap((row) => row.usage[unit] ?? []);
    if (amounts.length > 0) usage[unit] = sixDecimals(amounts.reduce((sum, amount) => sum + amount, 0));
  }
  return {
    calls: rows.reduce((sum, row) => sum + row.calls, 0),
    credits: rows.reduce((sum, row) => sum + row.credits, 0n),
    usage,
  };
}

/** Seconds may be fractions, and 0.1 + 0.2 should read 0.3. Credits are integers and never come here. */
function sixDecimals(amount: number): number {
  return Number(amount.toFixed(6));
}
