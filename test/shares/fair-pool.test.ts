import { test } from 'tap';
import { FairPool, type Share } from '../../src/shares/fair-pool.ts';
import { memoryBudget, poolBounds } from '../../src/shares/pools.ts';

const MIB = 1024 * 1024;

/** Takes shares for an account until the pool refuses. */
function takeAll(pool: FairPool, account: number, bytes = 0): Share[] {
  const shares: Share[] = [];
  for (let share = pool.take(account, bytes); share; share = pool.take(account, bytes)) shares.push(share);
  return shares;
}

/** Lets the handlers of resolved promises run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('one account gets its share only, in places and in bytes', async (t) => {
  const places = new FairPool({ places: { all: 5_000, ofOne: 625 } });
  t.equal(takeAll(places, 1).length, 625);
  const bytes = new FairPool({ bytes: { all: 128 * MIB, ofOne: 16 * MIB } });
  t.equal(takeAll(bytes, 1, 5 * MIB).length, 3);
  t.ok(bytes.take(2, 16 * MIB), 'another account has all of its own share');
  t.equal(bytes.take(3, 17 * MIB), undefined, 'and none more than that at once');
  t.same(bytes.use, { places: 4, bytes: 31 * MIB, waiting: 0, refused: 2 });
});

test('many accounts that take all that they get leave room for the next', async (t) => {
  const { refusals, alerts } = poolBounds(memoryBudget({ memoryMb: 1_024, processes: 1 }));
  for (const [bounds, accounts, whole] of [
    [refusals, 25, 4],
    [alerts, 250, 16],
  ] as const) {
    const pool = new FairPool({ places: bounds.places });
    for (let account = 0; account < accounts; account++) {
      const taken = takeAll(pool, account).length;
      t.ok(taken > 0, `account ${account} finds room`);
      if (account < whole) t.equal(taken, bounds.places.ofOne, 'while half is free, a whole share');
    }
  }
});

test('three accounts took all the memory of calls, and every other got 503', async (t) => {
  const { calls } = poolBounds(memoryBudget({ memoryMb: 512, processes: 1 }));
  const pool = new FairPool(calls);
  const stream = 128 * 1024;
  for (const account of [1, 2, 3]) t.ok(takeAll(pool, account, stream).length > 20, `streams of ${account}`);
  const small = Array.from({ length: 32 }, () => pool.take(4, 32 * 1024));
  t.notOk(small.includes(undefined), '32 small calls of another at once');
  t.equal(pool.take(3, stream), undefined, 'and none more of those that have their share');
});

test('a released permit is free again, once', async (t) => {
  const pool = new FairPool({ places: { all: 2, ofOne: 2 }, bytes: { all: 10, ofOne: 10 } });
  const [first, second] = [pool.take(1, 4), pool.take(1, 6)];
  t.notOk(pool.isFree(2));
  first?.release();
  first?.release();
  t.same(pool.use, { places: 1, bytes: 6, waiting: 0, refused: 0 });
  t.ok(second?.grow(4));
  t.notOk(second?.grow(1));
  t.ok(second?.grow(-10));
  second?.release();
  t.notOk(second?.grow(1), 'a share that was given back does not grow');
  t.same(pool.use, { places: 0, bytes: 0, waiting: 0, refused: 0 });
});

test('accounts that wait take turns, whoever has more that waits', async (t) => {
  const pool = new FairPool({ places: { all: 1, ofOne: 1 } });
  const order: string[] = [];
  const run = (name: string, account: number) =>
    pool.run(account, async () => {
      order.push(name);
      await settled();
    });
  await Promise.all([run('a1', 1), run('a2', 1), run('a3', 1), run('b1', 2), run('b2', 2), run('c1', 3)]);
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  t.same(pool.use, { places: 0, bytes: 0, waiting: 0, refused: 0 });
});

test('a large one is not overtaken for ever by small ones that fit', async (t) => {
  const pool = new FairPool({ bytes: { all: 10, ofOne: 10 } });
  const small = await pool.acquire(1, 4);
  const order: string[] = [];
  const large = pool.run(2, async () => void order.push('large'), 1_000);
  const after = pool.run(3, async () => void order.push('after'), 1);
  await settled();
  t.same(order, []);
  small.release();
  await Promise.all([large, after]);
  t.same(order, ['large', 'after']);
});

test('an account that waits for its own share holds up nobody', async (t) => {
  const pool = new FairPool({ places: { all: 4, ofOne: 1 } });
  const own = await pool.acquire(1);
  let isIn = false;
  const second = pool.acquire(1).then((share) => {
    isIn = true;
    return share;
  });
  const other = await pool.acquire(2);
  t.notOk(isIn);
  own.release();
  (await second).release();
  other.release();
});

test('work that fails gives its share back', async (t) => {
  const pool = new FairPool({ places: { all: 1, ofOne: 1 } });
  await t.rejects(pool.run(1, () => Promise.reject(new Error('failed'))));
  t.ok(pool.isFree(2));
});
