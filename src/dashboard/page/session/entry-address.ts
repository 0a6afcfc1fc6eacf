/** Pages for people who are not signed in, by their paths below `/dashboard/`. */
const ENTRIES = ['sign-in', 'setup', 'invite', 'reset'] as const;
export type Entry = (typeof ENTRIES)[number];

/** The entry at a path below `/dashboard/`; undefined for the other pages. */
export function entryIn(path: string): Entry | undefined {
  return ENTRIES.find((known) => known === path);
}

/** The secret of a link, in the fragment of an entry's address; "" if there is none. */
export function secretIn(hash: string): string {
  return hash.startsWith('#/') ? '' : hash.slice(1);
}

/**
 * Address to go to after a sign-in: that of the page that `next` in the query names, `/a/5/keys`, else the first page at
 * `here`. Other hosts, and paths outside the page, are never gone to.
 */
export function nextIn(query: string, here: URL): URL {
  const next = new URLSearchParams(query).get('next') ?? '';
  if (!/^\/(?![/\\])/.test(next)) return here;
  const address = new URL(`.${next}`, here);
  return address.href.startsWith(here.href) ? address : here;
}

/** Codes of a failed sign-in with a provider that say what to do. */
const PROVIDER_FAILURES: Readonly<Record<string, string>> = {
  already_member: 'You are already a member of this account. Sign in.',
  email_taken:
    'A person with your e-mail address exists already. Sign in the way you did before, then accept the invitation or link the provider.',
  identity_taken: 'Another person signs in with this identity.',
  identity_unknown:
    'Nobody here has this identity. Ask for an invitation, or sign in another way and link it.',
  invitation_email: 'The invitation is for another e-mail address than the one at your provider.',
  invitation_gone: 'This invitation was used or withdrawn, or has expired. Ask for a new one.',
  provider_denied: 'The provider refused the sign-in, or you canceled it.',
  provider_unavailable: "The provider can't be reached. Try again shortly, or sign in another way.",
  service_unavailable: 'The gateway could not read its database. Try again shortly.',
  use_provider: 'Sign in with the provider of your organization.',
};

/** Words for `error` in the query of the sign-in page; undefined if there is none. */
export function failureIn(query: string): string | undefined {
  const code = new URLSearchParams(query).get('error');
  if (code === null) return undefined;
  if (Object.hasOwn(PROVIDER_FAILURES, code)) return PROVIDER_FAILURES[code];
  const named = /^\w{1,40}$/.test(code) ? ` (${code})` : '';
  return `The sign-in with the provider failed${named}. Try again, or ask the operator of this gateway.`;
}
