import fc from 'fast-check';
import { type CallPlan, MANNERS, type Manner } from './calls.ts';
import type { Leaving } from './client.ts';
import { FAILPOINTS, SENT_TO_REDIS } from './failpoints.ts';
import type { History } from './history.ts';
import type { Model } from './model.ts';
import type { FaultPlan } from './nemesis.ts';
import type { Change } from './owners.ts';
import { Step, type StepPlans } from './step.ts';
import type { WorldKind } from './world.ts';

function step<Kind extends keyof StepPlans>(
  kind: Kind,
  plans: fc.Arbitrary<StepPlans[Kind]>,
): fc.Arbitrary<Step> {
  return plans.map((plan) => Step.of(kind, plan));
}

const slot = fc.nat(1);
const place = fc.nat(11);

const leaving: fc.Arbitrary<Leaving | undefined> = fc.option(
  fc.record({ afterMs: fc.nat(120), of: fc.constantFrom('start' as const, 'head' as const) }),
  { nil: undefined, freq: 5 },
);

const manner: fc.Arbitrary<Manner> = fc.oneof(
  { arbitrary: fc.constant('plain' as const), weight: 6 },
  { arbitrary: fc.constantFrom(...(Object.keys(MANNERS) as Manner[])), weight: 6 },
);

const call: fc.Arbitrary<CallPlan> = fc.record({
  key: place,
  slot,
  manner,
  model: fc.constantFrom('flat' as const, 'tokens' as const),
  leaving,
});

const calls = step(
  'calls',
  fc.record({ plans: fc.array(call, { minLength: 4, maxLength: 20, size: 'max' }), isAwaited: fc.boolean() }),
);

/** Calls with a hold, an estimate of it and a charge that is mostly above the estimate, at any distance. */
const estimatedCalls = step(
  'estimated calls',
  fc.record({
    plans: fc.array(
      fc.record({
        key: place,
        hold: fc.integer({ min: 1, max: 8_000_000 }),
        estimate: fc.oneof(fc.nat(20), fc.nat(100)),
        cost: fc.oneof(fc.constant(100), fc.nat(100)),
        lastsMs: fc.nat(300),
      }),
      { minLength: 4, maxLength: 16, size: 'max' },
    ),
  }),
);

/** Whole credits. */
const overdraft = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 }));

const accounts = step(
  'account',
  fc.record({
    slot,
    credits: fc.integer({ min: 1, max: 30 }),
    threshold: fc.integer({ min: 0, max: 20 }),
    overdraft,
  }),
);

const overdrafts = step('overdraft', fc.record({ slot, account: place, overdraft }));

const keys = step(
  'key',
  fc.record({
    slot,
    account: place,
    limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null, freq: 2 }),
  }),
);

const CHANGES: readonly Change[] = ['delete', 'delete', 'reactivate', 'restrict', 'open', 'raise the limit'];

const changes = step('change', fc.record({ slot, key: place, change: fc.constantFrom(...CHANGES) }));

const topUps = step('top-up', fc.record({ slot, account: place, credits: fc.integer({ min: 1, max: 20 }) }));

/** Some take the balance below 0, which holds back every call until a top-up. */
const adjustments = step(
  'adjustment',
  fc.record({ slot, account: place, credits: fc.integer({ min: -12, max: -1 }) }),
);

const thresholds = step(
  'threshold',
  fc.record({ slot, account: place, threshold: fc.integer({ min: 0, max: 20 }) }),
);

const forMs = fc.integer({ min: 20, max: 1_800 });

const failpoints: fc.Arbitrary<FaultPlan> = fc.record({
  kind: fc.constant('failpoint' as const),
  failpoint: fc.oneof(
    {
      arbitrary: fc.record({
        point: fc.constantFrom(...FAILPOINTS),
        effect: fc.constant('kill' as const),
        forMs: fc.nat(800),
      }),
      weight: 2,
    },
    {
      arbitrary: fc.record({
        point: fc.constantFrom(
          ...FAILPOINTS.filter((point) => !['asked', 'answered', 'posting'].includes(point)),
        ),
        effect: fc.constant('lose' as const),
        forMs: fc.constant(0),
      }),
      weight: 1,
    },
    {
      // A gateway gives up what is not answered within 1 s, and takes it back over another connection within 0.5 s.
      arbitrary: fc.record({
        point: fc.constantFrom(...SENT_TO_REDIS),
        effect: fc.constant('late' as const),
        forMs: fc.integer({ min: 1_000, max: 2_500 }),
      }),
      weight: 1,
    },
  ),
});

