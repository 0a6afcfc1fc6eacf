import type { Book } from '../book/book.ts';
import { openBook } from '../book/open-book.ts';
import type { Config } from '../config/config.ts';
import { creditsString } from '../domain/credits.ts';
import type { AccountRecord } from '../domain/key.ts';
import type { LedgerEntry } from '../domain/ledger-entry.ts';
import type { Unit, Usage } from '../domain/units.ts';
import { Failure } from './arguments.ts';
import type { Listener } from './reconcile-accounts.ts';

/** Accounts and, below, entries in memory at a time. */
const ACCOUNTS_PAGE = 100;
const ENTRIES_PAGE = 500;

/** Charges to check; absent fields set no bound. Days since 1970-01-01 UTC, both included. */
interface ChargeSpan {
  readonly fromDay?: number | undefined;
  readonly toDay?: number | undefined;
  readonly accountId?: number | undefined;
}

/** A charge that differs from the amount recomputed from its row. */
export interface ChargeDifference {
  readonly id: string;
  readonly accountId: number;
  /** Charged micro-credits. */
  readonly found: bigint;
  /** Undefined if the row can't be computed, for example without a price for its usage. */
  readonly expected: bigint | undefined;
}

interface ChargeSummary {
  /** Recomputed charges. */
  readonly charges: number;
  readonly differences: number;
}

/**
 * Recomputes every charge of a span from its row: Σ usage × price × multiplier + Σ fees (specification section 10).
 * Reads only the book, in pages; safe next to a running gateway. Throws Failure if the account doesn't exist.
 */
export async function reconcileCharges(
  config: Config,
  span: ChargeSpan,
  listener: Listener<ChargeDifference>,
): Promise<ChargeSummary> {
  const book = await openBook(config, { readOnly: true });
  try {
    return await goThrough(book, span, listener);
  } finally {
    await book.close();
  }
}

async function goThrough(
  book: Book,
  span: ChargeSpan,
  listener: Listener<ChargeDifference>,
): Promise<ChargeSummary> {
  let charges = 0;
  let differences = 0;
  for await (const entries of chargesOf(book, span)) {
    for (const entry of entries) {
      charges++;
      const found = -BigInt(entry.credits);
      const expected = recomputedCharge(entry);
      if (found === expected) continue;
      differences++;
      listener.difference({ id: entry.id, accountId: entry.accountId, found, expected });
    }
    listener.checked?.(charges);
  }
  return { charges, differences };
}

async function* chargesOf(
  book: Book,
  { accountId, fromDay, toDay }: ChargeSpan,
): AsyncGenerator<readonly LedgerEntry[]> {
  for await (const { id } of accountsOf(book, accountId)) {
    const query = {
      accountId: id,
      type: 'charge' as const,
      limit: ENTRIES_PAGE,
      ...(fromDay === undefined ? {} : { fromDay }),
      ...(toDay === undefined ? {} : { toDay }),
    };
    for (let entries = await book.ledger(query); entries.length > 0; ) {
      yield entries;
      const before = entries.at(-1)?.seq ?? 0;
      entries = entries.length < ENTRIES_PAGE ? [] : await book.ledger({ ...query, before });
    }
  }
}

async function* accountsOf(
  book: Book,
  accountId: number | undefined,
): AsyncGenerator<Pick<AccountRecord, 'id'>> {
  if (accountId !== undefined) {
    const account = await book.account(accountId);
    if (!account) throw new Failure(`Account ${accountId} does not exist.`);
    yield account;
    return;
  }
  let accounts = await book.accounts(0, ACCOUNTS_PAGE);
  while (accounts.length > 0) {
    yield* accounts;
    accounts = await book.accounts(accounts.at(-1)?.id ?? 0, ACCOUNTS_PAGE);
  }
}

/** Formats a difference as one line, in credits. */
export function chargeDifferenceText({ id, accountId, found, expected }: ChargeDifference): string {
  const charged = `charge ${id} of account ${accountId}: ${creditsString(found)} credits were charged, but`;
  if (expected === undefined) return `${charged} its row lacks a price for part of the usage`;
  return `${charged} its usage at its prices comes to ${creditsString(expected)}: difference ${creditsString(found - expected)}`;
}

