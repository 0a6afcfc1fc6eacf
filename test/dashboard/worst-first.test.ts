import t from 'tap';
import {
  credentialsOf,
  isIdle,
  type Provider,
  type Target,
  worstFirst,
} from '../../src/dashboard/page/operator/worst-first.ts';

const NONE = { attempts: 0, failed: 0 };

function target(more: Partial<Target>): Target {
  return {
    target: 'one',
    model: 'flat',
    formats: ['openai'],
    state: 'up',
    formats_out: [],
    cause: null,
    out_since: null,
    out_until: null,
    last_error: null,
    last_error_at: null,
    latency_ms: null,
    hour: NONE,
    day: NONE,
    calls: 0,
    ...more,
  };
}

function provider(name: string, ...targets: Partial<Target>[]): Provider {
  return { name, format: 'openai', targets: targets.map((more) => target({ target: name, ...more })) };
}

t.test('providers are listed worst first: the healthy one with most calls came first', async (t) => {
  const list = worstFirst([
    provider('idle'),
    provider('busy', { calls: 900, hour: { attempts: 400, failed: 1 }, day: { attempts: 500, failed: 1 } }),
    provider('over', { day: { attempts: 50, failed: 50 } }),
    provider('failing', { hour: { attempts: 20, failed: 9 }, day: { attempts: 20, failed: 9 } }),
    provider('paused', { state: 'out', cause: 'error' }),
    provider('refused', { state: 'out', cause: 'credential' }),
  ]);
  t.same(
    list.map(({ name }) => name),
    ['refused', 'paused', 'failing', 'busy', 'over', 'idle'],
    'an incident that is over comes after failures of the last hour',
  );
});

t.test('targets are grouped by credential, and the refused one is named', async (t) => {
  const out = { state: 'out', cause: 'credential', target: 'a#2' } as const;
  const [first, second] = credentialsOf(
    provider('a', { model: 'flat' }, { ...out, model: 'two' }, { target: 'a#2', model: 'one' }),
  );
  t.match(first, { name: 'a#2', refused: { model: 'two' } });
  t.same(
    first?.targets.map(({ model }) => model),
    ['two', 'one'],
  );
  t.match(second, { name: 'a', refused: undefined });
});

t.test('a model without calls is idle, unless an error of it is known', async (t) => {
  t.equal(isIdle(target({})), true);
  t.equal(isIdle(target({ last_error: 'HTTP 500' })), false);
  t.equal(isIdle(target({ day: { attempts: 1, failed: 0 } })), false);
});
