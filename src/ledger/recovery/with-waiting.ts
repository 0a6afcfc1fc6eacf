import type { AccountSnapshot, KeyState } from '../../book/book.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import type { PeriodStarts } from '../../domain/period.ts';

/** State that an account is restored to. */
export interface RestoredState {
  readonly balance: Micro;
  readonly seq: number;
  readonly keys: readonly KeyState[];
}

/**
 * The state of an account in the book, with the entries of its journal added that the book did not have when that state
 * was read: their credits must not be spent a second time. `starts`: the periods that the snapshot was asked for. An
 * entry that the balance has no room for is left out, as the book leaves it out.
 */
export function withWaiting(
  { balance, seq, keys, known }: AccountSnapshot,
  journal: readonly JournalEntry[],
  starts: PeriodStarts,
): RestoredState {
  const waiting = new Map(journal.filter(({ id }) => !known.has(id)).map((entry) => [entry.id, entry]));
  const restored = { balance: balance as number, seq, keys: [...keys] };
  for (const entry of waiting.values()) {
    const after = restored.balance + entry.credits;
    if (!Number.isSafeInteger(after)) continue;
    restored.balance = after;
    restored.seq++;
    const place = restored.keys.findIndex(({ key }) => key.id === entry.keyId);
    const state = restored.keys[place];
    if (state) restored.keys[place] = withSpend(state, entry, starts);
  }
  return { ...restored, balance: micro(restored.balance) };
}

function withSpend(state: KeyState, { day, credits }: JournalEntry, starts: PeriodStarts): KeyState {
  // No spending limit is so high that sums beyond it need be exact (lua/post.inc.lua).
  const add = (spent: Micro, start: number) =>
    day >= start ? micro(Math.min(spent - credits, Number.MAX_SAFE_INTEGER)) : spent;
  return {
    key: state.key,
    daySpent: add(state.daySpent, starts.day),
    weekSpent: add(state.weekSpent, starts.week),
    monthSpent: add(state.monthSpent, starts.month),
  };
}
