import { domainToASCII } from 'node:url';
import type * as OpenId from 'openid-client';
import type { OidcSettings } from '../config/people.ts';
import { emailKey } from '../domain/people.ts';
import { ROLES, type Role } from '../domain/roles.ts';

/** Claims of the ID token, and of userinfo if that was asked. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a finished sign-in leads to: a session, an accepted invitation, or an identity linked to a session's person. */
export type AfterSignIn =
  | { readonly to: 'sign_in' }
  | { readonly to: 'accept'; readonly secret: string }
  | { readonly to: 'link'; readonly session: string };

/** What `finish` needs of `begin`. Secret: keep it in a cookie of the same browser (`SealedCookie`). */
export interface PendingSignIn {
  readonly provider: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly after: AfterSignIn;
}

/** A person, as a provider identified them. */
export interface Identity {
  /** Together with `subject`, the identity. Nothing else is one: e-mails and names can pass to other people. */
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** True only if the provider says that it verified `email`. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  readonly claims: Claims;
  /** Memberships by the claim, at most one an account; null without `roleClaim`, when the claim decides nothing. */
  readonly roles: readonly AccountRole[] | null;
}

export interface AccountRole {
  readonly account: number;
  readonly role: Role;
}

/**
 * Codes of sign-ins that failed, for the page:
 * - `provider_unavailable`: the provider is away or failed; trying again later can help
 * - `provider_denied`: the person, or the provider, declined
 * - `sign_in_failed`: the answer is not that of this sign-in, or is invalid; or the client's settings are
 * - `identity_unknown`: the identity is nobody's, and makes nobody without an invitation
 * - `identity_taken`: the identity to be linked is another person's
 */
export type SignInFailure =
  | 'provider_unavailable'
  | 'provider_denied'
  | 'sign_in_failed'
  | 'identity_unknown'
  | 'identity_taken';

/** A sign-in that failed. The message is for the log: it has no secrets, tokens or claims. */
export class SignInError extends Error {
  readonly code: SignInFailure;

  constructor(code: SignInFailure, message: string) {
    super(message);
    this.name = 'SignInError';
    this.code = code;
  }
}

/**
 * Sign-in by identity providers: OpenID Connect's code flow with PKCE, state and nonce, by openid-client, which is
 * loaded at the first sign-in. A provider is discovered once, at its first sign-in, again after a failure.
 */
export class Oidc {
  readonly #providers: ReadonlyMap<string, OidcSettings>;
  readonly #timeoutS: number;
  readonly #discovered = new Map<string, Promise<OpenId.Configuration>>();

  /** `timeoutS`: time limit for each request to a provider, in seconds. */
  constructor(providers: readonly OidcSettings[], timeoutS = 10) {
    this.#timeoutS = timeoutS;
    this.#providers = new Map(providers.map((provider) => [provider.name, provider]));
  }

