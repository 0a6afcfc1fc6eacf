import type { CallPlan, Manner } from '../driver/calls.ts';
import type { Change } from '../driver/owners.ts';
import { Step } from '../driver/step.ts';
import type { Failpoint } from '../nemesis/failpoints.ts';
import type { FaultPlan } from '../nemesis/nemesis.ts';
import { MOODS, type MoodName } from '../world/targets.ts';
import type { HistoryPlan } from './generator.ts';

/**
 * A history for a kind of bug that drawn histories or reviews have found. It combines the faults under which the bug
 * occurred. Bugs that depended on an exact moment have their own tests, next to the fixed code.
 */
export interface FixedHistory extends HistoryPlan {
  readonly name: string;
}

export function calls(count: number, more: Partial<CallPlan> & { isAwaited?: boolean } = {}): Step {
  const { isAwaited = false, ...plan } = more;
  const one = { manner: 'plain', model: 'flat', leaving: undefined } as const;
  const plans = Array.from({ length: count }, (_, at) => ({ ...one, key: at, slot: at, ...plan }));
  return Step.of('calls', { plans, isAwaited });
}

export const slow = (count: number, manner: Manner = 'slow stream') => calls(count, { manner });
const left = (count: number, more: Partial<CallPlan>) => calls(count, { model: 'tokens', ...more });
const awaited = (count: number) => calls(count, { isAwaited: true });

export function fault(kind: Exclude<FaultPlan['kind'], 'failpoint'>, forMs = 300, slot = 0): Step {
  return Step.of('fault', { kind, slot, forMs, account: 1 });
}

const EFFECT_MS = { kill: 200, lose: 0, late: 6_500 } as const;

export function failpoint(point: Failpoint, effect: keyof typeof EFFECT_MS): Step {
  return Step.of('fault', { kind: 'failpoint', failpoint: { point, effect, forMs: EFFECT_MS[effect] } });
}

/**
 * Estimated calls that cost their whole hold of 1.5 credits; those of a sure account cost their estimate (estimated-
 * calls.ts). `estimate`: percent of the hold.
 */
function estimated(count: number, key: number, estimate = 10): Step {
  const plan = { key, hold: 1_500_000, estimate, cost: 100, lastsMs: 100 };
  return Step.of('estimated calls', { plans: Array.from({ length: count }, () => plan) });
}

export const change = (key: number, what: Change) => Step.of('change', { slot: 0, key, change: what });

const firstTarget = (mood: MoodName, afterMs = 0) => Step.of('first target', { mood, afterMs });

/** Awaited calls of both models at both gateways. */
function ofBoth(count: number, manner: Manner = 'plain'): Step {
  const plans = (['flat', 'tokens'] as const).flatMap((model) =>
    Array.from({ length: 2 * count }, (_, at) => ({ key: at, slot: at, manner, model, leaving: undefined })),
  );
  return Step.of('calls', { plans, isAwaited: true });
}

/**
 * Steps that create a second account, with 8 credits and a threshold of 5, and in it a key with a limit of 4 credits.
 */
const OWNERS = [
  Step.of('account', { slot: 0, credits: 8, threshold: 5, overdraft: 0 }),
  Step.of('key', { slot: 0, account: 1, limit: 4 }),
];

/** Two accounts with an overdraft; the first is a sure one. The second has a key with a limit, too. */
const OVERDRAWN = [
  Step.of('account', { slot: 0, credits: 3, threshold: 2, overdraft: 30 }),
  Step.of('account', { slot: 0, credits: 6, threshold: 2, overdraft: 5 }),
  Step.of('key', { slot: 0, account: 3, limit: 3 }),
];

/** Before each fault, calls that would cost more than these accounts have; then credits for the next. */
function beyondTheBalance(...faults: readonly Step[]): Step[] {
  return faults.flatMap((befalls) => [
    estimated(12, 3, 40),
    estimated(12, 5),
    estimated(12, 4),
    befalls,
    calls(4, { key: 4 }),
    Step.of('top-up', { slot: 1, account: 2, credits: 3 }),
    Step.of('top-up', { slot: 1, account: 3, credits: 12 }),
  ]);
}

export function history(name: string, world: HistoryPlan['world'], steps: readonly Step[]): FixedHistory {
  return {
    name,
    world,
    waitReplicas: false,
    begin: [...OWNERS, awaited(4), awaited(4), ...steps],
    steps: [],
  };
}

