import {
  type Bucket,
  type CallLimits,
  hasCallLimits,
  type LimitState,
  type LimitStates,
} from '../domain/call-limits.ts';

/** Encoding of call limits in Redis, shared with lua/call-limits.inc.lua. */

const NONE = '-';

/** Encodes the field `lim` of a hash: `<requests a minute> <tokens a minute> <calls in flight>`; '' without limits. */
export function limitsText(limits: CallLimits): string {
  if (!hasCallLimits(limits)) return '';
  const { rpmLimit, tpmLimit, maxParallelRequests } = limits;
  return `${rpmLimit ?? NONE} ${tpmLimit ?? NONE} ${maxParallelRequests ?? NONE}`;
}

/** Decodes the field `lim` of a hash; null: the field is absent. */
export function limitsIn(text: string | null | undefined): CallLimits {
  const [rpm, tpm, parallel] = (text ?? '').split(' ').map(limitIn);
  return { rpmLimit: rpm ?? null, tpmLimit: tpm ?? null, maxParallelRequests: parallel ?? null };
}

function limitIn(word: string): number | null {
  return word === NONE || word === '' ? null : Number(word);
}

/**
 * Decodes the states in a reply: `<requests a minute> <debt> <tokens a minute> <debt> <calls in flight> <open>` for the
 * key, then for the account.
 */
export function limitStatesIn(text: string): LimitStates {
  const words = text.split(' ');
  return { key: stateIn(words.slice(0, 6)), account: stateIn(words.slice(6)) };
}

function stateIn([requests, requestDebt, tokens, tokenDebt, parallel, open]: readonly string[]): LimitState {
  return {
    requests: bucketIn(requests, requestDebt),
    tokens: bucketIn(tokens, tokenDebt),
    parallel: parallel === NONE ? undefined : { limit: Number(parallel), open: Number(open) },
  };
}

function bucketIn(limit: string | undefined, debt: string | undefined): Bucket | undefined {
  return limit === NONE ? undefined : { limit: Number(limit), debt: Number(debt) };
}
