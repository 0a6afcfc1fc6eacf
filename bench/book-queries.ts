import type { Book } from '../src/book/book.ts';
import { micro } from '../src/domain/credits.ts';
import type { JournalEntry } from '../src/domain/ledger-entry.ts';
import { periodStarts } from '../src/domain/period.ts';
import { newRequestId } from '../src/domain/request-id.ts';
import type { BigBook } from './big-book.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Maximum number of entries that a bucket adds to a batch of the journal. */
const BATCH = 500;

export interface BookQuery {
  readonly name: string;
  /** Not measured. */
  prepare?(): Promise<void>;
  run(): Promise<unknown>;
}

/** The queries of a running gateway to its book, through the code that serves requests. */
export function bookQueries(book: Book, big: BigBook): BookQuery[] {
  const { accountId, others } = big;
  const since = Date.now() - HOUR_MS;
  const keyId = big.keyIds.at(-1) ?? 0;
  const hundred = Array.from({ length: Math.min(100, others) }, (_, index) => accountId + 1 + index);
  return [
    ...ownerQueries(book, big),
    { name: 'accounts, a page', run: () => book.accounts(others / 2, 100) },
    { name: 'an entry by its id', run: () => book.entriesAmong(['req_none']) },
    { name: 'rebuild: snapshot', run: () => book.snapshot(accountId, periodStarts(Date.now())) },
    { name: 'start: recent accounts', run: () => book.recentAccounts(since) },
    { name: 'start: what was changed', run: () => book.changedSince(since) },
    { name: 'start: any country rule', run: () => book.anyBlockedCountries() },
    { name: 'sweep: unpublished', run: () => book.unpublished(500) },
    { name: 'sweep: pending grants', run: () => book.pendingGrants(Date.now(), 100) },
    { name: 'alerts: queued', run: () => book.queuedAlerts(100) },
    { name: `drain: ${BATCH} entries, 1 account`, ...posting(book, [accountId], keyId) },
    { name: `drain: ${BATCH} entries, 100 accounts`, ...posting(book, hundred, keyId) },
  ];
}

function ownerQueries(book: Book, { accountId, keyIds, entries }: BigBook): BookQuery[] {
  const keyId = keyIds.at(-1) ?? 0;
  const page = { accountId, limit: 100 };
  const before = Math.floor(entries / 2);
  const tomorrow = Math.floor(Date.now() / DAY_MS) + 1;
  const spans = [
    { span: 'month', days: 31 },
    { span: 'year', days: 366 },
  ];
  return [
    ...callQueries(book, { accountId, keyId }),
    { name: 'ledger, first page', run: () => book.ledger(page) },
    { name: 'ledger, page deep inside', run: () => book.ledger({ ...page, before }) },
    { name: 'ledger, 1,000 entries', run: () => book.ledger({ ...page, limit: 1_000 }) },
    { name: 'ledger of a key, first page', run: () => book.ledger({ ...page, keyId }) },
    { name: 'ledger of a key, deep inside', run: () => book.ledger({ ...page, keyId, before }) },
    { name: 'ledger of the only top-up', run: () => book.ledger({ ...page, type: 'top_up' }) },
    { name: 'ledger of a model', run: () => book.ledger({ ...page, model: 'bench-model-1' }) },
    { name: 'ledger of a model without calls', run: () => book.ledger({ ...page, model: 'none' }) },
    ...spans.flatMap(({ span, days }) =>
      (['day', 'key', 'model'] as const).map((by) => ({
        name: `usage of a ${span} by ${by}`,
        run: () => book.usage(accountId, tomorrow - days, tomorrow, by),
      })),
    ),
    { name: 'account', run: () => book.account(accountId) },
    { name: 'keys of an account', run: () => book.keys(accountId) },
    { name: 'alerts of an account', run: () => book.alerts(accountId, 100) },
  ];
}

/** Pages of the list of calls, of each filter, and of all accounts. */
function callQueries(book: Book, { accountId, keyId }: { accountId: number; keyId: number }): BookQuery[] {
  const before = { createdAt: Date.now() - 15 * DAY_MS, id: 'req_' };
  const filters = {
    'calls, first page': {},
    'calls, deep inside': { before },
    'calls of a key': { keyId, before },
    'calls of a model': { model: 'bench-model-1', before },
    'calls of a model without calls': { model: 'none' },
    'calls at an endpoint without calls': { endpoint: '/v1/embeddings' },
    'refused calls': { result: 'refused', before },
    'refused calls of a rare code': { code: 'ip_not_allowed', before },
    'failed calls': { result: 'failed', before },
    'calls of a rare outcome': { outcome: 'timeout' },
  } as const;
  const pages = Object.entries(filters).map(([name, filter]) => ({
    name,
    run: () => book.calls({ accountId, limit: 51, ...filter }),
  }));
  return [
    ...pages,
    { name: 'calls of all accounts', run: () => book.calls({ limit: 51, before }) },
    { name: 'failed calls of all accounts', run: () => book.calls({ limit: 51, before, result: 'failed' }) },
    { name: 'calls at an upstream', run: () => book.calls({ limit: 51, before, upstream: 'openai' }) },
  ];
}

/** Posts a batch of new entries, each next in its account, as the drain does. */
function posting(book: Book, accounts: readonly number[], keyId: number): Pick<BookQuery, 'prepare' | 'run'> {
  let batch: JournalEntry[] = [];
  return {
    async prepare() {
      batch = [];
      for (const accountId of accounts) {
        const place = await book.snapshot(accountId, periodStarts(Date.now()));
        if (!place) throw new Error(`the book has no account ${accountId}`);
        const { seq, epoch, balance } = place;
        for (let count = 1; count <= BATCH / accounts.length; count++) {
          const where = { seq: seq + count, epoch, balanceAfter: micro(balance - count) };
          batch.push({ ...charge(accountId, keyId), ...where });
        }
      }
    },
    async run() {
      const { results } = await book.post(batch);
      const other = results.find((result) => result !== 'posted');
      if (other) throw new Error(`an entry that is new to the book was taken as ${other}`);
    },
  };
}

function charge(accountId: number, keyId: number): Omit<JournalEntry, 'seq' | 'epoch' | 'balanceAfter'> {
  const now = Date.now();
  return {
    id: newRequestId(),
    type: 'charge',
    accountId,
    keyId,
    createdAt: now,
    model: 'bench-model-1',
    category: 'text',
    endpoint: '/v1/chat/completions',
    status: 200,
    outcome: 'complete',
    usage: { input: 200, output: 100 },
    estimated: false,
    credits: micro(-1),
    day: Math.floor(now / DAY_MS),
    threshold: micro(0),
  };
}
