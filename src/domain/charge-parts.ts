import { type Micro, shiftDecimal } from './credits.ts';
import type { AppliedUnits, LedgerEntry } from './ledger-entry.ts';
import { TIMES_ONE } from './price.ts';
import { UNIT_NAMES, type Unit, type Usage, unitRow } from './units.ts';

/** What a unit adds to a charge. */
interface UnitPart {
  readonly unit: Unit;
  readonly used: number;
  /** In micro-credits for `per` units. */
  readonly price: Micro;
  readonly per: number;
  /** In millionths; TIMES_ONE for fees. */
  readonly multiplier: number;
  /** Credits, exact: six decimals or more. */
  readonly credits: string;
}

/** What rounding up once, over all units, adds. */
interface RoundingPart {
  readonly unit: 'rounding';
  readonly credits: string;
}

export type ChargePart = UnitPart | RoundingPart;

/** Decimals of the arithmetic in price.ts: pico-credits × millionths of a unit × millionths. */
const DECIMALS = 24;
const PER_MICRO = 10n ** 18n;
const PICO_PER_MICRO = 1_000_000;

/**
 * The parts of a call's charge, which add up to it exactly, over its passes if any; undefined: not a call. Units that
 * cost nothing have no part.
 */
export function chargeParts({
  credits,
  usage,
  price,
  passes,
  multiplier = TIMES_ONE,
}: Pick<LedgerEntry, 'credits' | 'usage' | 'price' | 'passes' | 'multiplier'>): ChargePart[] | undefined {
  if (!price) return undefined;
  const parts = (passes ?? [{ usage, price }]).flatMap((pass) =>
    unitParts(pass.usage, pass.price, multiplier),
  );
  const sum = parts.reduce((total, { scaled }) => total + scaled, 0n);
  const rounding = BigInt(-credits) * PER_MICRO - sum;
  return [
    ...parts.map(({ scaled, ...part }) => ({ ...part, credits: decimal(scaled) })),
    ...(rounding === 0n ? [] : [{ unit: 'rounding' as const, credits: decimal(rounding) }]),
  ];
}

function unitParts(usage: Usage, prices: AppliedUnits, multiplier: number) {
  return UNIT_NAMES.flatMap((unit) => {
    const { usage: dimension, per, isFee } = unitRow(unit);
    const used = usage[dimension as keyof Usage] ?? 0;
    const price = prices[unit];
    const times = isFee ? TIMES_ONE : multiplier;
    const scaled = millionths(used) * BigInt((price ?? 0) * (PICO_PER_MICRO / per)) * BigInt(times);
    if (price === undefined || scaled === 0n) return [];
    return [{ unit, used, price, per, multiplier: times, scaled }];
  });
}

/** Millionths of a unit; a part of one counts as a whole one. */
function millionths(used: number): bigint {
  const { whole, exact } = shiftDecimal(used, 6) ?? { whole: 0n, exact: true };
  return exact ? whole : whole + 1n;
}

function decimal(scaled: bigint): string {
  const digits = String(scaled)
    .replace('-', '')
    .padStart(DECIMALS + 1, '0');
  let fraction = digits.slice(-DECIMALS);
  while (fraction.length > 6 && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${fraction}`;
}
