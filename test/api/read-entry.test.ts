import type { FastifyRequest } from 'fastify';
import { test } from 'tap';
import { readEntry } from '../../src/api/ledger/ledger-routes.ts';
import type { Book } from '../../src/book/book.ts';

/** Asks for an entry that the book does not have. `isFlushed` says whether the journal was drained in time. */
function askedFor({ isFlushed }: { isFlushed: boolean }) {
  const book = { entry: async () => undefined } as unknown as Book;
  const request = { params: { entry_id: 'req_1' }, query: {} } as unknown as FastifyRequest;
  const reader = { accountId: 1, onlyKeyId: undefined, owner: 1 };
  return readEntry({ book, ledger: { flush: async () => isFlushed } }, reader, request);
}

test('an entry that no journal brings is not found', async (t) => {
  await t.rejects(askedFor({ isFlushed: true }), { code: 'entry_not_found' });
});

test('while the journal is behind, no call is reported without an entry', async (t) => {
  await t.rejects(askedFor({ isFlushed: false }), { code: 'service_unavailable' });
});
