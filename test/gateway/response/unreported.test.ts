import { pino } from 'pino';
import { test } from 'tap';
import { UNITS, type Unit } from '../../../src/domain/units.ts';
import type { AdmittedCall } from '../../../src/gateway/call.ts';
import { CacheShares } from '../../../src/gateway/response/cache-shares.ts';
import { hiddenTokens, settleBy, unreported } from '../../../src/gateway/response/unreported.ts';
import { admittedCall } from '../../helper/fixtures/admitted-call.ts';
import { creditPrice } from '../../helper/fixtures/credit-price.ts';

const EVERY_OUTPUT = (Object.keys(UNITS) as Unit[]).filter((unit) => UNITS[unit].tokens === 'output');

/** `tokens` costs 1,000 micro-credits for a token of input, 500 for a cached one and 2,000 for one of output. */
const INPUT = 1_000;
const OUTPUT = 2_000;

/** A call that was sent `agoMs` before the time 10,000. */
function sent(call: AdmittedCall, agoMs: number | undefined) {
  const sentAt = agoMs === undefined ? undefined : 10_000 - agoMs;
  return { call, attempt: { exchange: { sentAt } }, context: contextOf() };
}

function contextOf(cacheShares = new CacheShares()) {
  return { hiddenTokensPerSecond: 50, cacheShares };
}

test('silence counts as hidden reasoning until the first visible output', (t) => {
  const call = admittedCall({});
  t.equal(hiddenTokens(sent(call, 4_000), 10_000), 200);
  t.equal(hiddenTokens(sent(call, 4_000), 10_000, 1_000), 1_000, 'what the provider says, if that is more');
  t.equal(hiddenTokens(sent(call, 4_000), 10_000, 10), 200);
  t.equal(hiddenTokens(sent(call, undefined), 10_000), 0, 'nothing was sent');
  const plain = admittedCall({ more: { reasons: false } });
  t.equal(hiddenTokens(sent(plain, 4_000), 10_000), 0, 'a model that does not reason');
  t.equal(hiddenTokens(sent(plain, 4_000), 10_000, 7), 7);
  t.equal(hiddenTokens(sent(admittedCall({ path: '/v1/images/generations' }), 4_000), 10_000), 0);
  t.ok(hiddenTokens(sent(call, 4_000), undefined) >= 0, 'until now, where nothing was visible');
  t.end();
});

function usageOf(
  call: AdmittedCall,
  usage: { input: number; output: number; cachedInput?: number },
  hidden = 0,
) {
  const { cachedInput: _, ...counted } = usage;
  return unreported({ call, context: contextOf() }, { counted, merged: usage, hidden });
}

test('hidden reasoning is added to the output that came', (t) => {
  t.same(usageOf(admittedCall({}), { input: 5, output: 7 }, 100), { input: 5, output: 107 });
  const reported = { counted: { input: 5, output: 7 }, merged: { input: 5, output: 900 }, hidden: 100 };
  const { output } = unreported({ call: admittedCall({}), context: contextOf() }, reported);
  t.equal(output, 900, 'a report that came until then wins');
  t.end();
});

test('Esc in a coding agent: cached input is charged by the share of the last report', (t) => {
  const call = admittedCall({ value: { prompt_cache_key: 'session' } });
  const cacheShares = new CacheShares();
  cacheShares.note(call, { input: 1_000, cachedInput: 199_000 });
  const counted = { input: 200_000, output: 10 };
  t.same(unreported({ call, context: contextOf(cacheShares) }, { counted, merged: counted, hidden: 0 }), {
    input: 1_000,
    cachedInput: 199_000,
    output: 10,
  });
  t.same(
    usageOf(call, { input: 200, output: 1 }),
    { input: 200, output: 1 },
    'without one: all of it as input',
  );
  const reported = { input: 100, cachedInput: 100, output: 1 };
  t.same(
    unreported({ call, context: contextOf(cacheShares) }, { counted, merged: reported, hidden: 0 })
      .cachedInput,
    100,
  );
  t.end();
});

