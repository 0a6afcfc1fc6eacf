import type { Book } from '../../src/book/book.ts';
import { TooOften } from '../../src/book/rates.ts';
import { micro } from '../../src/domain/credits.ts';
import { entries, entry, NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook, onPostgres } from '../helper/start/books.ts';

const HOOK = 'https://example.com/hook';

/** An account whose one key has a webhook, and its queued alert: 42 micro-credits are left. */
async function crossed(book: Book) {
  const { account, key } = await stored(book, { key: { webhookUrl: HOOK } });
  await book.post(entries(account.id, [{ type: 'top_up', credits: micro(43) }, { threshold: micro(43) }]));
  const [id = 0] = await book.queuedAlerts(1);
  return { account, key, id };
}

eachBook('a claimed alert says what to send and where', async (t, book) => {
  const { account, key, id } = await crossed(book);
  const claimed = await book.claimAlert(id, NOW + 1);
  t.match(claimed, {
    id,
    accountId: account.id,
    email: account.email,
    webhookSecret: account.webhookSecret,
    creditsBalance: 42,
    test: false,
    createdAt: NOW,
  });
  t.match(claimed?.deliveries, [{ keyId: key.id, url: HOOK }]);
  t.same(await book.queuedAlerts(10), []);
});

eachBook('deliveries are in the book as unknown before anything is sent', async (t, book) => {
  const { account, key, id } = await crossed(book);
  const claimed = await book.claimAlert(id, NOW + 1);
  const unknown = {
    status: 'unknown',
    httpStatus: null,
    error: null,
    durationMs: null,
    attemptedAt: NOW + 1,
  };
  t.same((await book.alerts(account.id, 10))[0]?.deliveries, [
    { id: claimed?.deliveries[0]?.id, keyId: key.id, url: HOOK, ...unknown },
  ]);
});

eachBook('the outcome of a delivery is kept', async (t, book) => {
  const { account, id } = await crossed(book);
  const claimed = await book.claimAlert(id, NOW);
  const outcome = {
    status: 'failed',
    httpStatus: 503,
    error: 'http_status',
    durationMs: 12,
    attemptedAt: NOW + 3,
  } as const;
  await book.finishDelivery(claimed?.deliveries[0]?.id ?? 0, outcome);
  t.match((await book.alerts(account.id, 10))[0]?.deliveries, [outcome]);
});

eachBook('an alert goes to every usable key with a webhook', async (t, book) => {
  const { account, key, id } = await crossed(book);
  const more = [
    { webhookUrl: HOOK, isActive: false },
    { webhookUrl: '' },
    { webhookUrl: HOOK, expiresAt: NOW },
    { webhookUrl: `${HOOK}/2`, expiresAt: NOW + 1 },
  ];
  const made = [];
  for (const settings of more) made.push(await book.createKey(account.id, newKey(settings), NOW));
  await stored(book, { key: { webhookUrl: HOOK } });
  const claimed = await book.claimAlert(id, NOW);
  t.same(
    claimed?.deliveries.map((delivery) => delivery.keyId),
    [key.id, made[3]?.id],
  );
});

eachBook('an alert that no key listens to is claimed without deliveries', async (t, book) => {
  const { account } = await stored(book);
  await book.post([entry(account.id, { threshold: micro(0) })]);
  const [id = 0] = await book.queuedAlerts(1);
  t.same((await book.claimAlert(id, NOW))?.deliveries, []);
});

eachBook('an alert is claimed once', async (t, book) => {
  const { account, id } = await crossed(book);
  const claims = await Promise.all(Array.from({ length: 20 }, () => book.claimAlert(id, NOW)));
  t.equal(claims.filter((claim) => claim !== undefined).length, 1);
  t.equal((await book.alerts(account.id, 10))[0]?.deliveries.length, 1);
});

onPostgres('of 20 claims by two gateways one wins', async (t, { open }) => {
  const [one, two] = [await open(), await open()];
  const { account, id } = await crossed(one);
  const attempts = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).claimAlert(id, NOW));
  const claims = await Promise.all(attempts);
  t.equal(claims.filter((claim) => claim !== undefined).length, 1);
  t.equal((await one.alerts(account.id, 10))[0]?.deliveries.length, 1);
});

eachBook('an unknown alert cannot be claimed', async (t, book) => {
  t.equal(await book.claimAlert(99, NOW), undefined);
});

eachBook('queued alerts are listed oldest first', async (t, book) => {
  const { account } = await stored(book);
  await book.post([1, 2, 3].map((seq) => entry(account.id, { seq, threshold: micro(1 - seq) })));
  const ids = await book.queuedAlerts(2);
  const balances = [];
  for (const id of ids) balances.push((await book.claimAlert(id, NOW))?.creditsBalance);
  t.same(balances, [-1, -2]);
  t.equal((await book.queuedAlerts(10)).length, 1);
});