export const FIXED_HISTORIES: readonly FixedHistory[] = [
  history(
    'a call whose hold went with the tail that Redis lost is charged, and a hold that came back is released',
    'postgres',
    [awaited(6), slow(6), fault('redis set back', 500), calls(12), slow(6)],
  ),
  history('a settle sent again while its account is rebuilt is not applied a second time', 'postgres', [
    slow(8),
    failpoint('settled', 'lose'),
    fault('redis emptied'),
    fault('book stopped', 600),
    calls(10),
  ]),
  history('calls that their clients leave are charged as the upstream bills them', 'postgres', [
    left(8, { manner: 'slow stream', leaving: { afterMs: 90, of: 'head' } }),
    left(8, { manner: 'late', leaving: { afterMs: 60, of: 'start' } }),
    left(4, { manner: 'stall within', leaving: { afterMs: 20, of: 'head' } }),
    left(2, { manner: 'reset before the head', leaving: { afterMs: 5, of: 'start' } }),
    awaited(4),
    left(6, { manner: 'slow stream', leaving: { afterMs: 40, of: 'head' } }),
    fault('gateway restarted'),
    awaited(4),
  ]),
  history(
    'no call is shown twice, sent on where it may be billed, or sent to a target that is out',
    'sqlite',
    [
      Step.of('top-up', { slot: 0, account: 1, credits: 200 }),
      ...(Object.keys(MOODS) as MoodName[]).flatMap((mood) => [
        firstTarget('answers', 1_100),
        ofBoth(2),
        firstTarget(mood),
        ...[ofBoth(1), ofBoth(1, 'stream'), ofBoth(2)],
      ]),
      fault('gateway killed', 100, 1),
      firstTarget('answers'),
      ...[ofBoth(1), ofBoth(1, 'stream')],
    ],
  ),
  history('two gateways that rebuild an account concurrently let nothing be spent twice', 'postgres', [
    awaited(4),
    fault('redis emptied'),
    calls(20),
    fault('redis emptied'),
    calls(20),
  ]),
  history('a key deleted while its account is rebuilt stays deleted', 'postgres', [
    fault('redis slow', 900),
    fault('redis emptied'),
    calls(6),
    change(0, 'delete'),
    awaited(8),
  ]),
  history('credits recorded while Redis was away arrive in order', 'postgres', [
    fault('redis killed', 500),
    Step.of('account', { slot: 1, credits: 9, threshold: 3, overdraft: 0 }),
    Step.of('top-up', { slot: 1, account: 2, credits: 5 }),
    Step.of('adjustment', { slot: 1, account: 1, credits: -7 }),
    awaited(8),
  ]),
  history('connections to the book that fall silent together are closed together', 'postgres', [
    awaited(8),
    fault('book replies lost', 300, 0),
    fault('redis replies lost', 300, 0),
    fault('redis emptied'),
    calls(8),
  ]),
  history('deaths between commit and deletion, and between claim and POST, repeat nothing', 'postgres', [
    failpoint('drained', 'kill'),
    calls(8),
    failpoint('claimed', 'kill'),
    failpoint('book committed', 'lose'),
    Step.of('threshold', { slot: 1, account: 1, threshold: 7 }),
    awaited(10),
  ]),
  history(
    'a settle that Redis does not take is retried, and the journal keeps charges that the book does not take',
    'postgres',
    [
      slow(8),
      calls(1, { manner: 'late', isAwaited: true }),
      fault('redis killed', 900),
      awaited(4),
      Step.of('top-up', { slot: 0, account: 1, credits: 8 }),
      slow(4),
      fault('book stopped', 700),
      awaited(8),
    ],
  ),
  history(
    'a limit and a balance hold for concurrent calls, and a sweep keeps holds that are not due',
    'postgres',
    [
      Step.of('top-up', { slot: 0, account: 1, credits: 6 }),
      calls(2, { isAwaited: true }),
      calls(16, { key: 2, manner: 'late', isAwaited: true }),
      calls(16, { key: 1, manner: 'late' }),
      slow(4),
      Step.of('sweep', null),
      awaited(4),
    ],
  ),
  history('holds exceed the balance by the overdraft only, estimates do not', 'postgres', [
    ...OVERDRAWN,
    ...beyondTheBalance(fault('redis slow', 400), fault('redis killed', 300)),
  ]),
  history('a rebuild keeps the sums of holds and of estimates', 'postgres', [
    ...OVERDRAWN,
    ...beyondTheBalance(fault('redis emptied'), fault('redis set back', 300)),
    Step.of('overdraft', { slot: 1, account: 3, overdraft: 0 }),
    estimated(12, 4),
  ]),
  history(
    'a changed threshold holds for the next debit, and an admission that arrives late holds nothing',
    'postgres',
    [
      Step.of('account', { slot: 0, credits: 20, threshold: 2, overdraft: 0 }),
      Step.of('threshold', { slot: 0, account: 2, threshold: 18 }),
      calls(4, { key: 3, isAwaited: true }),
      failpoint('hold asked', 'late'),
      calls(4),
      failpoint('hold asked', 'late'),
      calls(4, { isAwaited: true }),
    ],
  ),
  history('entries of an epoch that is over are posted once, and their account rebuilt', 'postgres', [
    calls(6, { key: 0 }),
    Step.of('overtaken rebuild', { account: 0 }),
    calls(6, { key: 0, isAwaited: true }),
    Step.of('overtaken rebuild', { account: 0 }),
    calls(8, { key: 0, isAwaited: true }),
    change(0, 'restrict'),
    change(0, 'open'),
    change(0, 'delete'),
  ]),
  history('an alert that two workers see is claimed by one', 'postgres', [
    fault('book slow', 2_000, 0),
    fault('book slow', 2_000, 1),
    Step.of('concurrent alert worker', { lateMs: 60 }),
    ...[0, 1, 2, 3].flatMap(() => [
      Step.of('top-up', { slot: 0, account: 1, credits: 8 }),
      calls(8, { key: 1, isAwaited: true }),
    ]),
  ]),
  history('a book in a file survives the death of its only gateway', 'sqlite', [
    failpoint('settled', 'kill'),
    calls(8),
    fault('redis killed', 300),
    calls(8),
  ]),
  history('charges that the promoted replica and the book lack are made again', 'cluster', [
    slow(6),
    fault('book stopped', 1_200),
    fault('replica promoted, master frozen', 800),
    awaited(8),
    calls(8),
  ]),
  history('gateways die while slots are split between two masters', 'cluster', [
    fault('slots moved', 900),
    failpoint('settled', 'kill'),
    awaited(8),
    failpoint('hold', 'kill'),
    awaited(8),
  ]),
];
