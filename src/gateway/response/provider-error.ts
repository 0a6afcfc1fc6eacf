import type { Upstream } from '../../domain/catalog.ts';
import type { ToldError } from '../../metering/answer.ts';
import { wordsOf } from '../targets/failures.ts';

/** An error as the client got it. */
export interface CallError {
  readonly code: string | null;
  readonly message: string | null;
  readonly param: string | null;
}

/** What the client is told if the provider gives no reason. */
export const NO_WORDS = 'The model provider failed before it produced any output.';

/** The error that an answer tells, as the client gets it. */
export function callError(told: ToldError | undefined, upstream: Upstream): CallError | undefined {
  if (!told) return undefined;
  const { code, message, param } = told;
  const name = (text: unknown) =>
    typeof text === 'string' || typeof text === 'number' ? wordsOf(String(text), upstream) : null;
  return {
    code: name(code),
    message: message === undefined ? null : wordsOf(message, upstream),
    param: name(param),
  };
}
