import { test } from 'tap';
import { failureOfAnswer } from '../../../src/gateway/targets/failures.ts';

const UPSTREAM = { name: 'up', url: 'http://127.0.0.1', apiKey: 'secret', format: 'openai' } as const;
const retryAfterMs = (headers: Record<string, string>) =>
  failureOfAnswer({ statusCode: 429, headers }, Buffer.from(''), UPSTREAM).retryAfterMs;

test('a failed target is out for as long as its answer asks, in each form of the header', async (t) => {
  t.equal(retryAfterMs({ 'retry-after-ms': '1500', 'retry-after': '7' }), 1_500);
  t.equal(retryAfterMs({ 'retry-after': '7' }), 7_000);
  t.equal(retryAfterMs({ 'retry-after-ms': '-1', 'retry-after': '0' }), 0);
  const inAnHour = retryAfterMs({ 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }) ?? 0;
  t.ok(inAnHour > 0 && inAnHour <= 3_600_000, `${inAnHour} ms until a date`);
  t.equal(retryAfterMs({ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }), 0, 'a date that is over');
  for (const value of ['', 'soon']) t.equal(retryAfterMs({ 'retry-after': value }), undefined);
  t.equal(retryAfterMs({}), undefined);
});
