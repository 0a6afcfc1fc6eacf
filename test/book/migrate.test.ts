import { entryView } from '../../src/api/views/entry-view.ts';
import type { Book, LedgerEntry } from '../../src/book/book.ts';
import { CannotOpenBook } from '../../src/book/errors.ts';
import { migrations } from '../../src/book/migrations.ts';
import { openBook } from '../../src/book/open-book.ts';
import { MAX_CALL_LIMIT, NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { parseJournalEntry } from '../../src/ledger/journal/entry-text.ts';
import { entry, NOW, stored, TODAY } from '../helper/book-records.ts';
import { eachBook, onPostgres } from '../helper/books.ts';
import { rejection } from '../helper/rejection.ts';

/** Sums that 0008_prices adds. */
const NEW_SUMS = [
  'cache_write_1h',
  'input_audio',
  'cached_input_audio',
  'output_audio',
  'input_image',
  'cached_input_image',
  'output_image',
  'web_searches',
  'cost',
  'costed',
];

/** Takes the schema back to what it was before the migration 0009_call_limits. */
const BEFORE_CALL_LIMITS = [
  'drop index keys_previous',
  'alter table keys drop column previous_hash',
  'alter table keys drop column previous_valid_until',
  ...['accounts', 'keys'].flatMap((table) =>
    ['rpm_limit', 'tpm_limit', 'max_parallel_requests'].map(
      (column) => `alter table ${table} drop column ${column}`,
    ),
  ),
  "delete from kysely_migration where name >= '0009_call_limits'",
];

/** Takes the schema back to what it was before the migration 0005_sums. */
const BEFORE_SUMS = [
  ...BEFORE_CALL_LIMITS,
  'drop index alerts_due',
  'drop index alerts_tests',
  'drop table spend_model_days',
  'drop table spend_key_months',
  'drop index keys_updated',
  'drop index accounts_updated',
  'drop index keys_country_rule',
  'drop index accounts_last_entry',
  'drop index ledger_type',
  'drop index ledger_model',
  'alter table accounts drop column last_entry_hour',
  'alter table accounts drop column overdraft',
  'alter table ledger drop column call',
  ...NEW_SUMS.map((column) => `alter table spend_days drop column ${column}`),
  "delete from kysely_migration where name >= '0005_sums'",
];
const FUTURE = `insert into kysely_migration (name, timestamp) values ('9999_future', '2030-01-01T00:00:00.000Z')`;

eachBook('a database of a newer version is refused, in one clear line', async (t, book, { run, place }) => {
  await run(FUTURE);
  await book.close();
  for (const readOnly of [false, true]) {
    const error = await rejection(openBook(place, { readOnly }));
    t.type(error, CannotOpenBook);
    t.match(String(error), '9999_future');
    t.notMatch(String(error), '\n');
  }
});

eachBook('opening again migrates nothing and keeps the data', async (t, book, { run, open }) => {
  const { account } = await stored(book);
  const applied = await run('select * from kysely_migration');
  await book.close();
  const again = await open();
  t.same(await again.account(account.id), account);
  t.same(await run('select * from kysely_migration'), applied);
  t.equal(applied.length, Object.keys(migrations('sqlite')).length);
});

eachBook(
  'a database that an older version left cannot be read without its migration',
  async (t, book, fixture) => {
    await fixture.run('delete from kysely_migration');
    await book.close();
    t.type(await rejection(openBook(fixture.place, { readOnly: true })), CannotOpenBook);
  },
);

eachBook('a read-only book changes nothing', async (t, book, { open }) => {
  const { account, key } = await stored(book);
  const reader = await open({ readOnly: true });
  t.same(await reader.keys(account.id), [key]);
  await t.rejects(reader.updateAccount(account.id, { isActive: false }, NOW));
  await t.rejects(stored(reader));
  t.same(await book.accounts(0, 10), [{ ...account, balance: 0 }]);
});

onPostgres('gateways that start together on an empty database all open it', async (t, { open }) => {
  const books = await Promise.all([open(), open(), open(), open()]);
  const made = await Promise.all(books.map((book) => stored(book)));
  t.same(made.map(({ account }) => account.id).sort(), [1, 2, 3, 4]);
});

eachBook(
  'accounts that an older version made have no overdraft, and can get one',
  async (t, book, fixture) => {
    const { account } = await stored(book, { account: { overdraft: micro(5_000_000) } });
    t.equal(account.overdraft, 5_000_000);
    await book.close();
    for (const undo of BEFORE_SUMS) await fixture.run(undo);
    const migrated = await fixture.open();
    t.same(await migrated.account(account.id), { ...account, overdraft: 0 });
    const change = { overdraft: micro(7) };
    t.match(await migrated.updateAccount(account.id, change, NOW), { overdraft: 7, version: 2 });
  },
);

eachBook(
  'keys and accounts that an older version made have no limits of calls and one value, and can get limits',
  async (t, book, fixture) => {
    const { account, key } = await stored(book, {
      account: { rpmLimit: 1, tpmLimit: 2, maxParallelRequests: 3 },
      key: { rpmLimit: 4, tpmLimit: 5, maxParallelRequests: 6 },
    });
    await book.close();
    for (const undo of BEFORE_CALL_LIMITS) await fixture.run(undo);
    const migrated = await fixture.open();
    t.same(await migrated.account(account.id), { ...account, ...NO_CALL_LIMITS });
    t.same(await migrated.key(account.id, key.id), { ...key, ...NO_CALL_LIMITS });
    t.match(key, { previousHash: null, previousValidUntil: null });
    const change = { rpmLimit: 7, tpmLimit: MAX_CALL_LIMIT, maxParallelRequests: 8 };
    t.match(await migrated.updateAccount(account.id, change, NOW), { ...change, version: 2 });
    t.match(await migrated.updateKey(account.id, key.id, change, NOW), { ...change, version: 2 });
  },
);

eachBook(
  'what an older version has summed by day is summed by model and by month',
  async (t, book, fixture) => {
    const { account, key } = await stored(book);
    const days = [TODAY, TODAY, TODAY - 1, TODAY - 17, TODAY - 18, TODAY - 40];
    await book.post(
      days.map((day, index) =>
        entry(account.id, {
          seq: index + 1,
          keyId: key.id,
          day,
          model: `m${index % 2}`,
          usage: { input: 3 },
        }),
      ),
    );
    const read = async (from: Book) => [
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'day'),
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'key'),
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'model'),
      await from.recentAccounts(NOW),
    ];
    const before = await read(book);
    await book.close();
    for (const undo of BEFORE_SUMS) await fixture.run(undo);
    t.same(await read(await fixture.open()), before);
  },
);

