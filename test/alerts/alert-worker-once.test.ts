import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Test, test } from 'tap';
import { AlertWorker, type AlertWorkerOptions } from '../../src/alerts/alert-worker.ts';
import type { Book } from '../../src/book/book.ts';
import type { DeliveryStatus } from '../../src/book/schema.ts';
import { BookUnavailable } from '../../src/book/store.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import {
  createOwner,
  dataFolder,
  type Owner,
  onlyAlert,
  openTestBook,
  permitsOf,
  queueCrossing,
} from './alert-book.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function newWorker(
  t: Test,
  options: Pick<AlertWorkerOptions, 'book'> & Partial<AlertWorkerOptions>,
): AlertWorker {
  const worker = new AlertWorker({
    timeoutMs: 60_000,
    allowPrivateNetworks: true,
    log: quiet,
    permits: permitsOf(32),
    pollMs: 3_600_000,
    ...options,
  });
  t.teardown(() => worker.stop(0));
  return worker;
}

/** Alerts go out oldest first: an earlier one that is missing once a later one has arrived never comes. */
async function sendAnother(t: Test, book: Book, owner: Owner, receiver: { next(): Promise<unknown> }) {
  await queueCrossing(book, owner);
  const worker = newWorker(t, { book });
  worker.start();
  await receiver.next();
  await worker.stop(10_000);
}

test('two workers on one book send one POST for each alert', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  for (let i = 0; i < 20; i++) await queueCrossing(book, owner);
  const workers = [newWorker(t, { book }), newWorker(t, { book })];
  for (const worker of workers) worker.start();
  for (let i = 0; i < 20; i++) await receiver.next();
  await Promise.all(workers.map((worker) => worker.stop(10_000)));
  t.equal(receiver.requests.length, 20);
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 20);
  const statuses = (await book.alerts(owner.accountId, 100)).flatMap(({ deliveries }) =>
    deliveries.map(({ status }) => status),
  );
  t.same(statuses, Array(20).fill('delivered'));
});

test('an alert that another gateway posted is found by the poll', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  const looked = Promise.withResolvers<void>();
  const watched = {
    ...pick(book),
    dueAlerts: (except: readonly number[], limit: number) =>
      book.dueAlerts(except, limit).finally(looked.resolve),
  };
  newWorker(t, { book: watched, pollMs: 20 }).start();
  await looked.promise;
  await queueCrossing(book, owner);
  await receiver.next();
  t.equal(receiver.requests.length, 1);
});

test('an alert that is queued before the worker starts waits for it', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const worker = newWorker(t, { book });
  worker.notify();
  t.same(await book.queuedAlerts(10), [(await onlyAlert(book, owner)).id]);
  worker.start();
  await receiver.next();
  t.equal(receiver.requests.length, 1);
});

test('stop waits for the POST under way and writes its outcome', async (t) => {
  const book = await openTestBook(t);
  const answer = Promise.withResolvers<void>();
  const receiver = await startReceiver({
    respond: (_request, response) => answer.promise.then(() => response.end()),
  });
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const worker = newWorker(t, { book });
  worker.start();
  await receiver.next();
  const stopped = worker.stop(60_000);
  answer.resolve();
  await stopped;
  t.match((await onlyAlert(book, owner)).deliveries, [{ status: 'delivered' }]);
});

test('a POST that stop gave up is unknown, and is never sent again', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver({
    respond: (_request, response) => receiver.requests.length > 1 && response.end(),
  });
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const outcome = Promise.withResolvers<DeliveryStatus>();
  const worker = newWorker(t, { book, onOutcome: outcome.resolve });
  worker.start();
  await receiver.next();
  await worker.stop(0);
  t.equal(await outcome.promise, 'unknown');
  t.match((await onlyAlert(book, owner)).deliveries, [
    { status: 'unknown', httpStatus: null, durationMs: null },
  ]);
  await sendAnother(t, book, owner, receiver);
  t.equal(receiver.requests.length, 2);
});

test('a stopped worker claims nothing', async (t) => {
  const book = await openTestBook(t);
  const owner = await createOwner(book, ['http://127.0.0.1:9/']);
  const worker = newWorker(t, { book });
  worker.start();
  await worker.stop(10_000);
  await queueCrossing(book, owner);
  worker.notify();
  await worker.stop(10_000);
  t.same(await book.queuedAlerts(10), [(await onlyAlert(book, owner)).id]);
});

