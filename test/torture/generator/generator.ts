import fc from 'fast-check';
import { type CallPlan, MANNERS, type Manner } from '../driver/calls.ts';
import type { Leaving } from '../driver/client.ts';
import type { History } from '../driver/history.ts';
import type { Change } from '../driver/owners.ts';
import { Step, type StepPlans } from '../driver/step.ts';
import { LIMIT_FIELDS, type LimitField, type Limits, NO_LIMITS } from '../model/limits-model.ts';
import type { Model } from '../model/model.ts';
import { SPENDING_PERIODS, type SpendingLimit } from '../model/spending-model.ts';
import { FAILPOINTS, SENT_TO_REDIS } from '../nemesis/failpoints.ts';
import type { FaultPlan } from '../nemesis/nemesis.ts';
import { MOODS, type MoodName } from '../world/targets.ts';
import type { WorldKind } from '../world/world.ts';

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
  isBefore: fc.nat(5).map((nat) => nat === 0),
});

const manyCalls = fc.array(call, { minLength: 4, maxLength: 20, size: 'max' });

const calls = step('calls', fc.record({ plans: manyCalls, isAwaited: fc.boolean() }));

/** Calls of one key that reach its limits. */
const callsOfOne = step(
  'calls',
  fc.record({
    plans: fc.tuple(place, manyCalls).map(([key, plans]) => plans.map((plan) => ({ ...plan, key }))),
    isAwaited: fc.boolean(),
  }),
);

/** Calls with a hold, an estimate and a charge mostly above the estimate, with any differences. */
const estimatedCalls = step(
  'estimated calls',
  fc.record({
    plans: fc.array(
      fc.record({
        key: place,
        hold: fc.integer({ min: 1, max: 8_000_000 }),
        estimate: fc.oneof(fc.nat(20), fc.nat(100)),
        cost: fc.oneof(fc.constant(100), fc.nat(100)),
        tokens: fc.nat(300),
        usedTokens: fc.nat(400),
        lastsMs: fc.nat(300),
      }),
      { minLength: 4, maxLength: 16, size: 'max' },
    ),
  }),
);

/** Whole credits. */
const overdraft = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 }));

/** Rate limits that drawn calls reach: a call of calls.ts takes some 80 tokens. */
const LIMITS = {
  rpm_limit: fc.integer({ min: 3, max: 30 }),
  tpm_limit: fc.integer({ min: 40, max: 2_000 }),
  max_parallel_requests: fc.integer({ min: 1, max: 4 }),
} as const satisfies Record<LimitField, fc.Arbitrary<number>>;

/** None in one of three; with `freq: 1` it would always be none. */
const maybe = (limit: fc.Arbitrary<number>) => fc.option(limit, { nil: null, freq: 3 });

/** None in half of them. */
const limitsOfCalls: fc.Arbitrary<Limits> = fc.oneof(
  fc.constant(NO_LIMITS),
  fc.record({
    rpm_limit: maybe(LIMITS.rpm_limit),
    tpm_limit: maybe(LIMITS.tpm_limit),
    max_parallel_requests: maybe(LIMITS.max_parallel_requests),
  }),
);

const limitChanges = step(
  'limit',
  fc.constantFrom(...LIMIT_FIELDS).chain((field) =>
    fc.record({
      slot,
      of: fc.constantFrom('key' as const, 'key' as const, 'account' as const),
      place,
      field: fc.constant(field),
      limit: maybe(LIMITS[field]),
    }),
  ),
);

/** Spending limits that drawn calls reach, in whole credits; none in a third. */
const spendingUpTo = (max: number): fc.Arbitrary<readonly SpendingLimit[]> =>
  fc.oneof(
    { arbitrary: fc.constant([]), weight: 1 },
    {
      arbitrary: fc.uniqueArray(
        fc.record({ period: fc.constantFrom(...SPENDING_PERIODS), credits: fc.integer({ min: 1, max }) }),
        { selector: ({ period }) => period, minLength: 1, maxLength: SPENDING_PERIODS.length },
      ),
      weight: 2,
    },
  );
const spendingOfKey = spendingUpTo(12);
const spendingOfAccount = spendingUpTo(25);

const spendingChanges = step(
  'spending',
  fc.oneof(
    fc.record({ slot, of: fc.constant('key' as const), place, spending: spendingOfKey }),
    fc.record({ slot, of: fc.constant('account' as const), place, spending: spendingOfAccount }),
  ),
);

