import { tokensTaken } from '../../domain/call-limits.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import type { Category } from '../../domain/key.ts';
import type { EntryDraft, JournalEntry } from '../../domain/ledger-entry.ts';
import type { Admission, AdmissionLimits } from '../ledger.ts';

/**
 * Encoding of entries and holds in Redis. lua/post.inc.lua writes the head of a journal entry; the gateway writes the
 * rest.
 */

/**
 * Parses `<seq> <balance after> <day booked> <epoch> <alert threshold> <start of the key's five hours> <start of the
 * account's> <draft JSON>`, with the start of the member's before the JSON if there is one. The balance may be too large for an exact number; the book takes no such entry. An entry of
 * 0.2 has no five hours. Throws if no gateway wrote the text.
 */
export function parseJournalEntry(text: string): JournalEntry {
  const head = text.slice(0, text.indexOf('{'));
  const numbers = head.trimEnd().split(' ').map(Number);
  const [seq, balanceAfter, day, epoch, threshold, key, account, member] = numbers as [
    number,
    number,
    number,
    number,
    number,
    number?,
    number?,
    number?,
  ];
  const draft = JSON.parse(text.slice(head.length)) as EntryDraft;
  const whole = [seq, day, epoch, draft.accountId, draft.credits, threshold];
  if (typeof draft.id !== 'string' || !whole.every(Number.isSafeInteger)) throw new Error('no journal entry');
  return {
    ...draft,
    seq,
    balanceAfter: balanceAfter as Micro,
    day,
    epoch,
    threshold: micro(threshold),
    ...(key !== undefined && account !== undefined
      ? { hours: { key, account, ...(member !== undefined && { member }) } }
      : {}),
  };
}

/** Like parseJournalEntry, but returns undefined if no gateway wrote the text. */
export function readJournalEntry(text: string | undefined): JournalEntry | undefined {
  try {
    return parseJournalEntry(text ?? '');
  } catch {
    return undefined;
  }
}

export function draftText(draft: EntryDraft): string {
  return JSON.stringify(draft);
}

/** The estimate of an admission, capped at its hold. */
export function estimateOf({ estimate, hold }: Pick<Admission, 'estimate' | 'hold'>): Micro {
  return estimate < hold ? estimate : hold;
}

/**
 * Encodes a hold: `<amount> <deadline ms> <key id> <account id> <created ms> <estimate> <category> <endpoint> <model>`
 * (lua/hold-record.inc.lua). Tokens taken from per-minute limits follow the estimate, then the person of the key.
 */
export function holdText(admission: Admission, now: number, deadline: number): string {
  const { hold, keyId, accountId, personId, category, endpoint, model, limits } = admission;
  const taken = limits?.tokens === undefined ? '' : ` ${takenText(admission, limits, limits.tokens)}`;
  const person = personId === null ? '' : ` ${personId}p`;
  return `${hold} ${deadline} ${keyId} ${accountId} ${now} ${estimateOf(admission)}${taken}${person} ${category} ${endpoint} ${model}`;
}

/** `<key version>/<tokens of the key's limit>/<account version>/<tokens of the account's limit>` */
function takenText(
  { keyVersion, accountVersion }: Admission,
  { key, account }: AdmissionLimits,
  tokens: number,
): string {
  return `${keyVersion}/${tokensTaken(key, tokens)}/${accountVersion}/${tokensTaken(account, tokens)}`;
}

/**
 * A field of the holds hash: a hold, or (with only `deadline`) the idempotency marker of an entry posted without a
 * hold, stored as `- <deadline ms>`.
 */
export interface StoredHold {
  readonly amount?: Micro;
  readonly deadline: number;
  readonly keyId?: number;
  readonly accountId?: number;
  readonly personId?: number | null;
  readonly draft?: (now: number, requestId: string) => EntryDraft;
}

export function parseHold(text: string): StoredHold {
  const [amount, deadline, keyId, accountId, createdAt, ...call] = text.split(' ');
  // The category, a word, follows the estimate, the tokens taken, and the person.
  const place = call.findIndex((word) => !/^\d/.test(word));
  const [category, endpoint, ...model] = call.slice(place);
  const person = call[place - 1]?.endsWith('p') ? Number.parseInt(call[place - 1] as string, 10) : null;
  if (amount === '-') return { deadline: Number(deadline) };
  return {
    amount: micro(Number(amount)),
    deadline: Number(deadline),
    keyId: Number(keyId),
    accountId: Number(accountId),
    personId: person,
    draft: (now, id) => ({
      id,
      type: 'expired_hold',
      accountId: Number(accountId),
      keyId: Number(keyId),
      ...(person !== null && { personId: person }),
      createdAt: now,
      admittedAt: Number(createdAt),
      model: model.join(' '),
      category: category as Category,
      endpoint: endpoint ?? null,
      status: null,
      outcome: null,
      usage: {},
      estimated: false,
      credits: 0 as Micro,
      note: `The gateway ended before the call that began at ${new Date(Number(createdAt)).toISOString()} did; its hold of ${amount} micro-credits was released.`,
    }),
  };
}
