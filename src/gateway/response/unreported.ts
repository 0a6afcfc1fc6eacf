import type { Terms } from '../../domain/bill.ts';
import { OUTPUT_DIMENSIONS, type Usage } from '../../domain/units.ts';
import type { Log } from '../../log/log.ts';
import type { AdmittedCall, PlannedCall } from '../call.ts';
import { billOfCall } from '../settle.ts';
import type { CacheShares } from './cache-shares.ts';
import type { Reading } from './reading.ts';

/**
 * Usage estimation for calls that ended without a report: abandoned, broken off, timed out (specification section 5).
 * Counts everything that the provider may have billed, and at most the hold.
 */

/** What estimates need of a ClientResponse. */
interface Estimated {
  readonly call: AdmittedCall;
  readonly attempt: { readonly exchange: { readonly sentAt: number | undefined } } | undefined;
  readonly context: { readonly hiddenTokensPerSecond: number; readonly cacheShares: CacheShares };
}

const MS_PER_S = 1_000;
/** Parts in which a dimension is cut down to the hold. */
const PARTS = 1_000_000;

/**
 * Tokens of hidden reasoning so far: the larger of the provider's own figure or text, and those that the model may have
 * thought from sending until its first visible output. `visibleAt`: time of that, by `performance.now()`; undefined:
 * none came.
 */
export function hiddenTokens(
  { call, attempt, context }: Estimated,
  visibleAt: number | undefined,
  reported = 0,
): number {
  if (call.endpoint.category !== 'text') return 0;
  const sentAt = attempt?.exchange.sentAt;
  if (call.facts.model.reasons === false || sentAt === undefined) return reported;
  const seconds = ((visibleAt ?? performance.now()) - sentAt) / MS_PER_S;
  return Math.max(reported, Math.ceil(Math.max(0, seconds) * context.hiddenTokensPerSecond));
}

/** The terms that also apply to an estimate. */
export function termsOfEstimate({ serviceTiers, made }: Terms = {}): Terms {
  return { serviceTiers, made };
}

/** What the estimate of an answer is made of. */
interface Counted {
  /** Tokens of what was sent and what came, as the endpoint's meter counts them. */
  readonly counted: Usage;
  /** The counted usage, corrected by the reports that came before the end. */
  readonly merged: Usage;
  readonly hidden: number;
  readonly terms?: Terms | undefined;
}

/** Charged usage of a call that ended without a report. */
export function unreported(
  { call, context }: Pick<Estimated, 'call' | 'context'>,
  { counted, merged, hidden, terms }: Counted,
): Usage {
  const usage = withCaching(call, context.cacheShares, merged);
  // Reasoning is text; pictures and sound have dimensions of their own.
  if (call.endpoint.category === 'text' && counted.output !== undefined && usage.output !== undefined)
    usage.output = Math.max(usage.output, counted.output + hidden);
  const isInputReported = merged.cachedInput !== undefined || merged.input !== counted.input;
  // Reported usage may exceed the hold, as always.
  return withinHold(call, usage, terms) ?? (isInputReported ? merged : withoutRest(call, usage, terms));
}

/** Usage by the request and the tokens of the output text. `mediaTokens`: of its pictures and files; typical by default. */
export function estimated(
  { facts, endpoint, inputTokens, quote }: PlannedCall,
  output: number,
  mediaTokens?: number,
): Usage {
  const { text, media } = inputTokens();
  const input = text + (mediaTokens ?? media) + quote.storedTokens;
  return endpoint.meter.estimate({ input, output }, facts);
}

/** Reads a call that was sent and got no byte of an answer. */
export function unanswered(response: Estimated): Reading {
  const { call } = response;
  const { facts, endpoint, quote } = call;
  const hidden = hiddenTokens(response, undefined);
  return {
    usage: undefined,
    estimate() {
      const { meter } = endpoint;
      const counted = estimated(call, 0, quote.mediaTokens);
      const merged = meter.mergeReported?.(counted, undefined, facts) ?? counted;
      return unreported(response, { counted, merged, hidden });
    },
  };
}

/**
 * A usage whose input is divided as the provider's cache likely divided it, if no report says: OpenAI's formats report
 * it at the end only.
 */
function withCaching(call: PlannedCall, shares: CacheShares, merged: Usage): Usage {
  const usage = { ...merged };
  const { input = 0, output, cachedInput } = merged;
  const { format, category } = call.endpoint;
  if (format !== 'openai' || category !== 'text' || output === undefined || cachedInput !== undefined)
    return usage;
  const cached = Math.floor(input * (shares.of(call) ?? 0));
  const rest = input - cached;
  if (cached > 0) usage.cachedInput = cached;
  const isWritten = call.facts.model.price.named.has('cacheWrite');
  usage.input = isWritten ? 0 : rest;
  if (isWritten && rest > 0) usage.cacheWrite = (usage.cacheWrite ?? 0) + rest;
  return usage;
}

/** The usage with as much of its output as the hold has room for; undefined if it has none without any. */
function withinHold(call: AdmittedCall, usage: Usage, terms?: Terms): Usage | undefined {
  const fits = fitsHold(call, terms);
  if (fits(usage)) return usage;
  return fits(cut(usage, OUTPUT_DIMENSIONS, 0))
    ? largest((parts) => cut(usage, OUTPUT_DIMENSIONS, parts), fits)
    : undefined;
}

/** The part of a usage without output that the hold has room for. */
function withoutRest(call: AdmittedCall, usage: Usage, terms?: Terms): Usage {
  const withoutOutput = cut(usage, OUTPUT_DIMENSIONS, 0);
  const names = Object.keys(usage) as (keyof Usage)[];
  return largest((parts) => cut(withoutOutput, names, parts), fitsHold(call, terms));
}

function fitsHold(call: AdmittedCall, terms: Terms | undefined): (usage: Usage) => boolean {
  return (usage) => billOfCall(call, usage, terms).charge <= call.hold;
}

function cut(usage: Usage, names: readonly (keyof Usage)[], parts: number): Usage {
  const less = { ...usage };
  for (const name of names) {
    const value = usage[name];
    if (value !== undefined) less[name] = Math.floor((value * parts) / PARTS);
  }
  return less;
}

function largest(make: (parts: number) => Usage, fits: (usage: Usage) => boolean): Usage {
  let fitting = 0;
  let beyond = PARTS;
  while (beyond - fitting > 1) {
    const middle = fitting + Math.floor((beyond - fitting) / 2);
    if (fits(make(middle))) fitting = middle;
    else beyond = middle;
  }
  return make(fitting);
}

/**
 * Settles a call by the usage that was reported, else by an estimate; without a `reading` it is free. `settle` throws
 * RangeError, before it has settled anything, if a usage costs more than any account can hold. Other errors are thrown:
 * the call may be settled.
 */
export function settleBy(
  reading: Reading | undefined,
  settle: (usage: Usage | undefined, estimated: boolean) => void,
  log: Log,
): void {
  if (!reading || reading.free) {
    settle(undefined, false);
    return;
  }
  const { usage } = reading;
  if (usage && isSettled(() => settle(usage, reading.isEstimated === true))) return;
  let estimate: Usage;
  try {
    estimate = reading.estimate();
  } catch (error) {
    log.error({ err: error }, 'failed to estimate usage; charging the price per request');
    estimate = {};
  }
  if (!isSettled(() => settle(estimate, true))) settle({}, true);
}

/** False if the charge of a usage exceeds what any account can hold, so that the usage is ignored. */
function isSettled(settle: () => void): boolean {
  try {
    settle();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
