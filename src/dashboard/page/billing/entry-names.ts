import type { EntryType, Outcome } from '../../../domain/ledger-entry.ts';

export const ENTRY_NAMES: Readonly<Record<EntryType, string>> = {
  charge: 'Charge',
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  refund: 'Refund',
  expired_hold: 'Expired hold',
};

export const OUTCOME_NAMES: Readonly<Record<Outcome, string>> = {
  complete: 'complete',
  client_left: 'the client left',
  upstream_broke: 'the provider disconnected',
  upstream_error: 'the provider returned an error',
  upstream_unreachable: 'the provider was unreachable',
  timeout: 'timed out',
};

/** Display name of a word of the API; the word itself where it has none. */
export function named(names: Readonly<Record<string, string>>, word: string): string {
  return names[word] ?? word;
}
