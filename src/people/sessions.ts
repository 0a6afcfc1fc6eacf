import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../book/book.ts';
import type { NewSession, PersonSession } from '../book/sessions.ts';
import { type Actor, SYSTEM } from '../domain/actor.ts';
import { type AddressMatcher, clientNetwork } from '../domain/addresses.ts';
import { hashKey } from '../domain/key-value.ts';
import { readCookie, setCookie } from './cookies.ts';
import { wrongCredentials } from './sign-in.ts';
import type { SignedIn, SignedInKey, SignedInPerson } from './signed-in.ts';

/** Cookie of a session. */
const COOKIE = 'tollgate';
const MOST_S = 30 * 86_400;
const SECRET_BYTES = 32;
const LONGEST_USER_AGENT = 300;

/** A secret that is shown once, and what is stored of it. */
export function newSecret(bytes = SECRET_BYTES): { readonly secret: string; readonly hash: string } {
  const secret = randomBytes(bytes).toString('base64url');
  return { secret, hash: hashKey(secret) };
}

interface SessionParts {
  readonly book: Pick<
    Book,
    'session' | 'noteUse' | 'createSession' | 'createCredentialSession' | 'endSessions' | 'endSession'
  >;
  readonly adminToken: string | undefined;
  readonly addressOf: (request: FastifyRequest) => string;
  readonly trustProxy: AddressMatcher | undefined;
}

/** Whose session begins: a key by the hash of its value, or the operator by ADMIN_TOKEN. */
export type Credential =
  | { readonly by: 'key'; readonly keyId: number; readonly keyHash: string }
  | { readonly by: 'operator' };

/**
 * Sessions of people, keys and the operator's token, by a cookie. Each request reads its session from the book, without a cache: a session that ended
 * is over at the next request, at every gateway.
 */
export class Sessions {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** The session of a request; undefined: none, or it has ended. Rejects with BookUnavailable. */
  async of(request: FastifyRequest): Promise<SignedIn | undefined> {
    const secret = readCookie(request, this.#parts, COOKIE);
    if (!secret) return undefined;
    const now = Date.now();
    const session = await this.#parts.book.session(hashKey(secret), now);
    if (!session) return undefined;
    const { id: sessionId, person } = session;
    if (!person && session.keyId === null && !this.#isTokenOf(secret, session.credentialHash))
      return undefined;
    await this.#parts.book.noteUse(session, now);
    if (person) return signedIn(session);
    const { keyId, credentialHash } = session;
    return keyId === null
      ? { by: 'operator', sessionId }
      : { by: 'key', sessionId, keyId, keyHash: credentialHash };
  }

  /** Begins a session of a key or of the operator's token, which have been checked, and sets its cookie. */
  async startWith(request: FastifyRequest, reply: FastifyReply, credential: Credential): Promise<void> {
    const { secret, session } = this.prepare(request);
    const { secretHash, userAgent, replaces } = session;
    const isKey = credential.by === 'key';
    const keyId = isKey ? credential.keyId : null;
    const credentialHash = isKey ? credential.keyHash : this.#tokenHash(secret);
    const by = this.actor(request, credential);
    await this.#parts.book.createCredentialSession(
      { secretHash, keyId, credentialHash, userAgent, replaces },
      by,
      Date.now(),
    );
    this.setSecret(request, reply, secret);
  }

  /** Ends the session of a key that has ended. */
  async endOf({ sessionId }: SignedInKey): Promise<void> {
    await this.#parts.book.endSession(sessionId, SYSTEM, Date.now());
  }

  /**
   * Begins a session of a person and sets its cookie. `passwordHash`: what the password was checked against, if there
   * was one. Throws `invalid_credentials` if the person has been deactivated, or the password changed, meanwhile.
   */
  async start(
    request: FastifyRequest,
    reply: FastifyReply,
    personId: number,
    passwordHash?: string,
  ): Promise<SignedInPerson> {
    const { secret, session } = this.prepare(request);
    const now = Date.now();
    const by = this.actorOf(request, personId);
    const created = { ...session, personId, passwordHash };
    if ((await this.#parts.book.createSession(created, by, now)) === undefined) throw wrongCredentials();
    const begun = await this.#parts.book.session(session.secretHash, now);
    if (!begun?.person) throw wrongCredentials();
    this.setSecret(request, reply, secret);
    return signedIn(begun);
  }

  /** A session that the caller creates, and its secret, for `setSecret` once it exists. */
  prepare(request: FastifyRequest): {
    readonly secret: string;
    readonly session: Omit<NewSession, 'personId' | 'passwordHash'>;
  } {
    const { secret, hash } = newSecret();
    const network = clientNetwork(this.#parts.addressOf(request));
    const userAgent = request.headers['user-agent']?.slice(0, LONGEST_USER_AGENT) ?? null;
    const sent = readCookie(request, this.#parts, COOKIE);
    const replaces = sent ? hashKey(sent) : undefined;
    return { secret, session: { secretHash: hash, network, userAgent, replaces } };
  }

  /** Sets the cookie of a session. */
  setSecret(request: FastifyRequest, reply: FastifyReply, secret: string): void {
    this.#setCookie(request, reply, { value: secret, maxAge: MOST_S });
  }

  /** Ends the session of a request and removes its cookie. */
  async end(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn): Promise<void> {
    await this.#parts.book.endSession(signedIn.sessionId, this.actor(request, signedIn), Date.now());
    this.forget(request, reply);
  }

  /** Removes the cookie. */
  forget(request: FastifyRequest, reply: FastifyReply): void {
    this.#setCookie(request, reply, { value: '', maxAge: 0 });
  }

  /** A person as the one who does what a request asks for. */
  actorOf(request: FastifyRequest, personId: number): Actor {
    return { type: 'person', id: personId, ip: this.#parts.addressOf(request), requestId: request.id };
  }

  /** Whoever has a session, as the one who does what a request asks for. */
  actor(request: FastifyRequest, whose: SignedIn | Credential): Actor {
    if (whose.by === 'person') return this.actorOf(request, whose.person.id);
    const id = whose.by === 'key' ? whose.keyId : null;
    return { type: whose.by, id, ip: this.#parts.addressOf(request), requestId: request.id };
  }

  /** ADMIN_TOKEN, keyed with the secret of its session: a copy of the book helps nobody to guess it. */
  #tokenHash(secret: string): string {
    return createHmac('sha256', secret)
      .update(this.#parts.adminToken ?? '')
      .digest('hex');
  }

  #isTokenOf(secret: string, hash: string): boolean {
    return (
      this.#parts.adminToken !== undefined &&
      timingSafeEqual(Buffer.from(hash), Buffer.from(this.#tokenHash(secret)))
    );
  }

  #setCookie(request: FastifyRequest, reply: FastifyReply, cookie: { value: string; maxAge: number }): void {
    setCookie(request, reply, this.#parts, { name: COOKIE, ...cookie });
  }
}

function signedIn({ id, createdAt, person, memberships }: PersonSession): SignedInPerson {
  return { by: 'person', sessionId: id, person, signedInAt: createdAt, memberships };
}
