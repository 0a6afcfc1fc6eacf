import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Scope } from '../start/scope.ts';

/** One way in which the provider breaks the protocol, or fails. */
export type Lie =
  | 'access denied'
  | 'algorithm none'
  | 'another audience'
  | 'another issuer'
  | 'another issuer in its metadata'
  | 'another issuer of the answer'
  | 'another key'
  | 'another nonce'
  | 'another state'
  | 'another subject of userinfo'
  | 'discovery fails'
  | 'expired'
  | 'keys fail'
  | 'no authorization endpoint'
  | 'no code'
  | 'no ID token'
  | 'no nonce'
  | 'not yet valid'
  | 'server error'
  | 'the client is unknown'
  | 'token endpoint fails'
  | 'token endpoint hangs'
  | 'unsigned'
  | 'userinfo fails';

export type User = { readonly sub: string } & Readonly<Record<string, unknown>>;

export interface OidcProvider {
  /** `http://127.0.0.1:<port>`. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in, with the claims of the ID token, or those of userinfo. */
  user: User;
  /** Where the user's claims other than `sub` are. Default: the ID token. */
  claimsIn: 'ID token' | 'userinfo';
  /** Methods with which the client may authenticate, as its metadata lists them. */
  authMethods: readonly string[] | undefined;
  /** Default: none. */
  lie: Lie | undefined;
  /** Paths of the requests so far. */
  readonly requests: readonly string[];
  /** Plays the browser: approves the sign-in at `location`. Returns where the provider sends the browser. */
  approve(location: string): Promise<URL>;
  /** Stops it: it refuses connections. */
  close(): Promise<void>;
}

interface Grant {
  readonly redirectUri: string;
  readonly nonce: string | undefined;
  readonly challenge: string;
  readonly user: User;
}

const HOUR_S = 3_600;

/**
 * Starts an OpenID Connect provider on loopback: discovery, keys, authorization (approved at once for `user`), token
 * endpoint with PKCE and a client secret, and userinfo. `lie` makes it break one rule.
 */
