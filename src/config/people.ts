import { parseAddress } from '../domain/addresses.ts';
import { ROLES, type Role } from '../domain/roles.ts';
import {
  entries,
  type Faults,
  list,
  optional,
  type Reader,
  reader,
  required,
  section,
  text,
} from '../domain/shape.ts';
import { boolean, matching, number, oneOf } from './references.ts';

/** A URL of the given schemes that is complete: with a host, and without a fragment. */
function absoluteUrl(value: string, schemes: RegExp): URL | undefined {
  const url = URL.parse(value);
  return url && schemes.test(url.protocol) && url.hostname !== '' && !value.includes('#') ? url : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || parseAddress(hostname.replace(/^\[|\]$/g, ''))?.range() === 'loopback';
}

/** `server.publicUrl`: kept without trailing slashes. */
export const publicUrl = text(
  'must be the http:// or https:// URL of the gateway, without credentials or query',
  (value) => {
    const url = absoluteUrl(value, /^https?:$/);
    if (!url || url.username || url.password || value.includes('?')) return undefined;
    return url.href.replace(/(?<!\/)\/+$/, '');
  },
);

/** Kept as it is written, since providers compare it as text. */
const issuer = text(
  "must be the provider's https:// issuer URL (http:// on loopback only), without credentials or query",
  (value) => {
    const url = absoluteUrl(value, /^https?:$/);
    if (!url || url.username || url.password || value.includes('?')) return undefined;
    return url.protocol === 'https:' || isLoopback(url.hostname) ? value : undefined;
  },
);

/** Entra's issuers for people of any organization. There, anyone's administrator could assign the roles below. */
const ANY_TENANT = /^https:\/\/login\.microsoftonline\.com\/(common|organizations)(\/|$)/i;

const domain = text('must be a domain of e-mail addresses, such as example.com', (value) =>
  /^[^\s@.]+(\.[^\s@.]+)+$/.test(value) ? value.normalize('NFC').toLowerCase() : undefined,
);

const membership = section({
  account: required(number(1), 'Id of the account'),
  role: required(oneOf(...ROLES), 'Role in the account'),
});
type Membership = NonNullable<ReturnType<typeof membership>>;

/** One membership, or a list of them. */
const memberships: Reader<Membership[]> = reader(
  { anyOf: [membership.schema, { type: 'array', items: membership.schema }] },
  (value, path, faults) => {
    if (Array.isArray(value)) return list(membership)(value, path, faults);
    const one = membership(value, path, faults);
    return one && [one];
  },
);

/** Values of a claim can be any text, such as `Domain Users`. */
const claimValues = { pattern: /^.{1,200}$/, right: 'must have a name of 1 to 200 characters' };

const provider = section({
  name: required(
    matching(/^[a-z0-9-]{1,100}$/, 'must be letters a to z, digits and "-"'),
    'Name in addresses and on the page: `a-z`, `0-9` and `-`; unique',
  ),
  issuer: required(issuer, 'Issuer URL, exactly as in `<issuer>/.well-known/openid-configuration`'),
  clientId: required(matching(/./, 'must be the id of the client'), 'Id that the provider gave the gateway'),
  clientSecret: optional(
    matching(/./, 'must be the secret of the client'),
    undefined,
    'Its secret, best from an environment variable or a file. Default: none (a public client, with PKCE alone)',
  ),
  scopes: optional(
    matching(/(^| )openid( |$)/, 'must be scopes, separated by spaces, with openid'),
    'openid email profile',
    'Scopes to ask for',
  ),
  domains: optional(
    list(domain),
    [] as string[],
    'E-mail domains of the provider: people with a verified address in one of them can sign in without an invitation',
  ),
  roleClaim: optional(
    matching(/./, 'must be the name of a claim'),
    undefined,
    'Claim of the ID token or of userinfo that decides memberships: a list of texts, or one text. Needs `roles`',
  ),
  roles: optional(
    entries(memberships, claimValues),
    undefined,
    'Memberships by value of the claim: { platform: { account: 1, role: admin } }, or a list of them',
  ),
});

/** A membership that a value of `roleClaim` gives. */
export interface ClaimedRole {
  readonly value: string;
  readonly account: number;
  readonly role: Role;
}

/** An identity provider from the file. */
export type OidcSettings = Omit<NonNullable<ReturnType<typeof provider>>, 'roles'> & {
  readonly roles: readonly ClaimedRole[];
};

const oidcProvider: Reader<OidcSettings> = reader(provider.schema, (value, path, faults) => {
  const read = provider(value, path, faults);
  if (!read) return undefined;
  const { roles, ...rest } = read;
  if (ANY_TENANT.test(rest.issuer)) return faults.add(`${path}.issuer`, 'must name your tenant by its id');
  if ((roles === undefined) !== (rest.roleClaim === undefined))
    return faults.add(
      `${path}.${roles ? 'roleClaim' : 'roles'}`,
      'is missing; roleClaim and roles need each other',
    );
  const claimed = [...(roles ?? [])].flatMap(([value, given]) => given.map((one) => ({ value, ...one })));
  return { ...rest, roles: claimed };
});

const oidcProviders = list(oidcProvider);

const uniqueProviders: Reader<OidcSettings[]> = reader(
  oidcProviders.schema,
  (value, path, faults: Faults) => {
    const read = oidcProviders(value, path, faults);
    const names = new Set<string>();
    for (const { name } of read ?? []) {
      if (names.has(name)) return faults.add(path, `must not have two providers named ${name}`);
      names.add(name);
    }
    return read;
  },
);

/** `people`: how people sign in. */
export const peopleSection = section({
  passwords: optional(boolean, true, 'false: people sign in by a provider of `people.oidc` only'),
  auditDays: optional(number(0, 36_500), 400, 'Days that entries of the audit are kept; 0: for ever'),
  oidc: optional(
    uniqueProviders,
    [] as OidcSettings[],
    'Identity providers (OpenID Connect), as on the page about people',
  ),
});

const mailUrl = text('must be smtp://user:password@host:port or smtps://…', (value) =>
  absoluteUrl(value, /^smtps?:$/) ? value : undefined,
);

/** `mail`: the server for invitations and resets. */
export const mailSection = section({
  url: required(
    mailUrl,
    'Mail server: `smtps://` (TLS) or `smtp://` (STARTTLS if the server has it; required with a password). Needs `server.publicUrl`',
  ),
  from: required(
    matching(/^[^\r\n]*[^\s<>@]@[^\s<>@]+>?$/, 'must be an address, such as Tollgate <tollgate@example.com>'),
    'Sender, such as `Tollgate <tollgate@example.com>`',
  ),
});
export type MailSettings = NonNullable<ReturnType<typeof mailSection>>;
