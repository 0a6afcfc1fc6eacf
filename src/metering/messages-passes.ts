import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import { FREE_PRICE } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { isObject } from './json/value.ts';
import { addUsage } from './usage.ts';
import { countsOf, type ReportedUsage, usageOf, wholeUsage } from './usage-report.ts';

/**
 * Model calls within one message (`usage.iterations`): passes of the requested model, summaries of the conversation and
 * advisors. Anthropic's totals include some of them.
 */

/** The whole usage of a message: the totals, and the calls that they exclude. Undefined without input or output. */
export function withPasses(reported: ReportedUsage, iterations: unknown): Usage | undefined {
  const totals = wholeUsage(reported);
  if (!totals) return undefined;
  const { messages, others, beyond } = sumIterations(iterations);
  // The totals don't divide written tokens by lifetime if the passes do.
  const long = Math.min((messages.cacheWrite1h ?? 0) - (totals.cacheWrite1h ?? 0), totals.cacheWrite ?? 0);
  const whole: Usage = { ...totals, cacheWrite: totals.cacheWrite ?? 0 };
  if (long > 0) addUsage(whole, { cacheWrite: -long, cacheWrite1h: long });
  return addUsage(addUsage({ ...beyond }, missing(others, messages, whole)), whole);
}

/** Usage of model calls within a message that its totals exclude. */
export function beyondTotals(iterations: unknown): Usage {
  return sumIterations(iterations).beyond;
}

/** Whether any call may have run another model. Such calls have this model's price, and the row is an estimate. */
export function hasOtherModels(iterations: unknown): boolean {
  return sumIterations(iterations).hasOthers;
}

/** Types of calls that run the requested model. */
const OWN_CALLS: ReadonlySet<unknown> = new Set(['message', 'compaction']);

/** Passes of a message, if the model's price depends on their length and the requested model ran them all. */
export function passTerms(iterations: unknown, { model: { price } }: PricedModel): Pick<Terms, 'passes'> {
  if (price.tiers.length === 0 || !Array.isArray(iterations) || iterations.length < 2) return {};
  const isOwn = iterations.every((iteration) => isObject(iteration) && OWN_CALLS.has(iteration.type));
  if (!isOwn) return {};
  return { passes: iterations.map(usageOfPass) };
}

/** Usage of one call, without searches, which count for the whole message. */
function usageOfPass(iteration: unknown): Usage {
  if (!isObject(iteration)) return {};
  const counts = countsOf(iteration);
  const { input, output } = usageOf(counts, { price: FREE_PRICE, isMessage: true, wrote: () => false });
  return { ...(counts.written === undefined ? {} : { cacheWrite: 0 }), ...input, ...output };
}

interface PricedModel {
  readonly model: { readonly price: Pick<Price, 'tiers'> };
}

interface Sums {
  /** Calls of the requested model, which the totals include. */
  readonly messages: Usage;
  /** Calls of unknown type, which the totals may include. */
  readonly others: Usage;
  /** Calls that the totals exclude. */
  readonly beyond: Usage;
  readonly hasOthers: boolean;
}

/**
 * Sums model calls by type, as Anthropic's SDK 1.11.0 documents them: totals include `message`, but neither
 * `compaction` (`BetaIterationsUsage`) nor `advisor_message`, which runs another model. Requests that name another
 * model are refused, so advisors, `fallback_message` and new types should not occur.
 */
function sumIterations(iterations: unknown): Sums {
  const [messages, others, beyond]: [Usage, Usage, Usage] = [{}, {}, {}];
  let hasOthers = false;
  for (const iteration of Array.isArray(iterations) ? iterations : []) {
    const type = isObject(iteration) ? iteration.type : undefined;
    const usage = usageOfPass(iteration);
    if (type === 'message') addUsage(messages, usage);
    else if (type === 'compaction') addUsage(beyond, usage);
    else {
      addUsage(type === 'advisor_message' ? beyond : others, usage);
      hasOthers = true;
    }
  }
  return { messages, others, beyond, hasOthers };
}

/**
 * Returns the share of unknown calls that the totals lack: per dimension, the sum of all calls minus the totals. It is
 * zero if the totals include the unknown calls, and all of them if the totals cover only the requested model.
 */
function missing(others: Usage, messages: Usage, totals: Usage): Usage {
  const lacking: Usage = {};
  for (const name of Object.keys(others) as (keyof Usage)[]) {
    const count = others[name] ?? 0;
    const beyond = (messages[name] ?? 0) + count - (totals[name] ?? 0);
    if (beyond > 0) lacking[name] = Math.min(beyond, count);
  }
  return lacking;
}
