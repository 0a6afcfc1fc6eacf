import { test } from 'tap';
import { FairTable } from '../../src/shares/fair-table.ts';

test("an account with many entries pushes out its own oldest, not another's", (t) => {
  const table = new FairTable<number>(80);
  table.set(1, 'of another', 1);
  for (let at = 0; at < 1_000; at++) table.set(2, `made up ${at}`, at);
  t.equal(table.get('of another'), 1);
  t.equal(table.size, 11);
  t.equal(table.get('made up 990'), 990);
  t.equal(table.get('made up 989'), undefined);
  t.end();
});

test('the oldest of all goes when many accounts fill the table; an entry set again is new', (t) => {
  const table = new FairTable<number>(80);
  for (let account = 1; account <= 80; account++) table.set(account, `${account}`, account);
  table.set(1, '1', 100);
  table.set(81, '81', 81);
  t.equal(table.size, 80);
  t.equal(table.get('1'), 100);
  t.equal(table.get('2'), undefined);
  t.end();
});
