import { type Test, test } from 'tap';
import { ThreadEnded, WorkerClient } from '../../src/threads/worker-client.ts';
import { rejection } from '../helper/check/rejection.ts';

function startSums(t: Test) {
  const sums = new WorkerClient<readonly number[], number>('sums-worker', import.meta.url);
  t.teardown(() => sums.close());
  return sums;
}

test('each question gets its own answer, however many are outstanding', async (t) => {
  const sums = startSums(t);
  const questions = Array.from({ length: 100 }, (_, index) => [index, 1]);
  t.same(
    await Promise.all(questions.map((numbers) => sums.ask(numbers))),
    questions.map(([number = 0]) => number + 1),
  );
  t.equal(await sums.ask([2, 3]), 5);
});

test('an error of a worker rejects outstanding and later requests', async (t) => {
  const sums = startSums(t);
  const outstanding = [sums.ask([]), sums.ask([1])].map((answer) => rejection(answer));
  for (const error of await Promise.all(outstanding)) {
    t.type(error, ThreadEnded);
    t.match(error, { cause: { message: 'nothing to add' } });
  }
  t.type(await rejection(sums.ask([1])), ThreadEnded);
  await t.resolves(sums.close());
});

test('close ends a worker that is busy, which is no failure', async (t) => {
  const sums = startSums(t);
  const outstanding = rejection(sums.ask([Infinity]));
  await sums.close();
  t.type(await outstanding, ThreadEnded);
  t.type(await rejection(sums.ask([1])), ThreadEnded);
  await t.resolves(sums.close(), 'closing twice is harmless');
});

test('a question that cannot be copied to the worker is refused, and no other suffers', async (t) => {
  const sums = startSums(t);
  t.match(await rejection(sums.ask([(() => 1) as unknown as number])), { name: 'DataCloneError' });
  t.equal(await sums.ask([1, 2]), 3);
});
