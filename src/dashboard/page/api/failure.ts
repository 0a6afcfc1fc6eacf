import { ApiFailure } from './api-failure.ts';

/** Codes of refusals that concern the session's own key: checks 3 to 8 of specification section 3. */
const ABOUT_THE_CALLER: ReadonlySet<string> = new Set([
  'inactive_account',
  'outside_active_hours',
  'ip_not_allowed',
  'country_blocked',
  'origin_not_allowed',
]);

/** Message to show for an error: the gateway's, with a hint where it concerns the session's own key. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ApiFailure)) return 'This page had an error. Reload it.';
  if (!ABOUT_THE_CALLER.has(error.code)) return error.message;
  return `${error.message} The restrictions of the key you signed in with also apply to this page.`;
}

/** The field that a refusal names; undefined if that is none of `names`. */
export function fieldOf<Name extends string>(error: unknown, names: readonly Name[]): Name | undefined {
  return error instanceof ApiFailure ? names.find((name) => name === error.param) : undefined;
}
