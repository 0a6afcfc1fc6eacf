import { creditsString, type Micro } from '../domain/credits.ts';
import { GatewayError, type RefusalDetail, type Shortfall } from '../domain/errors.ts';
import { periodEndsAt } from '../domain/period.ts';
import type { Admitted } from '../ledger/ledger.ts';
import { affordableMaximum, partsOf } from '../metering/token-cost.ts';
import type { ReadCall } from './call.ts';

type Short = Extract<Admitted, { verdict: 'over_limit' | 'insufficient' }>;

/**
 * The 402 of a call that the key's limit or the account's credits do not cover (specification section 3). `now`: milliseconds
 * since the epoch by Redis' clock.
 */
export function shortage(short: Short, call: ReadCall, now: number): GatewayError {
  const metadata = shortfallOf(short, call);
  const { advice, part } = adviceOf(call, metadata.affordable_max_tokens);
  const code = short.verdict === 'over_limit' ? 'spending_limit_exceeded' : 'insufficient_credits';
  const message =
    short.verdict === 'over_limit'
      ? overLimit(short, call, { advice, part }, now)
      : insufficient(short, call, { advice, part });
  const { balance, held } = short.verdict === 'insufficient' ? short : short.account;
  const detail: RefusalDetail = {
    hold: metadata.hold,
    estimate: metadata.estimate,
    balance: creditsString(balance),
    held: creditsString(held),
  };
  return new GatewayError(code, message, null, undefined, { metadata, detail });
}

/** The largest part of a hold, and how to lower it. */
interface HoldAdvice {
  readonly advice: string;
  readonly part: string;
}

function overLimit(
  short: Extract<Short, { verdict: 'over_limit' }>,
  call: ReadCall,
  { advice, part }: HoldAdvice,
  now: number,
): string {
  const { spendingPeriod, spendingLimit } = call.compiled.key;
  return (
    `The ${spendingPeriod} spending limit of this key is ${creditsString(spendingLimit ?? short.spent)} credits; ` +
    `${creditsString(short.spent)} are spent, ${creditsString(short.held)} are held by calls in flight, and this call ` +
    `could cost ${creditsString(call.hold)}${part}. The period ends at ${periodEndsAt(now, spendingPeriod)}.` +
    (advice ? ` ${capital(advice)} to stay below it.` : '')
  );
}

function insufficient(
  short: Extract<Short, { verdict: 'insufficient' }>,
  { hold, compiled }: ReadCall,
  { advice, part }: HoldAdvice,
): string {
  const remedy = advice ? `, or ${advice}` : '';
  // A key that cannot manage sees no balance (specification section 2, "What a key sees").
  if (!compiled.key.canManage) {
    return (
      'The account has too few credits for this call, which could cost ' +
      `${creditsString(hold)}${part}. Have it topped up${remedy}.`
    );
  }
  const overdraft = short.overdraft > 0 ? ` and an overdraft of ${creditsString(short.overdraft)}` : '';
  return (
    `The account has ${creditsString(short.balance)} credits${overdraft}, of which ${creditsString(short.held)} are held ` +
    `by calls in flight; this call could cost ${creditsString(hold)}${part}. Top up the account${remedy}.`
  );
}

/** Names what makes up most of the hold, and what there is to leave out or to lower. */
function adviceOf({ bound, hold }: ReadCall, affordable: number | null): HoldAdvice {
  if (!bound) return { advice: '', part: '' };
  const { tools, media, answer } = partsOf(bound);
  const { plan } = bound;
  if (tools > hold / 2) {
    return {
      advice: plan.roundsAdvice,
      part: ` (${creditsString(tools)} of it for provider-run tools)`,
    };
  }
  if (media > hold / 2) {
    return {
      advice: 'send fewer images, files or audio',
      part: ` (${creditsString(media)} of it for images, files and audio)`,
    };
  }
  const lower = affordable === null ? '' : `lower ${plan.maxField} to ${affordable}`;
  if (answer <= hold / 2) return { advice: lower, part: '' };
  const named = plan.maxTokens === undefined ? `, as no ${plan.maxField} is sent` : '';
  return {
    advice: lower || 'send less',
    part: ` (${creditsString(answer)} of it for the answer${named})`,
  };
}

/** The fields in which a 402 tells programs what the call lacks. */
function shortfallOf(short: Short, { bound, hold, estimate, compiled }: ReadCall): Shortfall {
  const { canManage, spendingLimit } = compiled.key;
  const account = short.verdict === 'insufficient' ? short : short.account;
  const fits = (most: Micro, likely: Micro) =>
    account.estimated + likely <= account.balance &&
    account.held + most <= account.balance + account.overdraft &&
    (short.verdict === 'insufficient' ||
      spendingLimit === null ||
      (short.spent + short.estimated + likely <= spendingLimit &&
        short.spent + short.held + most <= spendingLimit + account.overdraft));
  return {
    balance: canManage ? creditsString(account.balance) : null,
    held: canManage ? creditsString(account.held) : null,
    hold: creditsString(hold),
    estimate: creditsString(estimate),
    affordable_max_tokens: bound ? affordableMaximum(bound, fits) : null,
  };
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
