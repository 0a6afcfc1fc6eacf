import { creditsInWords, creditsString, type Micro } from '../domain/credits.ts';
import { GatewayError, type Lack, type RefusalDetail, type Shortfall } from '../domain/errors.ts';
import { periodEndsAt } from '../domain/period.ts';
import type { Admitted } from '../ledger/ledger.ts';
import { affordableMaximum, partsOf } from '../metering/token-cost.ts';
import type { PlannedCall } from './call.ts';

type Short = Extract<Admitted, { verdict: 'over_limit' | 'insufficient' }>;

/**
 * The 402 for a call that the key's limit or the account's credits can't cover (specification section 3). `now`:
 * milliseconds since the epoch by Redis' clock.
 */
export function shortage(short: Short, call: PlannedCall, now: number): GatewayError {
  const metadata = shortfallOf(short, call);
  const advice = {
    ...adviceOf(call, metadata.affordable_max_tokens),
    overdraft: overdraftAdvice(short, call),
  };
  const code = short.verdict === 'over_limit' ? 'spending_limit_exceeded' : 'insufficient_credits';
  const message =
    short.verdict === 'over_limit' ? overLimit(short, call, advice, now) : insufficient(short, call, advice);
  const { balance, held } = short.verdict === 'insufficient' ? short : short.account;
  const facts: RefusalDetail = {
    hold: metadata.hold,
    estimate: metadata.estimate,
    balance: creditsString(balance),
    held: creditsString(held),
  };
  const lack = lackOf(short, call, now);
  return new GatewayError(code, message, null, undefined, { metadata, facts, lack });
}

/** The largest part of a hold, and how to lower it. */
interface HoldAdvice {
  readonly advice: string;
  readonly part: string;
}

/** Advice including the operator's option; empty if an overdraft can't help. */
interface Advice extends HoldAdvice {
  readonly overdraft: string;
}

function overLimit(
  short: Extract<Short, { verdict: 'over_limit' }>,
  call: PlannedCall,
  { advice, part, overdraft }: Advice,
  now: number,
): string {
  const { spendingPeriod, spendingLimit } = call.compiled.key;
  return (
    `The ${spendingPeriod} spending limit of this key is ${counted(spendingLimit ?? short.spent)}; ` +
    `${creditsInWords(short.spent)} are spent, ${creditsInWords(short.held)} are held by calls in flight, and this call ` +
    `could cost ${creditsInWords(call.quote.hold)}${part}. The period ends at ${periodEndsAt(now, spendingPeriod)}.` +
    remedies([advice && `${advice} to stay below it`, overdraft])
  );
}

function insufficient(
  short: Extract<Short, { verdict: 'insufficient' }>,
  { quote, compiled }: PlannedCall,
  { advice, part, overdraft }: Advice,
): string {
  // A key that can't manage sees no balance (specification section 2, "What a key sees").
  if (!compiled.key.canManage) {
    return (
      'The account has too few credits for this call, which could cost ' +
      `${creditsInWords(quote.hold)}${part}.${remedies(['have it topped up', advice, overdraft])}`
    );
  }
  const granted = short.overdraft > 0 ? ` and an overdraft of ${creditsInWords(short.overdraft)}` : '';
  return (
    `The account has ${counted(short.balance)}${granted}, of which ${creditsInWords(short.held)} are held ` +
    `by calls in flight; this call could cost ${creditsInWords(quote.hold)}${part}.` +
    remedies(['top up the account', advice, overdraft])
  );
}

/** Names the largest part of the hold and the ways to lower it. */
function adviceOf({ quote: { bound, hold } }: PlannedCall, affordable: number | null): HoldAdvice {
  if (!bound) return { advice: '', part: '' };
  const { tools, media, answer } = partsOf(bound);
  const { plan } = bound;
  if (tools > hold / 2) {
    return {
      advice: plan.roundsAdvice,
      part: ` (${creditsInWords(tools)} of it for provider-run tools)`,
    };
  }
  if (media > hold / 2) {
    return {
      advice: 'send fewer images, files or audio',
      part: ` (${creditsInWords(media)} of it for images, files and audio)`,
    };
  }
  const lower = affordable === null ? '' : `lower ${plan.maxField} to ${affordable}`;
  if (answer <= hold / 2) return { advice: lower, part: '' };
  const named = plan.maxTokens === undefined ? `, as no ${plan.maxField} is sent` : '';
  return {
    advice: lower || 'send less',
    part: ` (${creditsInWords(answer)} of it for the answer${named})`,
  };
}

function counted(amount: Micro): string {
  const words = creditsInWords(amount);
  return `${words} ${words === '1' ? 'credit' : 'credits'}`;
}

/** Lists the ways to get the call admitted; empty without any. */
function remedies(ways: readonly string[]): string {
  const words = ways.filter(Boolean).join(', or ');
  return words && ` ${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

/** An overdraft lets the hold of a call exceed the available credits, never its estimate (specification section 5). */
function overdraftAdvice(short: Short, call: PlannedCall): string {
  if (!estimateFits(short, call, call.quote.estimate)) return '';
  return `have the operator grant ${accountOf(short).overdraft > 0 ? 'a larger' : 'an'} overdraft`;
}

function estimateFits(short: Short, { compiled }: PlannedCall, expected: Micro): boolean {
  const { spendingLimit } = compiled.key;
  const { estimated, balance } = accountOf(short);
  return (
    estimated + expected <= balance &&
    (short.verdict === 'insufficient' ||
      spendingLimit === null ||
      short.spent + short.estimated + expected <= spendingLimit)
  );
}

function accountOf(short: Short) {
  return short.verdict === 'insufficient' ? short : short.account;
}

function lackOf(short: Short, { compiled: { key } }: PlannedCall, now: number): Lack {
  if (short.verdict === 'insufficient') return { what: short.balance > 0 ? 'room' : 'credits' };
  if (key.spendingLimit === null || short.spent < key.spendingLimit) return { what: 'room' };
  return { what: 'limit', resetsAtS: Date.parse(periodEndsAt(now, key.spendingPeriod)) / 1_000 };
}

/** Fields of a 402 that show programs what would have fit. */
function shortfallOf(short: Short, call: PlannedCall): Shortfall {
  const { compiled, quote } = call;
  const { bound, hold, estimate } = quote;
  const { canManage, spendingLimit } = compiled.key;
  const account = accountOf(short);
  const fits = (most: Micro, expected: Micro) =>
    estimateFits(short, call, expected) &&
    account.held + most <= account.balance + account.overdraft &&
    (short.verdict === 'insufficient' ||
      spendingLimit === null ||
      short.spent + short.held + most <= spendingLimit + account.overdraft);
  return {
    balance: canManage ? creditsString(account.balance) : null,
    held: canManage ? creditsString(account.held) : null,
    hold: creditsString(hold),
    estimate: creditsString(estimate),
    affordable_max_tokens: bound ? affordableMaximum(bound, fits) : null,
  };
}
