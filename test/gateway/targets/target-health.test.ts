import { test } from 'tap';
import type { Model } from '../../../src/domain/catalog.ts';
import { TargetHealth } from '../../../src/gateway/targets/target-health.ts';

const MODEL = { slug: 'm', upstream: { name: 'up' }, upstreamModel: 'm' } as unknown as Model;
const ERROR = { status: 503, cause: 'error', error: 'HTTP 503' } as const;
const REFUSED = { status: 401, cause: 'credential', error: 'HTTP 401' } as const;

function health() {
  const lines: string[] = [];
  const say = (fields: object, line: string) =>
    void lines.push(`${line} ${(fields as { cause?: string }).cause ?? ''}`.trim());
  const log = { debug: say, info: say, warn: say, error: say };
  const all = new TargetHealth({ log });
  const call = (accountId = 1) => all.begin(MODEL, accountId);
  const fail = (times: number, accountId = 1) => {
    for (let time = 0; time < times; time++) call(accountId).failed(ERROR);
  };
  const isOut = () => all.report(MODEL).state === 'out';
  const outMs = () => (all.report(MODEL).outUntil as number) - Date.now();
  return { lines, all, call, fail, isOut, outMs };
}

test("one account's failures put a target out when three come without a success between", async (t) => {
  const { call, fail, isOut } = health();
  fail(2);
  call().answered(1);
  fail(2);
  t.notOk(isOut(), 'neither one call nor two in a row');
  fail(1);
  t.ok(isOut());
});

test('failures of two accounts put a target out, also with successes between', async (t) => {
  const { call, fail, isOut } = health();
  fail(1);
  call().answered(1);
  t.notOk(isOut());
  fail(1, 2);
  t.ok(isOut());
});

test('403 never puts a target out, because some providers answer a prompt with it', async (t) => {
  const { all, call, isOut } = health();
  for (const account of [1, 2, 3, 4])
    call(account).failed({ status: 403, cause: 'forbidden', error: 'HTTP 403: flagged' });
  t.notOk(isOut());
  t.match(all.report(MODEL), { failed: 4, lastError: 'HTTP 403: flagged' });
});

test('a refused connection, a failed TLS handshake and a refused credential put a target out at once', async (t) => {
  for (const cause of ['connection', 'tls', 'credential'] as const) {
    const { all, call, isOut } = health();
    call().failed({ status: null, cause, error: cause });
    t.ok(isOut(), cause);
    t.equal(all.report(MODEL).cause, cause);
  }
});

test('a refused credential that a reload has replaced puts no target out any more, whatever old calls say', async (t) => {
  const { all, call, isOut } = health();
  const [late, first] = [call(), call()];
  first.failed(REFUSED);
  t.ok(isOut());
  const renewed = { ...MODEL, upstream: { ...MODEL.upstream, apiKey: 'new' } };
  t.equal(all.report(renewed).state, 'up');
  late.failed(REFUSED);
  t.equal(all.report(renewed).state, 'up');
  for (const _ of [1, 2, 3]) all.begin(renewed, 1).failed(ERROR);
  t.equal(
    all.report({ ...renewed, upstream: { ...renewed.upstream, apiKey: 'newer' } }).state,
    'out',
    'for another cause',
  );
});

test('when the time out is over a call tries the target, and its answer brings it back', async (t) => {
  const { all, call, lines, isOut } = health();
  const failure = { ...ERROR, retryAfterMs: 0 };
  for (const _ of [1, 2, 3]) call().failed(failure);
  t.ok(isOut());
  t.ok(all.availability(MODEL).isAvailable);
  call().answered(5);
  t.match(all.report(MODEL), { state: 'up', cause: undefined, outUntil: undefined, latencyMs: 5 });
  t.same(lines, ['target failed; calls try other targets first error', 'target is back']);
});

test('while a call tries a target that was out, others wait for it, and a time at most', async (t) => {
  const { all, call, outMs } = health();
  for (const _ of [1, 2, 3]) call().failed({ ...ERROR, retryAfterMs: 0 });
  const trial = call();
  t.notOk(all.availability(MODEL).isAvailable);
  t.ok(outMs() <= 2_000, `${outMs()} ms, in case that the client of the trial leaves`);
  trial.answered(5);
  t.ok(all.availability(MODEL).isAvailable);
});

test('any failure of a call that tries a target puts it out again', async (t) => {
  const { all, call } = health();
  call().failed({ ...REFUSED, retryAfterMs: 0 });
  const before = all.report(MODEL).outUntil;
  call().failed(ERROR);
  t.match(all.report(MODEL), { state: 'out', cause: 'error' });
  t.ok((all.report(MODEL).outUntil as number) < (before as number), 'for the time of its own cause');
});

test('the time out doubles, and calls that were sent together are one failure', async (t) => {
  const { call, fail, outMs } = health();
  fail(2);
  for (const one of [call(), call(), call()]) one.failed(ERROR);
  t.ok(outMs() <= 1_000, `${outMs()} ms`);
  fail(1);
  t.ok(outMs() <= 2_000, `${outMs()} ms`);
  fail(10);
  t.ok(outMs() <= 60_000, `${outMs()} ms`);
});

test('Retry-After counts up to a minute', async (t) => {
  const { call, outMs } = health();
  for (const _ of [1, 2, 3])
    call().failed({ status: 429, cause: 'rate_limit', error: '', retryAfterMs: 86_400_000 });
  t.ok(outMs() <= 60_000, `${outMs()} ms`);
});

test('a target out for its errors that then refuses the credential is logged again, and once', async (t) => {
  const { call, fail, lines } = health();
  fail(3);
  call().failed(REFUSED);
  call().failed(REFUSED);
  t.same(lines, [
    'target failed; calls try other targets first error',
    'target refused the credential of this gateway; calls try other targets first credential',
  ]);
});

test('a refused credential is out at both addresses, logged once, until one of them takes it', async (t) => {
  const { all, call, lines } = health();
  const apart = { ...MODEL, upstream: { ...MODEL.upstream, isApart: true } } as Model;
  const states = () => [MODEL, apart].map((model) => all.report(model).cause);
  call().failed(ERROR);
  t.same(states(), [undefined, undefined]);
  all.begin(apart, 1).failed(REFUSED);
  t.same(states(), ['credential', 'credential']);
  call().answered(1);
  t.same(states(), [undefined, 'credential'], 'it was seen to refuse');
  call().failed(REFUSED);
  call().failed(REFUSED);
  t.same(states(), ['credential', 'credential']);
  all.begin(apart, 1).answered(1);
  t.same(states(), ['credential', undefined]);
  call().answered(1);
  t.same(states(), [undefined, undefined]);
  call().failed(REFUSED);
  call().answered(1);
  t.same(states(), [undefined, undefined], 'what was only inferred is over with its reason');
  t.same(lines, [
    'target refused the credential of this gateway; calls try other targets first credential',
    'target is back',
    'target refused the credential of this gateway; calls try other targets first credential',
    'target is back',
    'target is back',
    'target refused the credential of this gateway; calls try other targets first credential',
    'target is back',
  ]);
});

test('errors at one address say nothing of the other', async (t) => {
  const { all, fail } = health();
  const apart = { ...MODEL, upstream: { ...MODEL.upstream, isApart: true } } as Model;
  fail(3);
  t.equal(all.report(MODEL).state, 'out');
  t.equal(all.report(apart).state, 'up');
  t.match(all.reports(), [{ state: 'out', calls: 3, failed: 3 }], 'one target');
});
