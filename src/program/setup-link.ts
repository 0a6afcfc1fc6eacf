import { randomBytes } from 'node:crypto';
import type { Book } from '../book/book.ts';

/** Environment variable by which a supervisor gives its code to its workers. */
export const SETUP_CODE = 'TOLLGATE_SETUP_CODE';
const CODE_BYTES = 16;

/** A new code with which the first operator is made. It is in the memory of the gateway only. */
export function newSetupCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

/** The code of this process: the supervisor's, else a new one. Child processes don't get it. */
export function takeSetupCode(): string {
  const { [SETUP_CODE]: given } = process.env;
  delete process.env[SETUP_CODE];
  return given || newSetupCode();
}

/**
 * The link to print at a start: while no operator exists, at a terminal or if SETUP_LINK is true. Undefined: none. `url`:
 * that of the gateway, without a trailing slash.
 */
export async function setupLink(
  book: Pick<Book, 'hasOperator'>,
  url: string,
  code: string,
): Promise<string | undefined> {
  const isAsked = process.env.SETUP_LINK;
  const isShown = isAsked ? isAsked === 'true' : process.stdout.isTTY;
  if (!isShown || (await book.hasOperator())) return undefined;
  return `${url}/dashboard/setup#${code}`;
}
