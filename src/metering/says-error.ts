import { isObject } from './parts.ts';

/** Whether a whole answer of status 200 is an error, which both formats name so: some providers fail after they have answered 200. */
export function saysError(answer: unknown): boolean {
  return isObject(answer) && Boolean(answer.error);
}
