import { test } from 'tap';
import { startMediaWorld } from '../helper/media-world.ts';

const CHAT = '/v1/chat/completions';
const SSE = { headers: { 'content-type': 'text/event-stream' }, body: ['data: {}\n\n'] };
const HELD = { headers: { 'content-type': 'application/json' }, body: ['{"choices":', '[]}'] };

for (const [what, behaviour] of [
  ['a stream', { ...SSE, stallAfter: 0 }],
  ['an answer that is held', { ...HELD, stallAfter: 1 }],
] as const) {
  test(`a client that leaves between the head and the first byte of ${what} is settled once`, async (t) => {
    const world = await startMediaWorld(t, () => behaviour);
    const account = await world.account();
    const abort = new AbortController();
    const call = fetch(`${world.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}` },
      body: '{"model":"flat","messages":[],"stream":true}',
      signal: abort.signal,
    }).then((response) => response.text());
    const received = await world.provider.request(0);
    abort.abort();
    await t.rejects(call);
    await received.ended;
    t.match(await world.charged(account), { credits: 0, outcome: 'client_left', status: 499 });
    t.match(await world.held(account), { balance: 1_000_000_000, held: 0 });
  });
}

test('a stream that breaks after its head is seen to be broken, and costs nothing', async (t) => {
  const world = await startMediaWorld(t, () => ({ ...SSE, breakAfter: 0 }));
  const account = await world.account();
  const response = await world.post(account.key, CHAT, '{"model":"flat","messages":[],"stream":true}');
  t.equal(response.status, 200);
  await t.rejects(response.text());
  t.match(await world.charged(account), { credits: 0, outcome: 'upstream_broke' });
});
