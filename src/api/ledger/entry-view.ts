import { creditsNumber, creditsString } from '../../domain/credits.ts';
import type { AppliedPass, AppliedUnits, LedgerEntry } from '../../domain/ledger-entry.ts';
import { timestamp } from '../../domain/period.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import { USAGE_NAMES, type Usage, type UsageName } from '../../domain/units.ts';
import type { Static } from '../openapi/json-type.ts';
import type { Entry, EntryPage } from './entry-schema.ts';

/** A ledger entry (specification section 7). */
export type EntryView = Static<typeof Entry>;
/** A page of a ledger, newest first. */
export type EntryPageView = Static<typeof EntryPage>;
/** Usage under the names for clients. */
export type UsageView = EntryView['usage'];
/** Credits by unit: per 1,000,000 tokens or characters, per 1,000 searches, per image, second or request. */
type PriceView = NonNullable<EntryView['price']>;

const DIMENSIONS = Object.entries(USAGE_NAMES) as [keyof Usage, UsageName][];

/** Usage under the names for clients; a unit that is absent stays absent. */
export function usageView(usage: Usage): UsageView {
  const view: { -readonly [Name in UsageName]?: number } = {};
  for (const [dimension, name] of DIMENSIONS) {
    const amount = usage[dimension];
    if (amount !== undefined) view[name] = amount;
  }
  return view;
}

/**
 * An entry for a reader. One with `onlyKeyId` is a key that sees itself only, and is not shown the account's balance.
 */
export function entryView(
  entry: LedgerEntry,
  { onlyKeyId }: { readonly onlyKeyId: number | undefined },
): EntryView {
  return {
    id: entry.id,
    type: entry.type,
    created_at: timestamp(entry.createdAt),
    key_id: entry.keyId,
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    status: entry.status,
    outcome: entry.outcome,
    usage: usageView(entry.usage),
    estimated: entry.estimated,
    credits: creditsString(entry.credits),
    balance_after: onlyKeyId === undefined ? creditsString(entry.balanceAfter) : null,
    note: entry.note ?? null,
    price: entry.price ? priceView(entry.price) : null,
    ...(entry.passes ? { passes: entry.passes.map(passView) } : {}),
    multiplier: entry.price ? (entry.multiplier ?? TIMES_ONE) / TIMES_ONE : null,
    upstream: entry.upstream ?? null,
    attempts: attemptsView(entry),
    duration_ms: entry.durationMs ?? null,
    first_byte_ms: entry.firstByteMs ?? null,
    streamed: entry.streamed ?? null,
  };
}

/** A single try whose status is the entry's is not stored. */
export function attemptsView({
  type,
  attempts,
  upstream,
  status,
  durationMs = 0,
}: LedgerEntry): EntryView['attempts'] {
  if (type !== 'charge' || upstream === undefined) return null;
  if (!attempts) return [{ target: upstream, status, ms: durationMs }];
  return attempts.map(({ usage, ...attempt }) => ({
    ...attempt,
    ...(usage ? { usage: usageView(usage) } : {}),
  }));
}

function passView({ usage, price }: AppliedPass): NonNullable<EntryView['passes']>[number] {
  return { usage: usageView(usage), price: priceView(price) };
}

function priceView(price: AppliedUnits): PriceView {
  return Object.fromEntries(Object.entries(price).map(([unit, amount]) => [unit, creditsNumber(amount)]));
}
