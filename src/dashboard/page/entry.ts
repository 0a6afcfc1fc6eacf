/** Pages with a path of their own, `/dashboard/invite`; every other page is a route in the hash of `/dashboard/`. */
const ENTRIES = ['sign-in', 'setup', 'invite', 'reset'] as const;
export type Entry = (typeof ENTRIES)[number];

/** The entry that a path leads to, whatever is before `/dashboard/`; undefined for the page itself. */
export function entryIn(pathname: string): Entry | undefined {
  const last = pathname.split('/').at(-1);
  return ENTRIES.find((known) => known === last);
}

/** The secret in the fragment of an entry's address; "" if there is none. */
export function secretIn(hash: string): string {
  return hash.startsWith('#/') ? '' : hash.slice(1);
}

/** Codes of a failed sign-in with a provider that say what to do. */
const PROVIDER_FAILURES: Readonly<Record<string, string>> = {
  already_member: 'You are already a member of this account. Sign in.',
  email_taken:
    'A person with your email address exists already. Sign in the way you did before, then accept the invitation or link the provider.',
  identity_taken: 'Another person signs in with this identity.',
  identity_unknown:
    'Nobody here has this identity. Ask for an invitation, or sign in another way and link it.',
  invitation_email: 'The invitation is for another email address than the one at your provider.',
  invitation_gone: 'This invitation was used, withdrawn, or has expired. Ask for another one.',
  provider_denied: 'The provider refused the sign-in, or you cancelled it.',
  provider_unavailable: 'The provider does not answer. Try again shortly, or sign in another way.',
  use_provider: 'Sign in with the provider of your organization.',
};

/** Words for the `error` in the address of the sign-in page; undefined if there is none. */
export function providerFailure(search: string): string | undefined {
  const code = new URLSearchParams(search).get('error');
  if (code === null) return undefined;
  const named = /^\w{1,40}$/.test(code) ? ` (${code})` : '';
  const words = Object.hasOwn(PROVIDER_FAILURES, code) ? PROVIDER_FAILURES[code] : undefined;
  return (
    words ?? `The sign-in with the provider failed${named}. Try again, or ask the operator of this gateway.`
  );
}
