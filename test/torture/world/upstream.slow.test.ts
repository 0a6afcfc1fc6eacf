import { test } from 'tap';
import { until } from '../../helper/check/until.ts';
import { BEHAVIOR_HEADER, billOf, CALL_HEADER, startUpstream } from './upstream.ts';

async function started(t: Parameters<typeof startUpstream>[0]) {
  const upstream = await startUpstream(t, () => {});
  const call = async (id: number, target: 'first' | 'test', behavior = {}) => {
    const response = await fetch(`${upstream.urls[target]}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer gateway-0',
        [CALL_HEADER]: String(id),
        [BEHAVIOR_HEADER]: JSON.stringify(behavior),
      },
      body: JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.status;
  };
  return { upstream, call };
}

// The checker took abandoned calls there as open for two seconds more, and so found one too many for their limit.
test('a call that only a failing target got has ended with its failure', async (t) => {
  const { upstream, call } = await started(t);
  t.equal(await call(4, 'first'), 500);
  t.type(upstream.visits.get(4)?.endingAt, 'number');
  t.equal(upstream.reached.get(4), 1);
  t.match(upstream.arrivals, [{ call: 4, target: 'first', way: 'fails', status: 500, outMs: 1 }]);
});

test('a call that was sent on ends with the last answer, and is billed by it', async (t) => {
  const { upstream, call } = await started(t);
  await call(6, 'first');
  const before = upstream.visits.get(6)?.arrivedAt;
  const answering = call(6, 'test', { delayMs: 100 });
  await until('its arrival', () => upstream.arrivals.length === 2);
  t.match(upstream.visits.get(6), { arrivedAt: before, endingAt: undefined, bill: undefined });
  t.equal(await answering, 200);
  await until('the end', () => upstream.visits.get(6)?.bill);
  t.match(upstream.visits.get(6), { arrivedAt: before, bill: billOf(6) });
  t.equal(upstream.reached.get(6), 1);
  upstream.firstIs('answers');
  t.equal(await call(6, 'first'), 200);
  t.equal(upstream.reached.get(6), 2, 'billed twice');
});
