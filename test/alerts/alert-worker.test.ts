import { Webhook } from 'standardwebhooks';
import { type Test, test } from 'tap';
import { AlertWorker, type AlertWorkerOptions } from '../../src/alerts/alert-worker.ts';
import type { Book } from '../../src/book/book.ts';
import type { DeliveryStatus } from '../../src/book/schema.ts';
import { micro } from '../../src/domain/credits.ts';
import type { Log } from '../../src/log/log.ts';
import { type ReceiverOptions, startReceiver } from '../helper/stand-ins/receiver.ts';
import {
  BALANCE,
  createOwner,
  EMAIL,
  onlyAlert,
  openTestBook,
  permitsOf,
  queueCrossing,
} from './alert-book.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A worker that learns of alerts by `notify` only, because its next poll is far away. */
function newWorker(t: Test, book: Book, options: Partial<AlertWorkerOptions> = {}): AlertWorker {
  const worker = new AlertWorker({
    book,
    timeoutMs: 10_000,
    allowPrivateNetworks: true,
    log: quiet,
    permits: permitsOf(32),
    pollMs: 3_600_000,
    ...options,
  });
  t.teardown(() => worker.stop(0));
  return worker;
}

async function newReceiver(t: Test, options: ReceiverOptions = {}) {
  const receiver = await startReceiver(options);
  t.teardown(receiver.close);
  return receiver;
}

test('a crossing sends one signed POST to the webhook of every key', async (t) => {
  const book = await openTestBook(t);
  const receivers = [await newReceiver(t), await newReceiver(t)];
  const owner = await createOwner(book, ['', ...receivers.map(({ url }) => url)]);
  const worker = newWorker(t, book);
  worker.start();
  await queueCrossing(book, owner);
  worker.notify();
  const posts = await Promise.all(receivers.map((receiver) => receiver.next()));
  for (const post of posts) {
    t.equal(post.method, 'POST');
    t.equal(post.body, `{"event":"low_credits","user_email":"${EMAIL}","credits_balance":${BALANCE}}`);
    t.doesNotThrow(() =>
      new Webhook(owner.webhookSecret).verify(post.body, {
        'webhook-id': String(post.headers['webhook-id']),
        'webhook-timestamp': String(post.headers['webhook-timestamp']),
        'webhook-signature': String(post.headers['webhook-signature']),
      }),
    );
    t.notOk(post.headers['webhook-test']);
  }
  await worker.stop(10_000);
  const { id, deliveries } = await onlyAlert(book, owner);
  const ids = posts.map((post) => post.headers['webhook-id']);
  t.same(
    ids,
    owner.keyIds.slice(1).map((keyId) => `msg_${id}_${keyId}`),
  );
  t.same(
    deliveries.map(({ status, httpStatus }) => ({ status, httpStatus })),
    Array(2).fill({ status: 'delivered', httpStatus: 200 }),
  );
  t.ok(receivers.every(({ requests }) => requests.length === 1));
});

test('a test alert is marked, and otherwise like any other', async (t) => {
  const book = await openTestBook(t);
  const receiver = await newReceiver(t);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  await book.createTestAlert(owner.accountId, 0, (await onlyAlert(book, owner)).creditsBalance, Date.now());
  newWorker(t, book).start();
  const [real, marked] = [await receiver.next(), await receiver.next()].sort(
    (a, b) => Number(a.headers['webhook-test'] ?? false) - Number(b.headers['webhook-test'] ?? false),
  );
  t.equal(marked?.body, real?.body);
  t.same(
    receiver.requests.map(({ headers }) => headers['webhook-test']).filter((mark) => mark !== undefined),
    ['true'],
  );
});

test('every outcome is written to the book and reported', async (t) => {
  const book = await openTestBook(t);
  const ok = await newReceiver(t);
  const failing = await newReceiver(t, { respond: (_request, response) => response.writeHead(500).end() });
  const silent = await newReceiver(t, { respond: () => {} });
  const refusing = await startReceiver();
  await refusing.close();
  const owner = await createOwner(
    book,
    [ok, failing, silent, refusing].map(({ url }) => url),
  );
  await queueCrossing(book, owner);
  const outcomes: DeliveryStatus[] = [];
  const worker = newWorker(t, book, { timeoutMs: 5_000, onOutcome: (status) => outcomes.push(status) });
  worker.start();
  await silent.next();
  await worker.stop(30_000);
  t.match((await onlyAlert(book, owner)).deliveries, [
    { status: 'delivered', httpStatus: 200 },
    { status: 'failed', httpStatus: 500, error: 'http_status' },
    { status: 'timeout', httpStatus: null, error: 'timeout' },
    { status: 'failed', httpStatus: null, error: 'refused' },
  ]);
  t.same(outcomes.sort(), ['delivered', 'failed', 'failed', 'timeout']);
});

