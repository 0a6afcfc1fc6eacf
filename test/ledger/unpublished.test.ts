import { test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { Publisher } from '../../src/ledger/publisher.ts';
import type { RedisClient } from '../../src/ledger/redis/connect.ts';
import { newKey } from '../helper/fixtures/book-records.ts';
import { log } from '../helper/start/ledger.ts';

const LOST = 600;

test('many records that cannot be published keep back no others', async (t) => {
  const record = (id: number, accountId: number) => ({ ...newKey(), id, accountId, version: 2 }) as KeyRecord;
  const lost = Array.from({ length: LOST }, (_, index) => record(index + 1, 7));
  const all = [...lost, record(LOST + 1, 8)];
  const book = {
    unpublished: async (limit: number, after = { key: 0, account: 0 }) => ({
      keys: all.filter(({ id }) => id > after.key).slice(0, limit),
      accounts: [],
    }),
    published: async () => {},
  } as unknown as Book;
  const published: string[] = [];
  const client = {
    publishKey: async (_count: number, account: string, key: string) => {
      if (account.startsWith('tg:{7}')) throw new Error('the node is down');
      published.push(key);
    },
  } as unknown as RedisClient;
  await t.rejects(new Publisher(client, book, log).publishUnpublished());
  t.same(published, [`tg:{8}:k:${LOST + 1}`]);
});
