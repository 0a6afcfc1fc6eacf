import type { CallPlan } from '../driver/calls.ts';
import type { LimitPlan } from '../driver/change-limits.ts';
import { Step } from '../driver/step.ts';
import { type Limits, NO_LIMITS } from '../model/limits-model.ts';
import type { Failpoint } from '../nemesis/failpoints.ts';
import { calls, change, type FixedHistory, failpoint, fault, history, slow } from './fixed-histories.ts';

/** The account that these histories limit, and its keys as numbered by calls and changes (fixed-histories.ts). */
const ACCOUNT = 1;
const OWNER = 1;
const LIMITED = 3;
/** Index of the limited key among the keys that are not the first of their account. */
const LIMITED_BUT_OWNERS = 1;

const limited = (limits: Partial<Limits>) =>
  Step.of('key', { slot: 0, account: ACCOUNT, limit: null, limits: { ...NO_LIMITS, ...limits } });

const of = (count: number, manner: CallPlan['manner'], more: Parameters<typeof calls>[1] = {}) =>
  calls(count, { key: LIMITED, manner, model: 'tokens', ...more });

const credits = Step.of('top-up', { slot: 0, account: ACCOUNT, credits: 200 });
const counted = Step.of('open calls', null);

function limit(
  field: LimitPlan['field'],
  value: number | null,
  whose: LimitPlan['of'] = 'key',
  slot = 0,
): Step {
  // Indexes exclude the very first account and key.
  const place = whose === 'key' ? LIMITED - 1 : ACCOUNT - 1;
  return Step.of('limit', { slot, of: whose, place, field, limit: value });
}

const rotation = (grace: number | 'end', slot = 0) =>
  Step.of('rotation', { slot, key: LIMITED_BUT_OWNERS, grace });

/** A gateway dies at each of these points, with more calls than the limits allow before and after. */
function killedAt(...points: readonly Failpoint[]): Step[] {
  return points.flatMap((point) => [
    of(6, 'slow stream'),
    failpoint(point, 'kill'),
    of(4, 'late'),
    calls(4, { key: OWNER, manner: 'late' }),
    counted,
    of(4, 'plain', { isAwaited: true }),
  ]);
}

