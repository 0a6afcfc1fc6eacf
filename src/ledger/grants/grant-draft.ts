import type { EntryDraft } from '../../domain/ledger-entry.ts';
import type { Ledger } from '../ledger.ts';

/** The ledger entry of a change of balance that an operator ordered. */
export function grantDraft(grant: Parameters<Ledger['grant']>[0]): EntryDraft {
  const { id, type, accountId, createdAt, amount, note } = grant;
  return {
    id,
    type,
    accountId,
    keyId: null,
    createdAt,
    model: null,
    category: null,
    endpoint: null,
    status: null,
    outcome: null,
    usage: {},
    estimated: false,
    credits: amount,
    ...(note ? { note } : {}),
  };
}
