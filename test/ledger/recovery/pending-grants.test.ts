import { test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import type { Grant } from '../../../src/book/grants.ts';
import type { JournalDrain } from '../../../src/ledger/journal/drain.ts';
import { type Grants, PendingGrants } from '../../../src/ledger/recovery/grants.ts';
import { log } from '../../helper/start/ledger.ts';

const LOST = 150;

test('many grants whose Redis is down keep back no others', async (t) => {
  const grant = (id: number, accountId: number) => ({ id: `${id}`, accountId, createdAt: id }) as Grant;
  const all = [...Array.from({ length: LOST }, (_, index) => grant(index + 1, 7)), grant(LOST + 1, 8)];
  const book = {
    pendingGrants: async (_before: number, limit: number, after?: Grant) =>
      all.filter(({ createdAt }) => createdAt > (after?.createdAt ?? 0)).slice(0, limit),
  } as unknown as Book;
  const drain = {
    drain: async (bucket: number) => {
      if (bucket === 7) throw new Error('the node is down');
    },
  } as unknown as JournalDrain;
  const applied: string[] = [];
  const grants = { apply: async ({ id }: Grant) => void applied.push(id) } as unknown as Grants;
  await t.rejects(new PendingGrants({ book, drain, grants, log }).apply());
  t.same(applied, [`${LOST + 1}`]);
});