eachBook('a test alert is queued and marked', async (t, book) => {
  const { account } = await stored(book, { key: { webhookUrl: HOOK } });
  const id = await book.createTestAlert(account.id, 0, micro(7), NOW);
  t.same(await book.queuedAlerts(10), [id]);
  t.match(await book.claimAlert(id, NOW), { id, test: true, creditsBalance: 7, deliveries: [{ url: HOOK }] });
  t.ok(await book.createTestAlert(account.id, 0, micro(7), NOW), 'and another one may follow');
});

eachBook('alerts are listed newest first, each with its own deliveries', async (t, book) => {
  const { account, id } = await crossed(book);
  const second = await book.createTestAlert(account.id, 0, micro(1), NOW + 1);
  const { account: other } = await crossed(book);
  await book.claimAlert(id, NOW);
  t.match(await book.alerts(account.id, 10), [
    { id: second, test: true, createdAt: NOW + 1, deliveries: [] },
    { id, test: false, deliveries: [{ url: HOOK }] },
  ]);
  t.equal((await book.alerts(account.id, 1)).length, 1);
  t.equal((await book.alerts(other.id, 10)).length, 1);
});

/** How long to wait before another test alert. Undefined: this one was made. */
function refusedFor(book: Book, accountId: number, now: number): Promise<number | undefined> {
  return book.createTestAlert(accountId, 0, micro(7), now).then(
    () => undefined,
    (error) => (error instanceof TooOften ? error.retryAfterMs : Promise.reject(error)),
  );
}

eachBook(
  'a sixth test alert within a minute is refused, and counts for its account alone',
  async (t, book) => {
    const { account } = await stored(book, { key: { webhookUrl: HOOK } });
    const other = await stored(book, { key: { webhookUrl: HOOK } });
    for (let sent = 0; sent < 5; sent++)
      await book.createTestAlert(account.id, 0, micro(7), NOW + sent * 1_000);
    t.equal(await refusedFor(book, account.id, NOW + 10_000), 50_000);
    t.ok(await book.createTestAlert(other.account.id, 0, micro(7), NOW + 10_000));
    t.equal(await refusedFor(book, account.id, NOW + 59_999), 1);
    t.ok(await book.createTestAlert(account.id, 0, micro(7), NOW + 60_000), 'the first is a minute old');
    t.equal(await refusedFor(book, account.id, NOW + 60_000), 1_000);
  },
);

eachBook('of twenty test alerts at once five are made', async (t, book) => {
  const { account } = await stored(book);
  const made = Array.from({ length: 20 }, () => book.createTestAlert(account.id, 0, micro(7), NOW));
  const results = await Promise.allSettled(made);
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 5);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  t.ok(refused.every((error) => error instanceof TooOften));
  t.equal((await book.alerts(account.id, 100)).length, 5);
});

onPostgres('five test alerts a minute are made by several gateways together', async (t, { open }) => {
  const [one, two] = [await open(), await open()];
  const { account } = await stored(one);
  const made = Array.from({ length: 20 }, (_, index) =>
    (index % 2 ? one : two).createTestAlert(account.id, 0, micro(7), NOW),
  );
  const results = await Promise.allSettled(made);
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 5);
});

eachBook('an account with many queued tests does not hide the alerts of another', async (t, book) => {
  const crowd = await stored(book, { key: { webhookUrl: HOOK } });
  const tests = [];
  for (let sent = 0; sent < 5; sent++)
    tests.push(await book.createTestAlert(crowd.account.id, 0, micro(7), NOW));
  const { account } = await crossed(book);
  const id = (await book.queuedAlerts(10)).at(-1);
  t.same(await book.dueAlerts([], 2), [
    { id: tests[0], accountId: crowd.account.id },
    { id, accountId: account.id },
  ]);
  t.same(await book.dueAlerts([crowd.account.id], 2), [{ id, accountId: account.id }]);
  t.same(await book.dueAlerts([crowd.account.id, account.id], 2), []);
});

eachBook('a crossing comes before the tests of its account that are queued', async (t, book) => {
  const { account, key } = await stored(book, { key: { webhookUrl: HOOK } });
  const test = await book.createTestAlert(account.id, 0, micro(7), NOW);
  await book.post(entries(account.id, [{ type: 'top_up', credits: micro(43) }, { threshold: micro(43) }]));
  const [crossing] = await book.dueAlerts([], 10);
  t.not(crossing?.id, test);
  t.match(await book.claimAlert(crossing?.id ?? 0, NOW), { test: false, deliveries: [{ keyId: key.id }] });
  t.same(await book.dueAlerts([], 10), [{ id: test, accountId: account.id }]);
});