test('where writes to the cache have a price, the input counts as written', (t) => {
  const price = creditPrice({ input: 1_000, cachedInput: 100, cacheWrite: 1_250, output: 2_000 });
  const call = admittedCall({ value: { prompt_cache_key: 'session' }, more: { price } });
  t.same(usageOf(call, { input: 200, output: 1 }), { input: 0, cacheWrite: 200, output: 1 });
  const cacheShares = new CacheShares();
  cacheShares.note(call, { input: 50, cachedInput: 50 });
  const counted = { input: 200, output: 1 };
  t.same(unreported({ call, context: contextOf(cacheShares) }, { counted, merged: counted, hidden: 0 }), {
    input: 0,
    cachedInput: 100,
    cacheWrite: 100,
    output: 1,
  });
  const claude = admittedCall({ path: '/v1/messages', model: 'claude' });
  t.same(
    usageOf(claude, { input: 200, output: 1 }),
    { input: 200, output: 1 },
    'Anthropic reports it at the start',
  );
  t.end();
});

test('an estimate costs at most the hold, and output is cut first', (t) => {
  const hold = 100 * INPUT + 50 * OUTPUT;
  const call = admittedCall({ hold });
  t.same(usageOf(call, { input: 100, output: 50 }), { input: 100, output: 50 });
  const { input, output = 0 } = usageOf(call, { input: 100, output: 10 }, 1_000_000);
  t.equal(input, 100);
  t.ok(output >= 49 && output <= 50, `${output}`);
  const much = usageOf(call, { input: 1_000_000, output: 1_000 });
  t.equal(much.output, 0);
  t.ok((much.input ?? 0) >= 199 && (much.input ?? 0) <= 200, JSON.stringify(much));
  const free = admittedCall({ hold: 0, more: { price: creditPrice({}) } });
  t.same(usageOf(free, { input: 9, output: 9 }), { input: 9, output: 9 });
  t.end();
});

test('input that was reported before the break is charged, also beyond the hold', (t) => {
  const call = admittedCall({ hold: 100 * INPUT, path: '/v1/messages' });
  const merged = { input: 500, cachedInput: 20, output: 3 };
  const estimate = { counted: { input: 7, output: 3 }, merged, hidden: 900 };
  t.same(unreported({ call, context: contextOf() }, estimate), merged);
  t.end();
});

test('every unit of output is cut before the input', (t) => {
  const price = creditPrice(Object.fromEntries(EVERY_OUTPUT.map((unit) => [unit, 1])));
  const call = admittedCall({ hold: 0, more: { price } });
  const usage = {
    input: 9,
    ...Object.fromEntries(EVERY_OUTPUT.map((unit) => [UNITS[unit].usage, 1_000_000])),
  };
  const estimate = { counted: usage, merged: usage, hidden: 0 };
  const none = Object.fromEntries(EVERY_OUTPUT.map((unit) => [UNITS[unit].usage, 0]));
  t.same(unreported({ call, context: contextOf() }, estimate), { input: 9, ...none });
  t.end();
});

test('an error after a call was settled by an estimate does not settle it again', (t) => {
  const settled: unknown[] = [];
  const reading = { usage: undefined, estimate: () => ({ input: 1 }) };
  const settle = (usage: unknown) => {
    settled.push(usage);
    throw new Error('a metric failed');
  };
  t.throws(() => settleBy(reading, settle, pino({ level: 'silent' })), { message: 'a metric failed' });
  t.same(settled, [{ input: 1 }]);
  t.end();
});

test('an estimate that fails is the price per request', (t) => {
  const settled: unknown[] = [];
  const reading = {
    usage: undefined,
    estimate() {
      throw new Error('no estimate');
    },
  };
  settleBy(reading, (usage, estimated) => settled.push([usage, estimated]), pino({ level: 'silent' }));
  t.same(settled, [[{}, true]]);
  t.end();
});
