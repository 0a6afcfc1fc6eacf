import { test } from 'tap';
import { CacheShares } from '../../../src/gateway/response/cache-shares.ts';
import { admittedCall } from '../../helper/fixtures/admitted-call.ts';

const MINUTE_MS = 60_000;

test('the cached share of a conversation is that of its last report', (t) => {
  const shares = new CacheShares();
  const call = admittedCall({ value: { prompt_cache_key: 'one' } });
  t.equal(shares.of(call), undefined);
  shares.note(call, { input: 100, cachedInput: 300 });
  t.equal(shares.of(call), 0.75);
  shares.note(call, { input: 100, cachedInput: 100, cacheWrite: 200 });
  t.equal(shares.of(call), 0.25);
  t.equal(shares.of(admittedCall({ value: { prompt_cache_key: 'two' } })), undefined, 'another conversation');
  t.equal(shares.of(admittedCall({ value: call.facts.scalars, keyId: 2 })), undefined, 'another key');
  t.equal(
    shares.of(admittedCall({ value: call.facts.scalars, model: 'renamed' })),
    undefined,
    'another model',
  );
  t.end();
});

test('a share is forgotten after 30 minutes', (t) => {
  let now = 0;
  const shares = new CacheShares(() => now);
  const call = admittedCall({ value: { prompt_cache_key: 'one' } });
  shares.note(call, { input: 0, cachedInput: 10 });
  now = 30 * MINUTE_MS;
  t.equal(shares.of(call), 1);
  now++;
  t.equal(shares.of(call), undefined);
  t.end();
});

test('conversations take bounded memory, and calls without a key none', (t) => {
  const shares = new CacheShares();
  for (const prompt_cache_key of [undefined, null, '', 7, 'x'.repeat(257)])
    shares.note(admittedCall({ value: { prompt_cache_key } }), { input: 1, cachedInput: 1 });
  t.equal(shares.size, 0);
  for (let at = 0; at < 5_000; at++)
    shares.note(admittedCall({ value: { prompt_cache_key: `key ${at}` } }), { input: 1, cachedInput: 1 });
  t.equal(shares.size, 250, 'an eighth of 2,000');
  t.equal(shares.of(admittedCall({ value: { prompt_cache_key: 'key 4999' } })), 0.5);
  t.equal(shares.of(admittedCall({ value: { prompt_cache_key: 'key 0' } })), undefined);
  t.end();
});
