import { test } from 'tap';
import type { Model } from '../../../src/domain/catalog.ts';
import { TargetHealth } from '../../../src/gateway/targets/target-health.ts';
import { until } from '../../helper/check/until.ts';

const MODEL = { slug: 'm', upstream: { name: 'up' }, upstreamModel: 'm' } as unknown as Model;
const FAILURE = { status: 503, error: 'HTTP 503' };

function health(hints?: ConstructorParameters<typeof TargetHealth>[0]['hints']) {
  const lines: string[] = [];
  const say = (_fields: object, line: string) => void lines.push(line);
  const log = { debug: say, info: say, warn: say, error: say };
  return { lines, all: new TargetHealth({ log, ...(hints ? { hints } : {}) }) };
}

test('a target that failed is out, tried once after its time, and back with the first answer', async (t) => {
  const { all, lines } = health();
  all.begin(MODEL).failed({ ...FAILURE, outMs: 10 });
  t.match(all.report(MODEL), { state: 'out', lastError: 'HTTP 503', failed: 1, calls: 1 });
  t.notOk(all.availability(MODEL).isAvailable);
  await until('the trial', () => all.availability(MODEL).isAvailable);
  const trial = all.begin(MODEL);
  t.notOk(all.availability(MODEL).isAvailable, 'one call at a time');
  trial.answered(5);
  t.match(all.report(MODEL), { state: 'up', latencyMs: 5 });
  t.same(lines, ['target failed; sending it no calls for now', 'target is back']);
});

test('the time out doubles, and calls that fail together are one failure', async (t) => {
  const { all } = health();
  const together = [all.begin(MODEL), all.begin(MODEL), all.begin(MODEL)];
  for (const one of together) one.failed(FAILURE);
  const first = (all.report(MODEL).outUntil as number) - Date.now();
  t.ok(first > 0 && first <= 1_000, `${first} ms`);
  all.begin(MODEL).failed(FAILURE);
  const second = (all.report(MODEL).outUntil as number) - Date.now();
  t.ok(second > first && second <= 2_000, `${second} ms`);
  all.close();
});

test('a trial that its client left is free for the next call', async (t) => {
  const { all } = health();
  all.begin(MODEL).failed({ ...FAILURE, outMs: 1 });
  await until('the trial', () => all.availability(MODEL).isAvailable);
  all.begin(MODEL).abandoned();
  t.ok(all.availability(MODEL).isAvailable);
});

test("another gateway's news count, older ones do not, and its trial is waited for", async (t) => {
  const published: string[] = [];
  const { all } = health({
    publish: (name, { outUntil }) => void published.push(`${name} ${outUntil > 0 ? 'out' : 'up'}`),
    claimTrial: async () => false,
    trialEnded() {},
  });
  all.begin(MODEL).answered(1);
  all.heard('up m', { outUntil: Date.now() + 60_000, failures: 3, changedAt: Date.now() });
  t.equal(all.report(MODEL).state, 'out');
  all.heard('up m', { outUntil: 0, failures: 0, changedAt: 1 });
  t.equal(all.report(MODEL).state, 'out', 'old news');
  all.heard('up m', { outUntil: 0, failures: 0, changedAt: Date.now() + 1 });
  t.equal(all.report(MODEL).state, 'up');
  t.same(published, [], 'news are not repeated');
  all.begin(MODEL).failed({ ...FAILURE, outMs: 1 });
  t.same(published, ['up m out']);
  all.close();
});
