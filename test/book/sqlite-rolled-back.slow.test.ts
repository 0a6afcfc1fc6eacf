import { join } from 'node:path';
import { test } from 'tap';
import { SqliteThread } from '../../src/book/sqlite.ts';

test('statements sent along with one that SQLite rolls back do not run alone', async (t) => {
  const folder = t.testdir();
  const thread = await SqliteThread.open({
    book: join(folder, 'book'),
    lock: join(folder, 'lock'),
    readOnly: false,
  });
  t.teardown(() => thread.close());
  const sums = async () => (await thread.query('select credits from sums', [])).rows;
  await thread.query('create table ledger (entry text)', []);
  await thread.query('create table sums (credits integer)', []);
  await thread.query('insert into sums values (0)', []);
  await thread.query('pragma max_page_count = 10', []);

  await thread.query('begin immediate', []);
  const sent = await Promise.allSettled([
    thread.query('insert into ledger values (?)', ['x'.repeat(1_000_000)]),
    thread.query('update sums set credits = credits + 1', []),
    thread.runEach('update sums set credits = credits + ?', '[[1],[1]]'),
    thread.query('commit', []),
  ]);
  t.same(
    sent.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected'],
  );
  await thread.query('rollback', []);
  t.same(await sums(), [{ credits: 0 }]);

  await thread.query('begin immediate', []);
  await thread.query('update sums set credits = credits + 1', []);
  await thread.query('commit', []);
  t.same(await sums(), [{ credits: 1 }], 'the next transaction commits');
});