export const LIMIT_HISTORIES: readonly FixedHistory[] = [
  history('requests and tokens of a minute stay within limits that change', 'postgres', [
    credits,
    limited({ rpm_limit: 4, tpm_limit: 1_000 }),
    of(8, 'plain', { isAwaited: true }),
    limit('rpm_limit', 6),
    of(8, 'late', { isAwaited: true }),
    limit('rpm_limit', null),
    limit('rpm_limit', 3),
    of(8, 'plain', { isAwaited: true }),
    limit('rpm_limit', 4, 'account'),
    calls(8, { key: OWNER, isAwaited: true }),
    limit('rpm_limit', null, 'account'),
    limit('rpm_limit', null),
    limit('tpm_limit', null),
    limit('tpm_limit', 200),
    of(8, 'slow stream', { isAwaited: true }),
    of(4, 'plain', { isAwaited: true }),
  ]),
  history('limits of calls in flight hold while they are changed, and for clients that leave', 'postgres', [
    credits,
    limited({ max_parallel_requests: 3 }),
    of(12, 'slow stream'),
    counted,
    limit('max_parallel_requests', 1),
    of(8, 'late', { isAwaited: true, leaving: { afterMs: 60, of: 'start' } }),
    limit('max_parallel_requests', null),
    of(8, 'slow stream'),
    limit('max_parallel_requests', 2, 'account', 1),
    of(8, 'late', { isAwaited: true }),
  ]),
  history('calls of a full limit leave nothing behind at gateways that restart and die', 'postgres', [
    credits,
    limited({ max_parallel_requests: 2 }),
    of(12, 'late', { leaving: { afterMs: 100, of: 'start' } }),
    of(12, 'late'),
    counted,
    fault('gateway restarted', 0, 0),
    of(8, 'late'),
    rotation(0),
    of(8, 'late', { isAwaited: true, isBefore: true }),
    fault('gateway killed', 100, 1),
    of(8, 'late', { isAwaited: true }),
  ]),
  history('calls of a gateway that dies around an admission take exactly what Redis counts', 'postgres', [
    credits,
    limited({ max_parallel_requests: 4, rpm_limit: 60 }),
    ...killedAt('hold asked', 'hold', 'asked'),
  ]),
  history('calls of a gateway that dies around a settle take exactly what Redis counts', 'postgres', [
    credits,
    limited({ max_parallel_requests: 4, rpm_limit: 60 }),
    ...killedAt('answered', 'settle sent', 'settled'),
  ]),
  history('an admission that is cancelled gives back what it took, once', 'postgres', [
    credits,
    limited({ max_parallel_requests: 2, rpm_limit: 20 }),
    failpoint('hold', 'lose'),
    of(4, 'late'),
    failpoint('hold asked', 'late'),
    of(4, 'late', { isAwaited: true }),
    counted,
    of(8, 'late', { isAwaited: true }),
  ]),
  history('an emptied Redis no longer counts open calls, and never below zero', 'postgres', [
    credits,
    limited({ max_parallel_requests: 2, rpm_limit: 10 }),
    limit('max_parallel_requests', 3, 'account'),
    of(6, 'slow stream'),
    fault('redis emptied'),
    of(6, 'slow stream'),
    counted,
    slow(4),
    fault('redis set back', 400),
    of(6, 'slow stream', { isAwaited: true }),
    counted,
  ]),
  history('a rebuild without a loss keeps the usage of limits', 'postgres', [
    credits,
    limited({ max_parallel_requests: 2, rpm_limit: 3 }),
    limit('max_parallel_requests', 4, 'account'),
    of(6, 'stall within'),
    // The entries of the owner's calls show that the account must be rebuilt, while other calls are open.
    Step.of('overtaken rebuild', { account: ACCOUNT }),
    calls(1, { key: OWNER, manner: 'late', isAwaited: true }),
    calls(1, { key: OWNER, manner: 'late', isAwaited: true }),
    calls(1, { key: OWNER, manner: 'late', isAwaited: true }),
    counted,
    // By the end of this one, the others have ended.
    calls(1, { key: OWNER, manner: 'stall within', isAwaited: true }),
    of(8, 'late', { isAwaited: true }),
  ]),
  history(
    'limits that the book has and Redis misses come into force or do not, with no state between',
    'postgres',
    [
      credits,
      limited({ max_parallel_requests: 1 }),
      failpoint('change committed', 'kill'),
      limit('max_parallel_requests', 3),
      of(8, 'late', { isAwaited: true }),
      failpoint('account change committed', 'lose'),
      limit('max_parallel_requests', 2, 'account', 1),
      of(8, 'late', { isAwaited: true }),
      failpoint('change committed', 'late'),
      limit('rpm_limit', 4, 'key', 1),
      of(8, 'plain', { isAwaited: true }),
      limit('rpm_limit', 8),
      of(12, 'plain', { isAwaited: true }),
    ],
  ),
  history(
    'a value that was rotated away while a gateway stood still is refused when it goes on',
    'postgres',
    [
      credits,
      limited({}),
      of(4, 'late'),
      fault('gateway frozen', 1_400, 1),
      of(4, 'late', { slot: 1 }),
      rotation(0),
      of(4, 'plain', { slot: 1, isBefore: true }),
      fault('gateway frozen', 1_400, 0),
      rotation(1, 1),
      of(6, 'plain', { isBefore: true, isAwaited: true }),
      of(6, 'plain', { isAwaited: true }),
      rotation('end'),
      of(6, 'plain', { isBefore: true, isAwaited: true }),
      rotation(1),
    ],
  ),
  history('values end on time under faults of Redis, the book and the publication', 'postgres', [
    credits,
    limited({}),
    rotation(2),
    fault('redis emptied'),
    of(6, 'plain', { isBefore: true }),
    failpoint('change committed', 'kill'),
    rotation(1, 1),
    rotation(1, 0),
    of(6, 'plain', { isBefore: true, isAwaited: true }),
    change(LIMITED_BUT_OWNERS, 'delete'),
    rotation(1),
    change(LIMITED_BUT_OWNERS, 'reactivate'),
    of(6, 'plain', { isBefore: true, isAwaited: true }),
    fault('redis set back', 500),
    rotation(0),
    of(6, 'plain', { isBefore: true, isAwaited: true }),
  ]),
  {
    ...history('limits of calls whose holds a replica has survive a failover', 'cluster', [
      credits,
      limited({ max_parallel_requests: 2, rpm_limit: 12, tpm_limit: 1_200 }),
      of(6, 'slow stream'),
      fault('replica promoted', 500),
      of(8, 'slow stream'),
      calls(6, { key: LIMITED, manner: 'late', isAwaited: true }),
      rotation(1),
      fault('replica promoted, master frozen', 800),
      of(8, 'late', { isBefore: true }),
      of(8, 'slow stream', { isAwaited: true }),
      counted,
    ]),
    waitReplicas: true,
  },
];
