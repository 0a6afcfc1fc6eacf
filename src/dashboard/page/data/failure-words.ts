import { ApiFailure } from './api-failure.ts';

/** Codes of a 403 that is about something else than the session's own key: checks 3 to 8 refuse with the others. */
const NOT_ABOUT_THE_KEY: ReadonlySet<string> = new Set([
  'not_permitted',
  'cross_site',
  'sign_in_again',
  'invalid_credentials',
  'use_provider',
  'invitation_email',
  'management_not_allowed',
  'category_not_allowed',
  'model_not_allowed',
]);

/** Message to show for an error: the gateway's, with a hint where it concerns the session's own key. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ApiFailure)) return 'This page had an error. Reload it.';
  const { status, isOfProvider, code, message } = error;
  if (status !== 403 || isOfProvider || NOT_ABOUT_THE_KEY.has(code)) return message;
  return `${message} The restrictions of the key you signed in with also apply to this page.`;
}

/** The field that a refusal names; undefined if that is none of `names`. */
export function fieldOf<Name extends string>(error: unknown, names: readonly Name[]): Name | undefined {
  return error instanceof ApiFailure ? names.find((name) => name === error.param) : undefined;
}