  /** Names of the providers, in the order of the file. */
  get names(): string[] {
    return [...this.#providers.keys()];
  }

  /** Settings of a provider; undefined for an unknown name, with which nothing else here can be called. */
  settings(name: string): OidcSettings | undefined {
    return this.#providers.get(name);
  }

  /** Name of the provider with an issuer; undefined: none. */
  nameOf(issuer: string): string | undefined {
    // As discovery compares them: without a path, the slash at the end may be missing.
    const href = URL.parse(issuer)?.href;
    return [...this.#providers.values()].find((one) => URL.parse(one.issuer)?.href === href)?.name;
  }

  /** Whether an e-mail address belongs to a provider: to any, or to the one with this name. */
  owns(email: string, name?: string): boolean {
    const domain = domainOf(email);
    const providers = [...this.#providers.values()].filter((one) => name === undefined || one.name === name);
    return providers.some(({ domains }) => domains.some((one) => domainToASCII(one) === domain));
  }

  /**
   * Begins a sign-in: `location` is where the browser goes, `state` is what `finish` needs. `redirectUri` is the
   * absolute URL of the callback, as the provider knows it. Throws SignInError.
   */
  async begin(
    name: string,
    redirectUri: string,
    after: AfterSignIn = { to: 'sign_in' },
  ): Promise<{ location: string; state: PendingSignIn }> {
    const openId = await import('openid-client');
    const settings = this.#settings(name);
    const configuration = await this.#discover(settings);
    const state = openId.randomState();
    const nonce = openId.randomNonce();
    const verifier = openId.randomPKCECodeVerifier();
    const parameters = {
      redirect_uri: redirectUri,
      scope: settings.scopes,
      state,
      nonce,
      code_challenge: await openId.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    try {
      const location = openId.buildAuthorizationUrl(configuration, parameters).href;
      return { location, state: { provider: name, redirectUri, state, nonce, verifier, after } };
    } catch (error) {
      throw signInError(error, openId);
    }
  }

  /**
   * Finishes a sign-in with the answer in the query of `currentUrl`. `pending`: the state that `begin` returned to the
   * same browser. Throws SignInError.
   */
  async finish(name: string, currentUrl: URL, pending: PendingSignIn): Promise<Identity> {
    const settings = this.#settings(name);
    // An answer that another provider got for its own sign-in says nothing here (RFC 9700, mix-up).
    if (pending.provider !== name) throw new SignInError('sign_in_failed', 'begun with another provider');
    const openId = await import('openid-client');
    const configuration = await this.#discover(settings);
    // Behind a proxy, the request has another address than the one that the provider sent the browser to.
    const answered = new URL(pending.redirectUri);
    answered.search = currentUrl.search;
    try {
      const tokens = await openId.authorizationCodeGrant(configuration, answered, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      });
      const claims: Claims = tokens.claims() ?? {};
      const needed = ['email', ...(settings.roleClaim === undefined ? [] : [settings.roleClaim])];
      const isWhole = needed.every((claim) => claims[claim] !== undefined);
      if (isWhole || !configuration.serverMetadata().userinfo_endpoint)
        return identityOf(settings, claims, {});
      // Okta and others give most claims there only.
      const more = await openId.fetchUserInfo(configuration, tokens.access_token, String(claims.sub));
      return identityOf(settings, claims, more);
    } catch (error) {
      throw signInError(error, openId);
    }
  }

  #settings(name: string): OidcSettings {
    const settings = this.#providers.get(name);
    if (!settings) throw new Error(`there is no identity provider ${name}`);
    return settings;
  }

  #discover(settings: OidcSettings): Promise<OpenId.Configuration> {
    const { name } = settings;
    const known = this.#discovered.get(name);
    if (known) return known;
    const discovery = discover(settings, this.#timeoutS);
    this.#discovered.set(name, discovery);
    discovery.catch(() => this.#discovered.delete(name));
    return discovery;
  }
}

/** In the one form that spellings of a domain share. Undefined: it is none. */
function domainOf(email: string): string | undefined {
  const domain = emailKey(email).split('@').at(-1) ?? '';
  return domainToASCII(domain.replace(/\.$/, '')) || undefined;
}

async function discover(
  { issuer, clientId, clientSecret }: OidcSettings,
  timeout: number,
): Promise<OpenId.Configuration> {
  const openId = await import('openid-client');
  const isPlain = issuer.startsWith('http:');
  const execute = [openId.enableNonRepudiationChecks, ...(isPlain ? [openId.allowInsecureRequests] : [])];
  // Decided when the client authenticates, because only the provider's metadata says how it may.
  const authenticate: OpenId.ClientAuth = (server, ...rest) => {
    // Without a list, the methods are client_secret_basic alone (OpenID Connect Discovery 1.0, section 3).
    const isPosted = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
    if (clientSecret === undefined) openId.None()(server, ...rest);
    else if (isPosted) openId.ClientSecretPost(clientSecret)(server, ...rest);
    else openId.ClientSecretBasic(clientSecret)(server, ...rest);
  };
  try {
    const found = await openId.discovery(new URL(issuer), clientId, undefined, authenticate, {
      timeout,
      execute,
    });
    const { authorization_endpoint: authorize, token_endpoint: token } = found.serverMetadata();
    if (!authorize || !token)
      throw new Error('the metadata has no authorization_endpoint or no token_endpoint');
    return found;
  } catch (error) {
    throw new SignInError('provider_unavailable', `discovery failed: ${reasonOf(error)}`);
  }
}

/** E-mail and its verification are read from one place, since the places may have different addresses. */
function identityOf(settings: OidcSettings, token: Claims, userinfo: Claims): Identity {
  const { email, email_verified: verified } = token.email === undefined ? userinfo : token;
  const claims = {
    ...userinfo,
    ...token,
    _claim_names: { ...asObject(userinfo._claim_names), ...asObject(token._claim_names) },
  };
  const { name } = claims as Claims;
  const hasEmail = typeof email === 'string' && email !== '';
  return {
    issuer: String(token.iss),
    subject: String(token.sub),
    email: hasEmail ? email : null,
    // Apple and Cognito send text. Entra sends nothing, and there anyone's administrator can set the address.
    isEmailVerified: hasEmail && (verified === true || verified === 'true'),
    name: typeof name === 'string' && name !== '' ? name : null,
    claims,
    roles: settings.roleClaim === undefined ? null : rolesOf(settings, claims),
  };
}

/**
 * Memberships that the claims give by `roleClaim` and `roles`: for each account the first role of ROLES. Values of the
 * claim are a list or one text; other values count as none. Throws SignInError if the provider left the claim out, as
 * Entra does for people in many groups: else they would lose their memberships.
 */
export function rolesOf(
  { roleClaim = '', roles }: Pick<OidcSettings, 'roleClaim' | 'roles'>,
  claims: Claims,
): AccountRole[] {
  const isLeftOut = Object.hasOwn(asObject(claims._claim_names), roleClaim);
  if (isLeftOut || claims.hasgroups === true || claims.hasgroups === 'true')
    throw new SignInError('sign_in_failed', `the provider left out the claim ${roleClaim}: it is too long`);
  const claimed = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : [];
  const values: unknown[] = Array.isArray(claimed) ? claimed : [claimed];
  const given = roles.filter(({ value }) => values.includes(value));
  const best = new Map<number, Role>();
  for (const role of ROLES)
    for (const one of given) if (one.role === role && !best.has(one.account)) best.set(one.account, role);
  return [...best].map(([account, role]) => ({ account, role }));
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/** Errors of the authorization response that a later try, or nothing but the person, can change (RFC 6749, OIDC). */
const UNAVAILABLE = ['server_error', 'temporarily_unavailable'];
const DENIED = ['access_denied', 'login_required', 'consent_required', 'interaction_required'];

function signInError(error: unknown, openId: typeof OpenId): SignInError {
  if (error instanceof SignInError) return error;
  const reason = reasonOf(error);
  if (error instanceof openId.AuthorizationResponseError && DENIED.includes(error.error))
    return new SignInError('provider_denied', reason);
  return new SignInError(isAway(error, openId) ? 'provider_unavailable' : 'sign_in_failed', reason);
}

function isAway(error: unknown, openId: typeof OpenId): boolean {
  if (error instanceof openId.AuthorizationResponseError || error instanceof openId.ResponseBodyError)
    return UNAVAILABLE.includes(error.error);
  if (error instanceof openId.ClientError) {
    const { code, cause } = error;
    return (
      code === 'OAUTH_TIMEOUT' || (cause instanceof Response && (cause.status >= 500 || cause.status === 429))
    );
  }
  // `fetch failed`: the mistakes of a program have a code.
  return error instanceof TypeError && !('code' in error);
}

/** Messages of an error and its causes, and the provider's error code: nothing that was sent or received beside it. */
function reasonOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) texts.push(at.message);
  if (typeof error === 'object' && error !== null && 'error' in error) texts.push(String(error.error));
  return texts.join(': ').slice(0, 300);
}