/**
 * Second implementation of charge arithmetic, written only from specification section 10. It shares no code with the
 * charging code (domain/price.ts), so that each exposes faults of the other.
 */

/** Price unit of each usage dimension, and the quantity that the price covers. */
const PRICED: Readonly<Record<keyof Usage, readonly [Unit, bigint]>> = {
  input: ['input', 1_000_000n],
  cachedInput: ['cachedInput', 1_000_000n],
  cacheWrite: ['cacheWrite', 1_000_000n],
  cacheWrite1h: ['cacheWrite1h', 1_000_000n],
  output: ['output', 1_000_000n],
  inputAudio: ['inputAudio', 1_000_000n],
  cachedInputAudio: ['cachedInputAudio', 1_000_000n],
  outputAudio: ['outputAudio', 1_000_000n],
  inputImage: ['inputImage', 1_000_000n],
  cachedInputImage: ['cachedInputImage', 1_000_000n],
  outputImage: ['outputImage', 1_000_000n],
  characters: ['character', 1_000_000n],
  webSearches: ['webSearch', 1_000n],
  webSearchPreviews: ['webSearchPreview', 1_000n],
  requests: ['request', 1n],
  images: ['image', 1n],
  audioSeconds: ['audioSecond', 1n],
  videoSeconds: ['videoSecond', 1n],
};

/** Fees; a service tier's multiplier doesn't apply to them. */
const FEES: ReadonlySet<Unit> = new Set(['webSearch', 'webSearchPreview', 'image', 'request']);

const MILLION = 1_000_000n;
/** Every price is for a part of this many. */
const PARTS = MILLION;

type Row = Pick<LedgerEntry, 'usage' | 'price' | 'passes' | 'multiplier'>;
type Part = Pick<Row, 'usage' | 'price'>;

/**
 * Recomputes a row's charge in micro-credits: ⌈Σ usage × price × multiplier + Σ fees⌉, over its passes if any.
 * Undefined if a used unit has no price, or if the usage is not chargeable or not the sum of the passes.
 */
export function recomputedCharge({ usage, price, passes, multiplier = 1_000_000 }: Row): bigint | undefined {
  if (passes && !isSum(usage, passes)) return undefined;
  let multiplied = 0n;
  let fees = 0n;
  for (const part of passes ?? [{ usage, price: price ?? {} }]) {
    const sums = sumsOf(part);
    if (!sums) return undefined;
    multiplied += sums.multiplied;
    fees += sums.fees;
  }
  const scale = MILLION * PARTS * MILLION;
  const scaled = multiplied * BigInt(multiplier) + fees * MILLION;
  return scaled / scale + (scaled % scale === 0n ? 0n : 1n);
}

function sumsOf({ usage, price = {} }: Part): { multiplied: bigint; fees: bigint } | undefined {
  const sums = { multiplied: 0n, fees: 0n };
  for (const [dimension, amount] of Object.entries(usage)) {
    if (amount === 0) continue;
    const [unit, per] = PRICED[dimension as keyof Usage] ?? [];
    const millionths = inMillionths(amount);
    const micros = unit && price[unit];
    if (per === undefined || micros === undefined || millionths === undefined) return undefined;
    sums[FEES.has(unit) ? 'fees' : 'multiplied'] += millionths * BigInt(micros) * (PARTS / per);
  }
  return sums;
}

function isSum(usage: Usage, passes: readonly Part[]): boolean {
  const names = new Set([usage, ...passes.map((pass) => pass.usage)].flatMap((one) => Object.keys(one)));
  return [...names].every((name) => {
    const of = (one: Usage) => one[name as keyof Usage] ?? 0;
    return of(usage) === passes.reduce((sum, pass) => sum + of(pass.usage), 0);
  });
}

/** An amount in millionths, rounded up; only seconds can have smaller fractions. */
function inMillionths(amount: number): bigint | undefined {
  const parts = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(amount));
  if (!parts) return undefined;
  const [, whole = '', fraction = '', tenths = '0'] = parts;
  const denominator = 10n ** BigInt(fraction.length + Number(tenths));
  const numerator = BigInt(whole + fraction) * MILLION;
  return (numerator + denominator - 1n) / denominator;
}
