import type { Upstream } from '../../domain/catalog.ts';
import { isObject } from '../../metering/json/value.ts';
import { wordsOf } from '../targets/failures.ts';

/** An error as the client got it. */
export interface CallError {
  readonly code: string | null;
  readonly message: string | null;
  readonly param: string | null;
}

/**
 * The error in a provider's answer, or in an event of its stream, in the words of any format: `{"error": {…}}`,
 * `{"response": {"error": {…}}}`, or the fields themselves. Where an error has no member `code`, as Anthropic's, its `type`
 * is the code.
 */
export function providerError(value: unknown, upstream: Upstream): CallError | undefined {
  if (!isObject(value)) return undefined;
  const response = isObject(value.response) ? value.response : undefined;
  const error = value.error ?? response?.error ?? value;
  const name = (text: unknown) =>
    typeof text === 'string' || typeof text === 'number' ? wordsOf(String(text), upstream) : null;
  if (typeof error === 'string') return { code: null, message: wordsOf(error, upstream), param: null };
  if (!isObject(error)) return undefined;
  const { code, type, message, param } = error;
  return {
    code: name(code === undefined ? type : code),
    message: typeof message === 'string' ? wordsOf(message, upstream) : null,
    param: name(param),
  };
}
