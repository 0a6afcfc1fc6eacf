import type { ErrorCode } from '../../domain/errors.ts';

/** One check of an explained call. */
export interface CheckView {
  readonly check: string;
  readonly passed: boolean;
  /** Message of the refusal, or the value that a passed check looked at. */
  readonly detail: string;
}

/** The answer that a call would get, check by check (specification section 2). */
export interface ExplanationView {
  readonly allowed: boolean;
  /** Code of the first check that fails; null where all pass. */
  readonly code: ErrorCode | null;
  /** All checks in the order of specification section 3. */
  readonly checks: readonly CheckView[];
}
