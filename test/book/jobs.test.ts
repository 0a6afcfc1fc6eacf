import { micro } from '../../src/domain/credits.ts';
import type { Job, JournalEntry, ResourceIds } from '../../src/domain/ledger-entry.ts';
import { entries, entry, NOW, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const JOB: Job = { upstream: 'openai', id: 'video_1', kind: 'videos' };

eachBook('a charge brings its job into the book, once, as the account’s that paid', async (t, book) => {
  const [own, other] = [await stored(book), await stored(book)];
  const accountId = own.account.id;
  const charge = entry(accountId, { keyId: own.key.id, model: 'film', job: JOB });
  t.same((await book.post([charge])).results, ['posted']);
  t.same((await book.post([charge])).results, ['duplicate']);
  t.same(await book.resource(accountId, 'videos', 'video_1'), {
    ...JOB,
    accountId,
    keyId: own.key.id,
    model: 'film',
    tokens: null,
    createdAt: NOW,
    chargeId: charge.id,
  });
  t.equal(await book.resource(accountId, 'responses', 'video_1'), undefined, 'of another kind');
  t.equal(await book.resource(other.account.id, 'videos', 'video_1'), undefined, 'of another account');
});

eachBook(
  'a charge brings what is kept of an answer into the book, each part with its tokens',
  async (t, book) => {
    const { account, key } = await stored(book);
    const ids = ['resp_1', 'msg_1'];
    const storedIds: ResourceIds = { upstream: 'openai', kind: 'responses', ids, tokens: [120, 20] };
    const charge = entry(account.id, { keyId: key.id, model: 'chat', storedIds });
    t.same((await book.post([charge])).results, ['posted']);
    const found = await book.resources(account.id, ['openai'], ids);
    t.same(
      new Map(found.map(({ id, tokens }) => [id, tokens])),
      new Map([
        ['resp_1', 120],
        ['msg_1', 20],
      ]),
    );
  },
);

eachBook('a job that was deleted stays deleted, also when a charge brings it again', async (t, book) => {
  const { account, key } = await stored(book);
  const accountId = account.id;
  const charge = { keyId: key.id, model: 'film', job: JOB };
  const [first, second] = entries(accountId, [charge, charge]);
  await book.post([first as JournalEntry]);
  await book.releaseResource({ ...JOB, accountId }, NOW);
  t.same((await book.post([second as JournalEntry])).results, ['posted']);
  t.equal(await book.resource(accountId, 'videos', 'video_1'), undefined);
  t.same(await book.resources(accountId, ['openai'], ['video_1']), []);
});

eachBook('of two jobs with one id, at two upstreams, the newer is the one', async (t, book) => {
  const { account, key } = await stored(book);
  const charge = { keyId: key.id, model: 'film' };
  await book.post(
    entries(account.id, [
      { ...charge, createdAt: NOW + 1, job: { ...JOB, upstream: 'b' } },
      { ...charge, createdAt: NOW, job: { ...JOB, upstream: 'a' } },
    ]),
  );
  t.match(await book.resource(account.id, 'videos', 'video_1'), { upstream: 'b' });
});

eachBook('a charge is told with the day it was booked to, and whether it was refunded', async (t, book) => {
  const [own, other] = [await stored(book), await stored(book)];
  const accountId = own.account.id;
  const charge = entry(accountId, { keyId: own.key.id, credits: micro(-5), day: TODAY - 3 });
  await book.post([charge]);
  t.match(await book.charge(accountId, charge.id), {
    entry: { id: charge.id, credits: -5, keyId: own.key.id },
    day: TODAY - 3,
    isRefunded: false,
  });
  t.equal(await book.charge(other.account.id, charge.id), undefined);
  t.equal(await book.charge(accountId, 'none'), undefined);
  const refund = entry(accountId, {
    id: `${charge.id}:refund`,
    type: 'refund',
    keyId: own.key.id,
    credits: micro(5),
    balanceAfter: micro(0),
    day: TODAY - 3,
    seq: 2,
  });
  await book.post([refund]);
  t.match(await book.charge(accountId, charge.id), { isRefunded: true });
  t.match(await book.usage(accountId, TODAY - 3, TODAY - 2, 'key'), [{ calls: 1, credits: 0 }]);
});
