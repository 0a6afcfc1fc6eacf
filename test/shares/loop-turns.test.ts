import { test } from 'tap';
import { LoopTurns } from '../../src/shares/loop-turns.ts';

/** Uses the processor for some milliseconds, by the clock that the turns go by. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('work that is no burst runs immediately', async (t) => {
  const turns = new LoopTurns();
  let done = 0;
  turns.run('a', () => done++);
  turns.run('a', () => done++);
  t.equal(done, 2);
});

test('a burst is spread over turns of the loop, and owners take turns', async (t) => {
  const turns = new LoopTurns();
  const order: string[] = [];
  const byTurn: number[] = [];
  const run = (owner: string) =>
    turns.run(owner, () => {
      order.push(owner);
      work(5);
    });
  for (let i = 0; i < 12; i++) run('crowd');
  run('other');
  while (order.length < 13) {
    byTurn.push(order.length);
    await nextTurn();
  }
  t.ok(byTurn.length > 3, `${byTurn.length} turns`);
  t.ok(order.indexOf('other') <= 4, 'the other one does not wait for all of the crowd');
});

test('an owner without waiting work waited for a crowd in each step of its call', async (t) => {
  const turns = new LoopTurns();
  const order: string[] = [];
  const run = (owner: string) =>
    turns.run(owner, () => {
      order.push(owner);
      work(5);
    });
  for (let i = 0; i < 50; i++) run('crowd');
  // Six pieces take longer than the first span, so the crowd has had its prompt work.
  while (order.length < 6) await nextTurn();
  turns.accepted();
  run('other');
  t.equal(order.at(-1), 'other', 'it runs at once, also while connections are accepted');
  t.ok(order.length < 50, 'before most of the crowd');
  await nextTurn();
  const before = order.length;
  for (let i = 0; i < 20; i++) run(`other ${i}`);
  t.ok(order.length - before < 2, `${order.length - before} of a crowd of owners run at once`);
  while (order.length < 71) await nextTurn();
});

test('time of a step in promises counts as its own', async (t) => {
  const turns = new LoopTurns();
  let done = 0;
  const step = () =>
    void Promise.resolve()
      .then(() => work(5))
      .then(() => done++);
  turns.run('a', () => work(20));
  for (let i = 0; i < 10; i++) turns.run('a', step);
  await nextTurn();
  t.ok(done < 10, `${done} in one turn`);
  while (done < 10) await nextTurn();
});

test('small pieces of work waited each for a large one of another owner', async (t) => {
  const turns = new LoopTurns();
  const order: string[] = [];
  const run = (owner: string, ms: number) =>
    turns.run(owner, () => {
      order.push(owner);
      work(ms);
    });
  for (let i = 0; i < 30; i++) run('crowd', 5);
  for (let i = 0; i < 30; i++) run('other', 0);
  while (order.length < 60) await nextTurn();
  const before = order.slice(0, order.lastIndexOf('other')).filter((owner) => owner === 'crowd').length;
  t.ok(before < 15, `${before} of 30 pieces of the crowd came before the last one of the other`);
});

test('work waits while connections are accepted, but not for ever', async (t) => {
  const turns = new LoopTurns();
  let done = 0;
  const run = () => turns.run('a', () => done++);
  turns.accepted();
  run();
  run();
  t.equal(done, 1, 'only the first piece is prompt');
  await nextTurn();
  await nextTurn();
  t.equal(done, 2, 'a turn without a new connection has come');
  turns.accepted();
  run();
  run();
  while (done < 4) {
    await nextTurn();
    turns.accepted();
  }
  t.equal(done, 4);
});

test('time of a piece of work elsewhere counts as its own', async (t) => {
  const turns = new LoopTurns();
  let done = 0;
  for (let i = 0; i < 10; i++) turns.run('a', () => done++, 3);
  t.ok(done < 4, `${done} at once`);
  while (done < 10) {
    const before = done;
    await nextTurn();
    t.ok(done - before < 4, `${done - before} in a turn`);
  }
});