const rotations = step(
  'rotation',
  fc.record({ slot, key: place, grace: fc.constantFrom(0, 1, 2, 'end' as const) }),
);

const oneOfLimits = fc.oneof(limitChanges, rotations);

const openCalls = step('open calls', fc.constant(null));

const accounts = step(
  'account',
  fc.record({
    slot,
    credits: fc.integer({ min: 1, max: 30 }),
    threshold: fc.integer({ min: 0, max: 20 }),
    overdraft,
    spending: spendingOfAccount,
  }),
);

const overdrafts = step('overdraft', fc.record({ slot, account: place, overdraft }));

const keys = step(
  'key',
  fc.record({
    slot,
    account: place,
    limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null, freq: 2 }),
    limits: limitsOfCalls,
    spending: spendingOfKey,
  }),
);

const CHANGES: readonly Change[] = ['delete', 'delete', 'reactivate', 'restrict', 'open', 'raise the limit'];

const changes = step('change', fc.record({ slot, key: place, change: fc.constantFrom(...CHANGES) }));

const topUps = step('top-up', fc.record({ slot, account: place, credits: fc.integer({ min: 1, max: 20 }) }));

/** Adjustments. Some take the balance below 0, so every call is refused until a top-up. */
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
      // Around three limits: 5 s, after which Redis refuses an admission; 6 s, after which a gateway gives it up; and
      // 0.5 s, within which it cancels it on another connection.
      arbitrary: fc.record({
        point: fc.constantFrom(...SENT_TO_REDIS),
        effect: fc.constant('late' as const),
        forMs: fc.integer({ min: 4_500, max: 7_500 }),
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
  'gateway frozen',
  'gateway restarted',
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

/** A first target that recovers, in two of five. */
const firstTargets = step(
  'first target',
  fc.record({
    mood: fc.oneof(
      { arbitrary: fc.constant('answers' as const), weight: 4 },
      { arbitrary: fc.constantFrom(...(Object.keys(MOODS) as MoodName[])), weight: 6 },
    ),
    afterMs: fc.nat(300),
  }),
);

const sweeps = step('sweep', fc.constant(null));

const overtaken = step('overtaken rebuild', fc.record({ account: place }));

/** A second alert worker from the beginning, in two histories of three. */
const concurrentWorkers = fc.option(step('concurrent alert worker', fc.record({ lateMs: fc.nat(60) })), {
  nil: undefined,
  freq: 3,
});

/** A loss of Redis before any other fault, in one history of eight. */
const lossesWithoutFault = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 7 },
  {
    arbitrary: step('loss without fault', fc.record({ afterMs: fc.integer({ min: 300, max: 1_000 }) })),
    weight: 1,
  },
);

export interface HistoryPlan {
  readonly world: WorldKind;
  /** True if calls wait until a replica has their hold (REDIS_WAIT_REPLICAS); only for clusters. */
  readonly waitReplicas: boolean;
  readonly begin: readonly Step[];
  readonly steps: Iterable<fc.AsyncCommand<Model, History>>;
}

/** Number of rounds of a fault with calls, so that even a short history has faults during calls. */
const ROUNDS = { minLength: 2, maxLength: 4, size: 'max' } as const;

/** Number of histories of eight for each kind of world. */
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

/** Generator of histories: some accounts and keys, rounds of a fault with calls, then any steps, `maxSteps` in all. */
function historiesIn(world: WorldKind, maxSteps: number): fc.Arbitrary<HistoryPlan> {
  const faults = faultsIn(world);
  return fc.record({
    world: fc.constant(world),
    waitReplicas: world === 'cluster' ? fc.boolean() : fc.constant(false),
    begin: fc
      .tuple(
        fc.tuple(accounts, keys, accounts, keys, limitChanges),
        lossesWithoutFault,
        concurrentWorkers,
        fc.array(
          fc.tuple(estimatedCalls, oneOfLimits, firstTargets, faults, fc.oneof(calls, callsOfOne), openCalls),
          ROUNDS,
        ),
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
        callsOfOne,
        callsOfOne,
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
        limitChanges,
        limitChanges,
        spendingChanges,
        rotations,
        rotations,
        openCalls,
        firstTargets,
        firstTargets,
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
