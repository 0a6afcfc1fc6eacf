import { test } from 'tap';
import type { Model, Target } from '../../../src/domain/catalog.ts';
import { affinityOf, orderOf } from '../../../src/gateway/targets/order.ts';
import fc from '../../helper/suite/fast-check.ts';

function target(name: string, weight = 1, priority = 1): Target {
  const model = { slug: 'm', upstream: { name }, upstreamModel: 'm' } as unknown as Model;
  return { model, weight, priority };
}

const UP = () => ({ isAvailable: true, outUntil: 0 });
const nameOf = ({ model }: Target) => model.upstream.name;
const names = (order: readonly Target[]) => order.map(nameOf);
const firstOf = (targets: readonly Target[], affinity: string) => names(orderOf(targets, affinity, UP))[0];

const targetsOf = fc
  .uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 8 }),
      weight: fc.integer({ min: 1, max: 100 }),
      priority: fc.integer({ min: 0, max: 3 }),
      outUntil: fc.integer({ min: 0, max: 1_000 }),
    }),
    { minLength: 1, maxLength: 8, selector: ({ name }) => name },
  )
  .map((rows) =>
    rows.map(({ name, weight, priority, outUntil }) => ({ outUntil, ...target(name, weight, priority) })),
  );

test('targets that are up come by priority, then the first to come back', async (t) => {
  fc.assert(
    fc.property(targetsOf, fc.string(), (targets, affinity) => {
      const availability = (one: Target) => {
        const { outUntil } = one as (typeof targets)[number];
        return { isAvailable: outUntil < 500, outUntil };
      };
      const order = orderOf(targets, affinity, availability);
      const up = targets.filter(({ outUntil }) => outUntil < 500);
      if (up.length === 0) {
        const first = Math.min(...targets.map(({ outUntil }) => outUntil));
        return order.length === 1 && (order[0] as (typeof targets)[number]).outUntil === first;
      }
      const isAll = order.length === up.length && up.every((one) => order.includes(one));
      const isByPriority = order.every(
        ({ priority }, index) => index === 0 || priority >= (order[index - 1] as Target).priority,
      );
      return isAll && isByPriority;
    }),
  );
  t.pass('for all drawn targets');
});

test('a conversation goes to the same target, and moves only when its own leaves', async (t) => {
  fc.assert(
    fc.property(targetsOf, fc.string(), fc.nat(), (all, affinity, which) => {
      const targets = all.map((one) => ({ ...one, priority: 1 }));
      const first = firstOf(targets, affinity);
      if (firstOf([...targets].reverse(), affinity) !== first) return false;
      const gone = targets[which % targets.length] as Target;
      const rest = targets.filter((one) => one !== gone);
      return rest.length === 0 || nameOf(gone) === first || firstOf(rest, affinity) === first;
    }),
  );
  t.pass('for all drawn targets');
});

test('weights are the shares of the conversations', async (t) => {
  const targets = [target('a', 3), target('b', 1)];
  let ofA = 0;
  for (let conversation = 0; conversation < 4_000; conversation++) {
    if (firstOf(targets, `conversation ${conversation}`) === 'a') ofA++;
  }
  t.ok(ofA > 2_880 && ofA < 3_120, `${ofA} of 4,000, where 3,000 are meant`);
});

test('a conversation is known by its cache key, else by the first header of agents, else by the key', async (t) => {
  const headers = { 'x-session-id': 'last', 'thread-id': 'second', session_id: 'first' };
  const of = (name: string) => affinityOf({ prompt_cache_key: name }, {}, 7, 'secret');
  t.equal(affinityOf({ prompt_cache_key: 'own' }, headers, 7, 'secret'), of('own'));
  t.equal(affinityOf({}, headers, 7, 'secret'), of('first'));
  t.equal(affinityOf({ prompt_cache_key: 3 }, { 'x-opencode-session': 'o' }, 7, 'secret'), of('o'));
  t.equal(affinityOf({}, {}, 7, 'secret'), of('key 7'));
});

test('a client that knows all but the secret cannot choose names that lead to one target', async (t) => {
  const targets = [target('a', 999), target('b', 1)];
  const firstFor = (name: string, secret: string) =>
    firstOf(targets, affinityOf({ prompt_cache_key: name }, {}, 7, secret));
  const chosen: string[] = [];
  for (let at = 0; chosen.length < 5; at++)
    if (firstFor(`name ${at}`, 'a guess') === 'b') chosen.push(`name ${at}`);
  t.same(
    chosen.map((name) => firstFor(name, 'the secret of the installation')),
    ['a', 'a', 'a', 'a', 'a'],
  );
});