/** Takes the schema back to what version 0.1.0 ended with, but for its indexes and the sums by month, which did not change. */
const OLD_SUMS =
  'calls, credits, input, output, cached_input, cache_write, characters, images, audio_seconds, video_seconds';
const BEFORE_PRICES = [
  ...BEFORE_CALL_LIMITS,
  'alter table ledger drop column call',
  ...['spend_days', 'spend_key_months'].flatMap((table) =>
    NEW_SUMS.map((column) => `alter table ${table} drop column ${column}`),
  ),
  `create table old_days as select account_id, day, model, ${OLD_SUMS} from spend_model_days`,
  'drop table spend_model_days',
  'alter table old_days rename to spend_model_days',
  "delete from kysely_migration where name >= '0008_prices'",
];

eachBook('rows of a version without prices are kept, and tell none', async (t, book, fixture) => {
  const { account, key } = await stored(book);
  const old = { keyId: key.id, usage: { input: 3, audioSeconds: 0.5 } };
  await book.post([entry(account.id, old), entry(account.id, { ...old, seq: 2, model: 'other' })]);
  const ledger = (from: Book) => from.ledger({ accountId: account.id, limit: 10 });
  const usage = async (from: Book) => [
    await from.usage(account.id, TODAY, TODAY + 1, 'day'),
    await from.usage(account.id, TODAY, TODAY + 1, 'key'),
    await from.usage(account.id, TODAY, TODAY + 1, 'model'),
  ];
  const before = [await ledger(book), await usage(book)];
  await book.close();
  for (const undo of BEFORE_PRICES) await fixture.run(undo);
  const migrated = await fixture.open();
  t.same([await ledger(migrated), await usage(migrated)], before);
  for (const row of await ledger(migrated)) t.notOk('price' in row || 'cost' in row || 'upstream' in row);

  const priced = {
    price: { input: micro(2) },
    multiplier: 2_000_000,
    upstream: 'one',
    streamed: true,
  } as const;
  const next = entry(account.id, { ...old, ...priced, seq: 3, cost: micro(1), durationMs: 7 });
  t.same((await migrated.post([next])).results, ['posted']);
  t.match(await migrated.entry(account.id, next.id), { ...priced, cost: 1, durationMs: 7 });
  const rows = [];
  for await (const part of migrated.usageOfAll(TODAY, TODAY + 1, 'upstream')) rows.push(...part);
  t.match(rows, [
    { group: null, calls: 2, cost: 0n },
    { group: 'one', calls: 1, cost: 1n, costed: 1n },
  ]);
});

eachBook(
  'an entry that version 0.1.0 left in the journal is posted, and tells no prices',
  async (t, book) => {
    const { account, key } = await stored(book);
    const draft = {
      id: 'req_of_before',
      type: 'charge',
      accountId: account.id,
      keyId: key.id,
      createdAt: NOW,
      model: 'demo-chat',
      category: 'text',
      endpoint: '/v1/chat/completions',
      status: 200,
      outcome: 'complete',
      usage: { input: 8, output: 17, requests: 1 },
      estimated: false,
      credits: -10_042,
    };
    const { results } = await book.post([
      parseJournalEntry(`1 -10042 ${TODAY} 0 0 ${JSON.stringify(draft)}`),
    ]);
    t.same(results, ['posted']);
    const row = await book.entry(account.id, draft.id);
    t.same(row, { ...draft, seq: 1, balanceAfter: -10_042 });
    t.match(entryView(row as LedgerEntry, { onlyKeyId: undefined }), {
      credits: '-0.010042',
      price: null,
      multiplier: null,
      upstream: null,
      duration_ms: null,
      streamed: null,
    });
  },
);
