import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../book/book.ts';
import type { NewSession, OpenSession } from '../book/sessions.ts';
import type { Actor } from '../domain/actor.ts';
import { type AddressMatcher, clientNetwork } from '../domain/addresses.ts';
import { hashKey } from '../domain/key-value.ts';
import { readCookie, setCookie } from './cookies.ts';
import { wrongCredentials } from './sign-in.ts';
import type { SignedIn } from './signed-in.ts';

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
  readonly book: Pick<Book, 'session' | 'noteUse' | 'createSession' | 'endSessions'>;
  readonly addressOf: (request: FastifyRequest) => string;
  readonly trustProxy: AddressMatcher | undefined;
}

/**
 * Sessions of people, by a cookie. Each request reads its session from the book, without a cache: a session that ended
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
    await this.#parts.book.noteUse(session, now);
    return signedIn(session);
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
  ): Promise<SignedIn> {
    const { secret, session } = this.prepare(request);
    const now = Date.now();
    const by = this.actorOf(request, personId);
    const created = { ...session, personId, passwordHash };
    if ((await this.#parts.book.createSession(created, by, now)) === undefined) throw wrongCredentials();
    const begun = await this.#parts.book.session(session.secretHash, now);
    if (!begun) throw wrongCredentials();
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
    return { secret, session: { secretHash: hash, network, userAgent } };
  }

  /** Sets the cookie of a session. */
  setSecret(request: FastifyRequest, reply: FastifyReply, secret: string): void {
    this.#setCookie(request, reply, { value: secret, maxAge: MOST_S });
  }

  /** Ends the session of a request and removes its cookie. */
  async end(request: FastifyRequest, reply: FastifyReply, { sessionId, person }: SignedIn): Promise<void> {
    await this.#parts.book.endSessions(person.id, sessionId, this.actorOf(request, person.id), Date.now());
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

  #setCookie(request: FastifyRequest, reply: FastifyReply, cookie: { value: string; maxAge: number }): void {
    setCookie(request, reply, this.#parts, { name: COOKIE, ...cookie });
  }
}

function signedIn({ id, createdAt, person, memberships }: OpenSession): SignedIn {
  return { sessionId: id, person, signedInAt: createdAt, memberships };
}