eachBook('the deliveries of an alert to many keys are read in pages, each once', async (t, book) => {
  const { account, id } = await crossed(book);
  for (let key = 1; key < 150; key++) await book.createKey(account.id, newKey({ webhookUrl: HOOK }), NOW);
  const claimed = await book.claimAlert(id, NOW);
  const pages = [claimed?.deliveries ?? []];
  for (let page = pages[0]; page && page.length > 0; page = pages.at(-1)) {
    pages.push(await book.plannedDeliveries(id, page.at(-1)?.id ?? 0));
  }
  const keyIds = pages.flat().map(({ keyId }) => keyId);
  t.equal(new Set(keyIds).size, 150);
  t.equal(keyIds.length, 150);
  t.ok(pages.length > 3);
});

eachBook('a test alert went to every key of the account, however many shared an address', async (t, book) => {
  const { account } = await stored(book, { key: { webhookUrl: HOOK } });
  const made = [];
  for (let key = 0; key < 40; key++) {
    const webhookUrl = `${HOOK}/${key % 30}`;
    made.push(await book.createKey(account.id, newKey({ webhookUrl }), NOW));
  }
  await book.createKey(account.id, newKey({ webhookUrl: `${HOOK}/off`, isActive: false }), NOW);
  const asking = made[39]?.id ?? 0;
  const id = await book.createTestAlert(account.id, asking, micro(7), NOW);
  const deliveries = (await book.claimAlert(id, NOW))?.deliveries ?? [];
  t.equal(deliveries.length, 20);
  t.match(deliveries[0], { keyId: asking, url: `${HOOK}/9` }, 'its own is the first');
  t.equal(new Set(deliveries.map(({ url }) => url)).size, 20);
  t.same(
    deliveries.slice(1, 4).map(({ url }) => url),
    [HOOK, `${HOOK}/0`, `${HOOK}/1`],
  );
  await book.post(entries(account.id, [{ type: 'top_up', credits: micro(43) }, { threshold: micro(43) }]));
  const [crossing = 0] = await book.queuedAlerts(1);
  const real = await book.claimAlert(crossing, NOW);
  t.equal(real?.deliveries.length, 41, 'a real alert goes to each key');
});

eachBook('test alerts filled the book for ever', async (t, book) => {
  const { account, id: crossing } = await crossed(book);
  await book.claimAlert(crossing, NOW);
  const tests: number[] = [];
  for (let minute = 1; minute <= 21; minute++) {
    for (let sent = 0; sent < 5; sent++) {
      const id = await book.createTestAlert(account.id, 0, micro(7), NOW + minute * 60_000);
      await book.claimAlert(id, NOW);
      tests.push(id);
    }
  }
  const kept = (await book.alerts(account.id, 1_000)).map(({ id }) => id);
  t.same(kept, [...tests.slice(-100).reverse(), crossing]);
});

eachBook(
  'a list of alerts to thousands of keys took as much memory as there were deliveries',
  async (t, book, { run }) => {
    const { account, id } = await crossed(book);
    await book.claimAlert(id, NOW);
    // One after the other, because their ids say which is newer.
    const sent = (at: number) => book.createTestAlert(account.id, 0, micro(7), at);
    const [first, second, third] = [await sent(NOW), await sent(NOW + 1), await sent(NOW + 2)];
    const many = (alert: number, count: number) =>
      run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into deliveries (alert_id, key_id, url, status, attempted_at)
      select ${alert}, 1, 'https://example.com/', 'unknown', 1 from n`);
    await many(first, 4_000);
    await many(second, 6_000);
    await many(third, 1);
    const listed = async () => (await book.alerts(account.id, 100)).map((alert) => alert.deliveries.length);
    t.same(await listed(), [1, 6_000], 'those that fit');
    await many(third, 20_000);
    t.same(await listed(), [20_001], 'one in any case');
  },
);

eachBook(
  'the newest thousand alerts of an account are kept, with their deliveries',
  async (t, book, { run }) => {
    const { account, id } = await crossed(book);
    await book.claimAlert(id, NOW);
    const other = await crossed(book);
    await book.claimAlert(other.id, NOW);
    // As if a thousand alerts had followed.
    for (let more = 0; more < 1_000; more++) {
      await run(
        'insert into alerts (account_id, created_at, credits_balance, test, state)' +
          ` values (${account.id}, ${NOW}, 0, 0, 'claimed')`,
      );
    }
    await book.post([entry(account.id, { seq: 3, balanceAfter: micro(41), threshold: micro(42) })]);
    const [next = 0] = await book.queuedAlerts(1);
    t.ok(await book.claimAlert(next, NOW));
    const kept = await book.alerts(account.id, 2_000);
    t.equal(kept.length, 1_000);
    t.notOk(kept.some((alert) => alert.id === id));
    t.match(await run('select alert_id from deliveries order by alert_id'), [
      { alert_id: other.id },
      { alert_id: next },
    ]);
  },
);
