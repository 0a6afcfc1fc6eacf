import type { ErrorCode } from '../../domain/errors.ts';

/** One check of a call that is explained. */
export interface CheckView {
  readonly check: string;
  readonly passed: boolean;
  /** The message of the refusal, or what the check was made against. */
  readonly detail: string;
}

/** What a call would be answered (specification section 7). */
export interface ExplanationView {
  readonly allowed: boolean;
  /** The code of the first check that fails; null: none does. */
  readonly code: ErrorCode | null;
  /** All checks, in the order in which they count. */
  readonly checks: readonly CheckView[];
}
