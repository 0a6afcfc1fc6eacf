import type { LedgerEntry } from '../../book/book.ts';
import { creditsNumber, creditsString } from '../../domain/credits.ts';
import type { Category } from '../../domain/key.ts';
import type { AppliedUnits, EntryType, Outcome } from '../../domain/ledger-entry.ts';
import { timestamp } from '../../domain/period.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import type { Unit } from '../../domain/price-units.ts';
import type { Usage } from '../../domain/usage.ts';

/** Names of the dimensions of usage for clients, by those used inside. */
export const USAGE_NAMES = {
  input: 'input_tokens',
  output: 'output_tokens',
  cachedInput: 'cached_input_tokens',
  cacheWrite: 'cache_write_tokens',
  characters: 'characters',
  images: 'images',
  audioSeconds: 'audio_seconds',
  videoSeconds: 'video_seconds',
  requests: 'requests',
  cacheWrite1h: 'cache_write_1h_tokens',
  inputAudio: 'input_audio_tokens',
  cachedInputAudio: 'cached_input_audio_tokens',
  outputAudio: 'output_audio_tokens',
  inputImage: 'input_image_tokens',
  cachedInputImage: 'cached_input_image_tokens',
  outputImage: 'output_image_tokens',
  webSearches: 'web_searches',
} as const satisfies Record<keyof Usage, string>;

export type UsageName = (typeof USAGE_NAMES)[keyof Usage];
export type UsageView = { [Name in UsageName]?: number };

/** A ledger entry (specification section 7). */
export interface EntryView {
  readonly id: string;
  readonly type: EntryType;
  readonly created_at: string;
  readonly key_id: number | null;
  readonly model: string | null;
  readonly category: Category | null;
  readonly endpoint: string | null;
  readonly status: number | null;
  readonly outcome: Outcome | null;
  readonly usage: UsageView;
  readonly estimated: boolean;
  /** Change of the balance in credits, with six decimals; negative for a charge. */
  readonly credits: string;
  /** Balance after the entry in credits, with six decimals; null for a key that sees itself only. */
  readonly balance_after: string | null;
  /** The operator's reason for a top-up or an adjustment. */
  readonly note: string | null;
  /**
   * Credits for each unit that was used, as in the config; null for entries that are no calls, or are older than this
   * field.
   */
  readonly price: PriceView | null;
  /** Multiplier of the service tier; null for entries that are no calls. */
  readonly multiplier: number | null;
  /** Name of the upstream in the configuration; null for entries that are no calls. */
  readonly upstream: string | null;
  /** Milliseconds from the first byte of the call until it was settled; null for entries that are no calls. */
  readonly duration_ms: number | null;
  readonly streamed: boolean | null;
}

/** Credits by unit: per 1,000,000 tokens or characters, per 1,000 searches, per image, second or request. */
export type PriceView = { readonly [U in Unit]?: number };

/** A page of a ledger, newest first. */
export interface EntryPageView {
  readonly entries: readonly EntryView[];
  /** Value of `before` for the next page; null on the last page. */
  readonly next: string | null;
}

/** Usage under the names for clients; a unit that is absent stays absent. */
export function usageView(usage: Usage): UsageView {
  const view: UsageView = {};
  for (const [unit, name] of Object.entries(USAGE_NAMES)) {
    const amount = usage[unit as keyof Usage];
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
    multiplier: entry.price ? (entry.multiplier ?? TIMES_ONE) / TIMES_ONE : null,
    upstream: entry.upstream ?? null,
    duration_ms: entry.durationMs ?? null,
    streamed: entry.streamed ?? null,
  };
}

function priceView(price: AppliedUnits): PriceView {
  return Object.fromEntries(Object.entries(price).map(([unit, amount]) => [unit, creditsNumber(amount)]));
}