export async function startOidcProvider(t: Scope, user: User = { sub: 'sub-1' }): Promise<OidcProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const others = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const grants = new Map<string, Grant>();
  const users = new Map<string, User>();
  const requests: string[] = [];
  const provider = {
    issuer: '',
    clientId: 'tollgate',
    clientSecret: 'client secret & more',
    user,
    claimsIn: 'ID token' as 'ID token' | 'userinfo',
    authMethods: ['client_secret_post'] as readonly string[] | undefined,
    lie: undefined as Lie | undefined,
    requests,
    async approve(location: string): Promise<URL> {
      const answer = await fetch(location, { redirect: 'manual' });
      return new URL(answer.headers.get('location') ?? '');
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function metadata() {
    const { issuer, authMethods, lie } = provider;
    return {
      issuer: lie === 'another issuer in its metadata' ? 'http://127.0.0.1:1' : issuer,
      authorization_endpoint: lie === 'no authorization endpoint' ? undefined : `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'none'],
      token_endpoint_auth_methods_supported: authMethods,
      authorization_response_iss_parameter_supported: true,
    };
  }

  function authorize(asked: URLSearchParams): string {
    const { issuer, lie } = provider;
    const redirectUri = asked.get('redirect_uri') ?? '';
    const isRight =
      asked.get('response_type') === 'code' &&
      asked.get('client_id') === provider.clientId &&
      asked.get('code_challenge_method') === 'S256' &&
      asked.get('scope')?.split(' ').includes('openid');
    const answer = new URL(redirectUri);
    answer.searchParams.set('state', lie === 'another state' ? 'x' : (asked.get('state') ?? ''));
    answer.searchParams.set('iss', lie === 'another issuer of the answer' ? 'http://127.0.0.1:1' : issuer);
    const error =
      (!isRight && 'invalid_request') ||
      (lie === 'access denied' && 'access_denied') ||
      (lie === 'server error' && 'server_error');
    if (error) answer.searchParams.set('error', error);
    else if (lie !== 'no code') {
      const code = randomBytes(16).toString('hex');
      grants.set(code, {
        redirectUri,
        nonce: asked.get('nonce') ?? undefined,
        challenge: asked.get('code_challenge') ?? '',
        user: provider.user,
      });
      answer.searchParams.set('code', code);
    }
    return answer.href;
  }

  function redeem(request: IncomingMessage, form: URLSearchParams): [status: number, body: object] {
    if (provider.lie === 'token endpoint fails') return [500, { error: 'down' }];
    if (provider.lie === 'the client is unknown' || !knowsClient(request, form))
      return [401, { error: 'invalid_client' }];
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || grant.redirectUri !== form.get('redirect_uri') || grant.challenge !== challenge)
      return [400, { error: 'invalid_grant' }];
    const accessToken = randomBytes(16).toString('hex');
    users.set(accessToken, grant.user);
    const token = { access_token: accessToken, token_type: 'Bearer', expires_in: HOUR_S };
    return [200, provider.lie === 'no ID token' ? token : { ...token, id_token: idToken(grant) }];
  }

  /** Whether the secret comes by the method that the metadata names: Basic if it names none. */
  function knowsClient({ headers }: IncomingMessage, form: URLSearchParams): boolean {
    const { clientId, clientSecret, authMethods } = provider;
    const encode = (value: string) => new URLSearchParams({ value }).toString().slice('value='.length);
    const basic = `${encode(clientId)}:${encode(clientSecret)}`;
    if (authMethods?.includes('none'))
      return form.get('client_id') === clientId && !form.has('client_secret');
    if (!authMethods?.includes('client_secret_post'))
      return headers.authorization === `Basic ${Buffer.from(basic).toString('base64')}`;
    return form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
  }

  function idToken(grant: Grant): string {
    const { lie } = provider;
    const now = Math.floor(Date.now() / 1_000);
    const { sub, ...claims } = grant.user;
    const nonce = lie === 'another nonce' ? 'x' : grant.nonce;
    const payload = {
      iss: lie === 'another issuer' ? 'http://127.0.0.1:1' : provider.issuer,
      aud: lie === 'another audience' ? 'another' : provider.clientId,
      sub,
      iat: now,
      exp: lie === 'expired' ? now - HOUR_S : now + HOUR_S,
      ...(lie === 'not yet valid' ? { nbf: now + HOUR_S } : {}),
      ...(lie === 'no nonce' ? {} : { nonce }),
      ...(provider.claimsIn === 'ID token' ? claims : {}),
    };
    const alg = lie === 'algorithm none' ? 'none' : 'ES256';
    const signed = [{ alg, kid: 'a' }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    if (lie === 'algorithm none' || lie === 'unsigned') return `${signed}.`;
    const key: KeyObject = lie === 'another key' ? others.privateKey : privateKey;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  function userinfo(request: IncomingMessage): [status: number, body: object] {
    const found = users.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (provider.lie === 'userinfo fails') return [500, {}];
    if (!found) return [401, { error: 'invalid_token' }];
    return [200, provider.lie === 'another subject of userinfo' ? { ...found, sub: 'another' } : found];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', provider.issuer);
    requests.push(pathname);
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/openid-configuration') {
      if (provider.lie === 'discovery fails') send(503, {});
      else send(200, metadata());
    } else if (pathname === '/keys') {
      const key = { ...publicKey.export({ format: 'jwk' }), kid: 'a', use: 'sig', alg: 'ES256' };
      if (provider.lie === 'keys fail') send(500, {});
      else send(200, { keys: [key] });
    } else if (pathname === '/authorize') {
      response.writeHead(302, { location: authorize(searchParams) }).end();
    } else if (pathname === '/token') {
      const form = new URLSearchParams(await text(request));
      // A hanging answer ends with the provider.
      if (provider.lie !== 'token endpoint hangs') send(...redeem(request, form));
    } else if (pathname === '/userinfo') send(...userinfo(request));
    else send(404, {});
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => provider.close());
  return provider;
}