test('an address that is not public is blocked, and the book says so', async (t) => {
  const book = await openTestBook(t);
  const receiver = await newReceiver(t);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const blocked = Promise.withResolvers<DeliveryStatus>();
  const worker = newWorker(t, book, { allowPrivateNetworks: false, onOutcome: blocked.resolve });
  worker.start();
  t.equal(await blocked.promise, 'blocked');
  await worker.stop(10_000);
  t.match((await onlyAlert(book, owner)).deliveries, [
    { status: 'blocked', httpStatus: null, error: 'blocked' },
  ]);
  t.equal(receiver.connections(), 0);
});

test('an internal receiver that the configuration allows gets its alert', async (t) => {
  const book = await openTestBook(t);
  const receiver = await newReceiver(t);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const sent = Promise.withResolvers<DeliveryStatus>();
  const allow = ['127.0.0.0/8'];
  const worker = newWorker(t, book, { allowPrivateNetworks: false, allow, onOutcome: sent.resolve });
  worker.start();
  t.equal(await sent.promise, 'delivered');
  await worker.stop(10_000);
});

test('a receiver that does not answer holds up no other', async (t) => {
  const book = await openTestBook(t);
  const silent = await newReceiver(t, { respond: () => {} });
  const receiver = await newReceiver(t);
  const owner = await createOwner(book, [silent.url, receiver.url]);
  const worker = newWorker(t, book, { timeoutMs: 60_000 });
  worker.start();
  for (let alert = 1; alert <= 2; alert++) {
    await queueCrossing(book, owner);
    worker.notify();
    await Promise.all([silent.next(), receiver.next()]);
    t.equal(receiver.requests.length, alert);
  }
});

test('one account with many dead receivers leaves half of the slots to the others', async (t) => {
  const book = await openTestBook(t);
  const silent = await newReceiver(t, { respond: () => {} });
  const receiver = await newReceiver(t);
  const worker = newWorker(t, book, { timeoutMs: 60_000, permits: permitsOf(4) });
  const crowd = await createOwner(book, Array(10).fill(silent.url));
  await queueCrossing(book, crowd);
  worker.start();
  await Promise.all([silent.next(), silent.next()]);
  // A second account on the same receivers; e-mail addresses are unique.
  await book.updateAccount(crowd.accountId, { email: 'crowd@example.com' }, Date.now());
  await queueCrossing(book, await createOwner(book, [receiver.url]));
  worker.notify();
  await receiver.next();
  t.equal(silent.requests.length, 2);
});

test('concurrent POSTs never exceed the slots, and all alerts are sent', async (t) => {
  const book = await openTestBook(t);
  let underWay = 0;
  let most = 0;
  const receiver = await newReceiver(t, {
    respond: (_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setImmediate(() => {
        underWay -= 1;
        response.end();
      });
    },
  });
  const owner = await createOwner(book, Array(9).fill(receiver.url));
  await queueCrossing(book, owner);
  await queueCrossing(book, owner);
  const worker = newWorker(t, book, { permits: permitsOf(4) });
  worker.start();
  for (let i = 0; i < 18; i++) await receiver.next();
  await worker.stop(10_000);
  t.ok(most <= 4, `${most} at once`);
  t.equal(receiver.requests.length, 18);
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 18);
});

test('the log names the host of a receiver, never its path, query or the signing secret', async (t) => {
  const book = await openTestBook(t);
  const receiver = await newReceiver(t);
  const failing = await newReceiver(t, { respond: (_request, response) => response.writeHead(500).end() });
  const owner = await createOwner(book, [
    `${receiver.url}/pathsecret?q=querysecret`,
    `${failing.url}?q=querysecret`,
  ]);
  await queueCrossing(book, owner);
  const lines: string[] = [];
  const keep = (obj: object, msg: string) => lines.push(JSON.stringify({ ...obj, msg }));
  const worker = newWorker(t, book, { log: { debug: keep, info: keep, warn: keep, error: keep } });
  worker.start();
  await Promise.all([receiver.next(), failing.next()]);
  await worker.stop(10_000);
  const log = lines.join('\n');
  t.match(log, `127.0.0.1:${receiver.port}`);
  t.match(log, `127.0.0.1:${failing.port}`);
  t.notMatch(log, 'pathsecret');
  t.notMatch(log, 'querysecret');
  t.notMatch(log, owner.webhookSecret.slice('whsec_'.length));
});

