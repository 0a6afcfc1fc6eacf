import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';
import type { CallModel, KeyModel } from '../model/model.ts';
import { valueToSend } from '../model/values-model.ts';
import { BEHAVIOR_HEADER, CALL_HEADER } from '../world/upstream.ts';
import type { Leaving } from './client.ts';
import type { History } from './history.ts';

/** The upstream's ways to answer, by name. */
export const MANNERS = {
  plain: {},
  late: { delayMs: 150 },
  stream: { chunks: 4 },
  'slow stream': { chunks: 6, intervalMs: 60 },
  refusal: { status: 429, body: { error: { message: 'Slow down.' } } },
  'reset before the head': { breakAfter: 'nothing' },
  'reset within': { breakAfter: 2 },
  'stall before the head': { stallAfter: 'nothing' },
  'stall within': { stallAfter: 2 },
} as const satisfies Record<string, Behavior>;

export type Manner = keyof typeof MANNERS;

/** A model call, as drawn by the generator. `key` and `slot` are taken modulo the number of keys and gateways. */
export interface CallPlan {
  readonly key: number;
  readonly slot: number;
  readonly manner: Manner;
  readonly model: 'flat' | 'tokens';
  readonly leaving: Leaving | undefined;
  /** True if it uses the previous value of the key, if there is one. */
  readonly isBefore?: boolean;
}

/** Statuses that a gateway or provider may answer a call with; any other is a violation. */
const STATUSES: ReadonlySet<number> = new Set([200, 401, 402, 403, 429, 502, 503, 504]);
const OF_PROVIDERS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);

/**
 * An unstreamed answer may begin at any time within the duration of a call, so a call that never gets one must be a
 * stream.
 */
const STREAMS = new Set<Manner>([
  'stream',
  'slow stream',
  'reset within',
  'stall before the head',
  'stall within',
]);

export function makeCall(history: History, plan: CallPlan): Promise<CallModel> {
  return makeCallWith(history, pick(history.model.keys, plan.key), plan);
}

export async function makeCallWith(
  history: History,
  key: KeyModel,
  plan: Omit<CallPlan, 'key'>,
  value = valueToSend(key, plan.isBefore ?? false),
): Promise<CallModel> {
  const { model, world } = history;
  const slot = plan.slot % world.slots.length;
  const call: CallModel = {
    id: model.calls.length + 1,
    key,
    value,
    slot,
    mustBeRefused: refusalOf(key, plan.model),
    startedAt: Date.now(),
    answer: undefined,
  };
  model.calls.push(call);
  history.summary.calls += 1;
  call.answer = await history.ask(slot, {
    method: 'POST',
    path: '/v1/chat/completions',
    token: value.value,
    headers: {
      [CALL_HEADER]: String(call.id),
      [BEHAVIOR_HEADER]: JSON.stringify(MANNERS[plan.manner]),
    },
    body: {
      model: plan.model,
      messages: [{ role: 'user', content: `Call ${call.id}` }],
      max_tokens: 50,
      stream: STREAMS.has(plan.manner),
    },
    leaving: plan.leaving,
  });
  const { status, text, isProviders } = call.answer;
  if (status === 429 && text.includes('rate_limit_exceeded')) history.summary.limited += 1;
  if (status !== undefined && !(isProviders ? OF_PROVIDERS : STATUSES).has(status)) {
    model.violations.push(`call ${call.id} (${plan.manner}) was answered ${status}: ${text}`);
  }
  return call;
}

function refusalOf(key: KeyModel, model: CallPlan['model']): CallModel['mustBeRefused'] {
  if (key.mayOpen) return undefined;
  if (key.isActive === false) return 'deleted';
  return key.isRestricted === true && model === 'flat' ? 'restricted' : undefined;
}

/** The element at an index modulo the length of the list. */
export function pick<T>(list: readonly T[], place: number): T {
  const found = list[place % list.length];
  if (found === undefined) throw new RangeError('nothing to pick from');
  return found;
}
