import type { LedgerEntry } from '../book/book.ts';
import { creditsString } from '../domain/credits.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import { timestamp } from '../domain/period.ts';
import type { Reader } from './reader.ts';

/** Usage as clients see it: the unit is in the name. In this order in a CSV export. */
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
} as const satisfies Record<keyof Usage, string>;

export type UsageName = (typeof USAGE_NAMES)[keyof Usage];
export type UsageView = { [Name in UsageName]?: number };

/** Renames the units; one that is absent stays absent. */
export function usageView(usage: Usage): UsageView {
  const view: UsageView = {};
  for (const [unit, name] of Object.entries(USAGE_NAMES)) {
    const amount = usage[unit as keyof Usage];
    if (amount !== undefined) view[name] = amount;
  }
  return view;
}

/** Specification section 7, "Ledger entry"; without the balance for a key that sees itself only. */
export function entryView(entry: LedgerEntry, { onlyKeyId }: Pick<Reader, 'onlyKeyId'>) {
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
  };
}

export type EntryView = ReturnType<typeof entryView>;
