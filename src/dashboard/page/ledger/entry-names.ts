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
  upstream_broke: 'the provider broke off',
  upstream_error: 'the provider refused',
  upstream_unreachable: 'the provider was not reached',
  timeout: 'timed out',
};

/** The name of a word off the wire, or the word itself where there is none. */
export function named(names: Readonly<Record<string, string>>, word: string): string {
  return names[word] ?? word;
}