test('an alert that cannot be signed fails in the book and harms no other', async (t) => {
  const book = await openTestBook(t);
  const receiver = await newReceiver(t);
  const broken = await createOwner(book, [receiver.url], 'whsec_');
  await queueCrossing(book, broken);
  await book.updateAccount(broken.accountId, { email: 'broken@example.com' }, Date.now());
  await queueCrossing(book, await createOwner(book, [receiver.url]));
  const worker = newWorker(t, book);
  worker.start();
  await receiver.next();
  await worker.stop(10_000);
  t.match((await onlyAlert(book, broken)).deliveries, [{ status: 'failed', httpStatus: null }]);
  t.equal(receiver.requests.length, 1);
});

test("one account's hundred dead receivers and six test alerts delay no other account's alert", async (t) => {
  const book = await openTestBook(t);
  const silent = await newReceiver(t, { respond: () => {} });
  const receivers = [await newReceiver(t), await newReceiver(t), await newReceiver(t)];
  const addresses = Array.from({ length: 100 }, (_, index) => `${silent.url}/${index}`);
  const crowd = await createOwner(book, addresses);
  await book.updateAccount(crowd.accountId, { email: 'crowd@example.com' }, Date.now());
  // A minute apart, because an account may have five in one minute.
  for (let minutesAgo = 5; minutesAgo >= 0; minutesAgo--) {
    await book.createTestAlert(crowd.accountId, 0, micro(1), Date.now() - minutesAgo * 60_000);
  }
  // Longer than a test may take: an answer of these receivers never comes.
  const worker = newWorker(t, book, { timeoutMs: 600_000, permits: permitsOf(512) });
  worker.start();
  for (let waits = 0; waits < 16; waits++) await silent.next();
  const owner = await createOwner(
    book,
    receivers.map(({ url }) => url),
  );
  for (let crossing = 0; crossing < 3; crossing++) {
    await queueCrossing(book, owner);
    worker.notify();
    await Promise.all(receivers.map((receiver) => receiver.next()));
  }
  t.equal(silent.requests.length, 16, 'and of one account only so many wait at once');
});

test('many accounts with dead receivers only leave a slot to the one that comes next', async (t) => {
  const book = await openTestBook(t);
  const silent = await newReceiver(t, { respond: () => {} });
  const receiver = await newReceiver(t);
  const worker = newWorker(t, book, { timeoutMs: 600_000, permits: permitsOf(16) });
  worker.start();
  for (let account = 0; account < 8; account++) {
    const crowd = await createOwner(book, Array(20).fill(silent.url));
    await book.updateAccount(crowd.accountId, { email: `crowd-${account}@example.com` }, Date.now());
    await queueCrossing(book, crowd);
    worker.notify();
    await silent.next();
  }
  await queueCrossing(book, await createOwner(book, [receiver.url]));
  worker.notify();
  await receiver.next();
  t.equal(receiver.requests.length, 1);
});

test("an account's alerts that had no room are sent once its receivers are through, oldest first", async (t) => {
  const book = await openTestBook(t);
  const held: (() => void)[] = [];
  const receiver = await newReceiver(t, {
    respond: (_request, response) => void held.push(() => response.end()),
  });
  const owner = await createOwner(book, Array(20).fill(receiver.url));
  for (let crossing = 0; crossing < 3; crossing++) await queueCrossing(book, owner);
  newWorker(t, book, { permits: permitsOf(512) }).start();
  for (let post = 0; post < 60; post++) {
    await receiver.next();
    if (held.length === 16 || post >= 44) for (const answer of held.splice(0)) answer();
  }
  const alerts = receiver.requests.map(({ headers }) => String(headers['webhook-id']).split('_')[1]);
  t.same(
    alerts,
    [...alerts].sort((a, b) => Number(a) - Number(b)),
  );
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 60);
});
