import type { FastifyRequest } from 'fastify';
import type { Book } from '../book/book.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { GROUPS } from './ledger-schema.ts';
import { queryOf, wordParam } from './query.ts';
import { keyAsked, type Reader } from './reader.ts';
import { usageDays } from './usage-days.ts';
import { type UsageReportView, usageReportView } from './views/usage-view.ts';

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
): Promise<UsageReportView> {
  const query = queryOf(request);
  const group = wordParam(query, 'group_by', GROUPS) ?? 'day';
  const days = usageDays(query, now());
  const keyId = keyAsked(query, reader);
  await ledger.flush(reader.accountId);
  const rows = await book.usage(reader.accountId, days.from, days.to + 1, group, keyId);
  return usageReportView(days, group, rows);
}
