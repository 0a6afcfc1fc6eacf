import pino from 'pino';
import { test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import type { ProviderResource } from '../../../src/book/resources.ts';
import { BookUnavailable } from '../../../src/book/store.ts';
import type { Model } from '../../../src/domain/catalog.ts';
import { ResourceOwnership } from '../../../src/gateway/resources/resource-ownership.ts';
import { rejection } from '../../helper/check/rejection.ts';

const JOB: ProviderResource = {
  accountId: 1,
  upstream: 'openai',
  id: 'video_1',
  kind: 'videos',
  keyId: 1,
  model: 'film',
  tokens: null,
  createdAt: 0,
  chargeId: 'req_1',
};

/**
 * Asks for a job that the book has only once the journal is drained, or never. `isFlushed` says whether that was in
 * time.
 */
function asked({ isFlushed, isJournalled }: { isFlushed: boolean; isJournalled: boolean }) {
  let hasJob = false;
  const book = { resource: async () => (hasJob ? JOB : undefined) } as unknown as Book;
  const flush = async () => {
    hasJob = isFlushed && isJournalled;
    return isFlushed;
  };
  const log = pino({ level: 'silent' });
  const ownership = new ResourceOwnership({ book, log, ledger: { flush }, contextTokens: 1 });
  return ownership.ownedBy({ accountId: 1 }, 'videos', 'video_1');
}

test('a job whose charge is still in the journal is found', async (t) => {
  t.same(await asked({ isFlushed: true, isJournalled: true }), JOB);
});

test('a job that no journal brings does not exist', async (t) => {
  await t.rejects(asked({ isFlushed: true, isJournalled: false }), { code: 'object_not_found' });
});

test('while the journal cannot be drained, no job is reported missing', async (t) => {
  t.ok((await rejection(asked({ isFlushed: false, isJournalled: true }))) instanceof BookUnavailable);
});

/** Asks for the objects behind an id at three targets, of which `owner` gets it from the journal. */
async function behind(owner: string | undefined) {
  const asked = { queries: 0, flushes: 0 };
  const book = {
    resources: async (_accountId: number, upstreams: readonly string[]) => {
      asked.queries++;
      return asked.flushes > 0 && owner !== undefined && upstreams.includes(owner)
        ? [{ ...JOB, upstream: owner, id: 'resp_1', tokens: 7 }]
        : [];
    },
  } as unknown as Book;
  const flush = async () => {
    asked.flushes++;
    return true;
  };
  const ownership = new ResourceOwnership({
    book,
    log: pino({ level: 'silent' }),
    ledger: { flush },
    contextTokens: 1,
  });
  const targets = ['one', 'two', 'three'].map((name) => ({ model: { upstream: { name } } }));
  const model = { targets } as unknown as Model;
  const found = ownership.behind(new Map([['resp_1', 'previous_response_id']]), model, { accountId: 1 });
  return { asked, found: await found.catch((error: unknown) => error) };
}

test('an unknown id costs two queries and one wait for the journal, however many targets the model has', async (t) => {
  const { asked, found } = await behind(undefined);
  t.match(found, { code: 'object_not_found', param: 'previous_response_id' });
  t.same(asked, { queries: 2, flushes: 1 });
});

test('the target that has the object is found, whichever it is', async (t) => {
  const { asked, found } = await behind('three');
  t.same(found, { tokens: 7, target: 'three' });
  t.same(asked, { queries: 2, flushes: 1 });
});