type FaultKind = Exclude<FaultPlan['kind'], 'failpoint'>;

const FAULT_KINDS = [
  'redis killed',
  'redis frozen',
  'redis slow',
  'redis replies lost',
  'redis cut',
  'scripts flushed',
  'redis emptied',
  'redis set back',
  'book stopped',
  'book slow',
  'book replies lost',
  'book cut',
  'gateway killed',
] as const satisfies readonly FaultKind[];

const CLUSTER_FAULT_KINDS = [
  'replica promoted',
  'replica promoted',
  'replica promoted, master frozen',
  'replica promoted, master frozen',
  'slots moved',
  'slots moved',
  'every node emptied',
  'scripts flushed everywhere',
] as const satisfies readonly FaultKind[];

function faultsOf(kinds: readonly FaultKind[]): fc.Arbitrary<FaultPlan> {
  return fc.record({ kind: fc.constantFrom(...kinds), slot, forMs, account: place });
}

function faultsIn(world: WorldKind): fc.Arbitrary<Step> {
  const some = [failpoints, faultsOf(FAULT_KINDS)];
  return step('fault', fc.oneof(...(world === 'cluster' ? [...some, faultsOf(CLUSTER_FAULT_KINDS)] : some)));
}

const sweeps = step('sweep', fc.constant(null));

const overtaken = step('overtaken rebuild', fc.record({ account: place }));

/** In two histories of three, from the beginning. */
const concurrentWorkers = fc.option(step('concurrent alert worker', fc.record({ lateMs: fc.nat(60) })), {
  nil: undefined,
  freq: 1,
});

/** In one history of eight, before anything else befalls it. */
const lossesWithoutFault = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 7 },
  {
    arbitrary: step('loss without fault', fc.record({ afterMs: fc.integer({ min: 300, max: 1_000 }) })),
    weight: 1,
  },
);

export interface HistoryPlan {
  readonly world: WorldKind;
  /** Of a cluster: calls go on only when a replica has their hold (REDIS_WAIT_REPLICAS). */
  readonly waitReplicas: boolean;
  readonly begin: readonly Step[];
  readonly steps: Iterable<fc.AsyncCommand<Model, History>>;
}

/** So that even a short history meets faults with calls under way. */
const ROUNDS = { minLength: 2, maxLength: 4, size: 'max' } as const;

/** Worlds, and in how many histories of eight. */
const SHARES = {
  all: { postgres: 5, sqlite: 2, cluster: 1 },
  'no cluster': { postgres: 6, sqlite: 2, cluster: 0 },
  cluster: { postgres: 0, sqlite: 0, cluster: 8 },
} as const satisfies Record<string, Record<WorldKind, number>>;

export type Worlds = keyof typeof SHARES;

export function histories(maxSteps: number, worlds: Worlds): fc.Arbitrary<HistoryPlan> {
  const shares = Object.entries(SHARES[worlds]) as [WorldKind, number][];
  return fc.oneof(...shares.map(([world, weight]) => ({ arbitrary: historiesIn(world, maxSteps), weight })));
}

/** Histories: some accounts and keys, rounds of a fault and calls, then anything, `maxSteps` at most. */
function historiesIn(world: WorldKind, maxSteps: number): fc.Arbitrary<HistoryPlan> {
  const faults = faultsIn(world);
  return fc.record({
    world: fc.constant(world),
    waitReplicas: world === 'cluster' ? fc.boolean() : fc.constant(false),
    begin: fc
      .tuple(
        fc.tuple(accounts, keys, accounts, keys),
        lossesWithoutFault,
        concurrentWorkers,
        fc.array(fc.tuple(estimatedCalls, faults, calls), ROUNDS),
      )
      .map(([owners, loss, worker, rounds]): readonly Step[] => [
        ...owners,
        ...(loss ? [loss] : []),
        ...(worker ? [worker] : []),
        ...rounds.flat(),
      ]),
    steps: fc.commands<Model, History, false>(
      [
        calls,
        calls,
        calls,
        estimatedCalls,
        estimatedCalls,
        accounts,
        keys,
        changes,
        changes,
        topUps,
        adjustments,
        thresholds,
        overdrafts,
        sweeps,
        overtaken,
        faults,
        faults,
        faults,
      ],
      { maxCommands: maxSteps, size: 'max', disableReplayLog: true },
    ),
  });
}
