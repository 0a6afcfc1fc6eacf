import { creditsInWords, creditsNumber, creditsString, type Micro } from '../domain/credits.ts';
import {
  GatewayError,
  type Lack,
  type RefusalDetail,
  type RefusingLimit,
  type Shortfall,
} from '../domain/errors.ts';
import { PERIOD_WORDS } from '../domain/limit-periods.ts';
import { endsAt, resetsAt, SPENDING_OWNERS, type SpendingOwner } from '../domain/spending-limits.ts';
import type { Admitted, LiveAccount, SpendingState } from '../ledger/ledger.ts';
import { affordableMaximum, partsOf } from '../metering/token-cost.ts';
import type { PlannedCall } from './call.ts';

type OverLimit = Extract<Admitted, { verdict: 'over_limit' }>;
type Short = OverLimit | Extract<Admitted, { verdict: 'insufficient' }>;

/**
 * The 402 for a call that a spending limit or the account's credits can't cover (specification section 3). `now`:
 * milliseconds since the epoch by Redis' clock.
 */
export function shortage(short: Short, call: PlannedCall, now: number): GatewayError {
  const full = short.verdict === 'over_limit' ? fullLimit(short, call, now) : undefined;
  const isSeen = full?.of !== 'account' || call.compiled.key.canManage;
  const limit = full && refusing(full, isSeen, now);
  const metadata = { ...shortfallOf(short, call), ...(limit ? { limit } : {}) };
  const advice = {
    ...adviceOf(call, metadata.affordable_max_tokens),
    overdraft: overdraftAdvice(short, call),
  };
  const code = full ? 'spending_limit_exceeded' : 'insufficient_credits';
  const message = full
    ? overLimit(full, { isSeen, now }, call, advice, short)
    : insufficient(short, call, advice);
  const { balance, held } = accountOf(short);
  const facts: RefusalDetail = {
    hold: metadata.hold,
    estimate: metadata.estimate,
    balance: creditsString(balance),
    held: creditsString(held),
    ...(full ? { limit: refusing(full, true, now) } : {}),
  };
  const lack = lackOf(short, full, now);
  return new GatewayError(code, message, null, undefined, { metadata, facts, lack });
}

/** Of the limits that refuse the call, the one that ends last; of equal ends the later owner's. */
function fullLimit({ spending, account }: OverLimit, { quote }: PlannedCall, now: number): SpendingState {
  const full = spending.filter(
    ({ credits, spent, held, estimated }) =>
      spent - credits + estimated + quote.estimate > 0 ||
      spent - credits + held + quote.hold > account.overdraft,
  );
  const endOf = ({ period, hours }: SpendingState) => endsAt(period, hours, now);
  const last = full
    .sort(
      (a, b) =>
        // NaN for two that never end.
        endOf(a) - endOf(b) ||
        SPENDING_OWNERS.indexOf(a.of) - SPENDING_OWNERS.indexOf(b.of) ||
        b.credits - a.credits,
    )
    .at(-1);
  if (!last) throw new Error('a call that no spending limit refuses is refused by one');
  return last;
}

/** `isSeen`: the reader may see what others have spent (specification section 2, "What a key sees"). */
function refusing(
  { of, period, credits, spent, held, hours }: SpendingState,
  isSeen: boolean,
  now: number,
): RefusingLimit {
  return {
    of,
    period,
    credits: creditsNumber(credits),
    spent: isSeen ? creditsString(spent) : null,
    held: isSeen ? creditsString(held) : null,
    resets_at: resetsAt(period, hours, now),
  };
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

const LIMIT_NAMES = {
  key: (period) => `The ${period} spending limit of this key`,
  member: (period) => `Your ${period} spending limit`,
  account: (period) => `The ${period} spending limit of the account`,
} as const satisfies Record<SpendingOwner, (period: string) => string>;

function overLimit(
  { of, period, credits, spent, held, hours }: SpendingState,
  { isSeen, now }: { readonly isSeen: boolean; readonly now: number },
  { quote }: PlannedCall,
  { advice, part, overdraft }: Advice,
  short: Short,
): string {
  // The advice heeds them all.
  const below = short.verdict === 'over_limit' && short.spending.length > 1 ? 'all limits' : 'it';
  const used = isSeen
    ? `${creditsInWords(spent)} are spent, ${creditsInWords(held)} are held by calls in flight, and `
    : '';
  const end = resetsAt(period, hours, now);
  return (
    `${LIMIT_NAMES[of](PERIOD_WORDS[period])} is ${counted(credits)}; ${used}this call could cost ` +
    `${creditsInWords(quote.hold)}${part}.${end === null ? '' : ` The period ends at ${end}.`}` +
    remedies([advice && `${advice} to stay below ${below}`, overdraft])
  );
}

function insufficient(
  short: Short,
  { quote, compiled }: PlannedCall,
  { advice, part, overdraft }: Advice,
): string {
  const account = accountOf(short);
  // A key that can't manage sees no balance (specification section 2, "What a key sees").
  if (!compiled.key.canManage) {
    return (
      'The account has too few credits for this call, which could cost ' +
      `${creditsInWords(quote.hold)}${part}.${remedies(['have it topped up', advice, overdraft])}`
    );
  }
  const granted = account.overdraft > 0 ? ` and an overdraft of ${creditsInWords(account.overdraft)}` : '';
  return (
    `The account has ${counted(account.balance)}${granted}, of which ${creditsInWords(account.held)} are held ` +
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
  if (!estimateFits(short, call.quote.estimate)) return '';
  return `have the operator grant ${accountOf(short).overdraft > 0 ? 'a larger' : 'an'} overdraft`;
}

function estimateFits(short: Short, expected: Micro): boolean {
  const { estimated, balance } = accountOf(short);
  return (
    estimated + expected <= balance &&
    limitsFit(short, ({ spent, credits, estimated: open }) => spent + open + expected <= credits)
  );
}

/** Whether all spending limits of a call fit; they are known only if one refuses. */
function limitsFit(short: Short, fits: (limit: SpendingState) => boolean): boolean {
  return short.verdict === 'insufficient' || short.spending.every(fits);
}

function accountOf(short: Short): LiveAccount {
  return short.verdict === 'insufficient' ? short : short.account;
}

function lackOf(short: Short, full: SpendingState | undefined, now: number): Lack {
  if (!full) return { what: accountOf(short).balance > 0 ? 'room' : 'credits' };
  const end = resetsAt(full.period, full.hours, now);
  if (full.spent < full.credits || end === null) return { what: 'room' };
  return { what: 'limit', resetsAtS: Date.parse(end) / 1_000 };
}

/** Fields of a 402 that show programs what would have fit. */
function shortfallOf(short: Short, call: PlannedCall): Shortfall {
  const { compiled, quote } = call;
  const { bound, hold, estimate } = quote;
  const { canManage } = compiled.key;
  const account = accountOf(short);
  const fits = (most: Micro, expected: Micro) =>
    estimateFits(short, expected) &&
    account.held + most <= account.balance + account.overdraft &&
    limitsFit(short, ({ spent, credits, held }) => spent + held + most <= credits + account.overdraft);
  return {
    balance: canManage ? creditsString(account.balance) : null,
    held: canManage ? creditsString(account.held) : null,
    hold: creditsString(hold),
    estimate: creditsString(estimate),
    affordable_max_tokens: bound ? affordableMaximum(bound, fits) : null,
  };
}