test('a gateway killed between claim and POST leaves unknown, and the alert is never sent again', async (t) => {
  const folder = await dataFolder(t);
  // The sender hangs in the TLS handshake: the alert is claimed, and no byte of the POST is sent.
  const connected = Promise.withResolvers<void>();
  const server = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => connected.resolve()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const owner = await killSender(t, folder, `https://127.0.0.1:${port}/`, connected.promise);

  const book = await openTestBook(t, folder);
  t.match((await onlyAlert(book, owner)).deliveries, [
    { status: 'unknown', httpStatus: null, durationMs: null },
  ]);
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.destroy();
  });
  await sendToOther(t, book, owner);
  t.equal(connections, 0);
});

test('a gateway killed between POST and outcome leaves unknown, and the alert is never sent again', async (t) => {
  const folder = await dataFolder(t);
  const receiver = await startReceiver({ respond: () => {} });
  t.teardown(receiver.close);
  const owner = await killSender(t, folder, receiver.url, receiver.next());

  const book = await openTestBook(t, folder);
  t.match((await onlyAlert(book, owner)).deliveries, [
    { status: 'unknown', httpStatus: null, durationMs: null },
  ]);
  await sendToOther(t, book, owner);
  t.equal(receiver.requests.length, 1);
});

/** Queues an alert for the URL, lets a process send it, and kills that process with SIGKILL at the named point. */
async function killSender(t: Test, folder: string, url: string, point: Promise<unknown>): Promise<Owner> {
  const book = await openTestBook(t, folder);
  const owner = await createOwner(book, [url]);
  await queueCrossing(book, owner);
  await book.close();
  const script = fileURLToPath(new URL('./sender-process.ts', import.meta.url));
  const sender = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exit = once(sender, 'exit');
  await point;
  sender.kill('SIGKILL');
  await exit;
  return owner;
}

/** Moves the owner's webhook to another address, and waits until a later alert arrives there. */
async function sendToOther(t: Test, book: Book, owner: Owner): Promise<void> {
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  await book.updateKey(owner.accountId, owner.keyIds[0] ?? 0, { webhookUrl: receiver.url }, Date.now());
  await sendAnother(t, book, owner, receiver);
}

test('an alert waits while the book is away and is sent when it is back', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const flaky = breakable(book);
  flaky.breakNext('dueAlerts', 2);
  flaky.breakNext('claimAlert', 1);
  newWorker(t, { book: flaky }).start();
  await receiver.next();
  t.equal(flaky.failures(), 3);
  t.equal(receiver.requests.length, 1);
});

test('an outcome that the book refuses is written later, without a second POST', async (t) => {
  const book = await openTestBook(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const owner = await createOwner(book, [receiver.url]);
  await queueCrossing(book, owner);
  const flaky = breakable(book);
  flaky.breakNext('finishDelivery', 2);
  const worker = newWorker(t, { book: flaky });
  worker.start();
  await receiver.next();
  await worker.stop(60_000);
  t.equal(flaky.failures(), 2);
  t.match((await onlyAlert(book, owner)).deliveries, [{ status: 'delivered', httpStatus: 200 }]);
  t.equal(receiver.requests.length, 1);
});

type WorkerBook = AlertWorkerOptions['book'];

function pick(book: Book): WorkerBook {
  return {
    dueAlerts: (except, limit) => book.dueAlerts(except, limit),
    claimAlert: (id, now) => book.claimAlert(id, now),
    plannedDeliveries: (id, after) => book.plannedDeliveries(id, after),
    finishDelivery: (id, outcome) => book.finishDelivery(id, outcome),
  };
}

/** The book, unreachable for a given number of calls of one method. */
function breakable(book: Book) {
  const broken = { dueAlerts: 0, claimAlert: 0, plannedDeliveries: 0, finishDelivery: 0 };
  let failures = 0;
  const reach = <T>(method: keyof WorkerBook, call: () => Promise<T>): Promise<T> => {
    if (broken[method] === 0) return call();
    broken[method] -= 1;
    failures += 1;
    return Promise.reject(new BookUnavailable('out of reach'));
  };
  const whole = pick(book);
  const flaky: WorkerBook = {
    dueAlerts: (except, limit) => reach('dueAlerts', () => whole.dueAlerts(except, limit)),
    claimAlert: (id, now) => reach('claimAlert', () => whole.claimAlert(id, now)),
    plannedDeliveries: (id, after) => reach('plannedDeliveries', () => whole.plannedDeliveries(id, after)),
    finishDelivery: (id, outcome) => reach('finishDelivery', () => whole.finishDelivery(id, outcome)),
  };
  return {
    ...flaky,
    failures: () => failures,
    breakNext(method: keyof WorkerBook, calls: number) {
      broken[method] = calls;
    },
  };
}
