import { LRUCache } from 'lru-cache';
import type { Book } from '../book/book.ts';
import { KNOWN_MS } from '../book/sessions.ts';
import { GatewayError } from '../domain/errors.ts';
import { hasRightLength } from '../domain/password-length.ts';
import { emailKey, type Person } from '../domain/people.ts';
import { isPassword, type Passwords } from './passwords.ts';

/** Failures within `PER_MS`, after which sign-ins of the person, or from the address, are refused. */
const MOST_OF_PERSON = 10;
const MOST_OF_ADDRESS = 30;
const PER_MS = 60_000;
/** People and addresses remembered; one that is forgotten has its failures again. */
const MOST_REMEMBERED = 20_000;

/** An e-mail address with its password, from a network (`clientNetwork`). */
interface Attempt {
  readonly email: string;
  readonly password: string;
  readonly network: string;
}

/** A person whose password is right, and the hash that it has. */
export interface Checked {
  readonly person: Person;
  readonly passwordHash: string;
}

interface SignInParts {
  readonly book: Pick<Book, 'credentials'>;
  readonly passwords: Passwords;
}

/** Checks passwords, and bounds the failures for a person and from an address. */
export class SignIn {
  readonly #parts: SignInParts;
  /** Times of the latest failures, oldest first. */
  readonly #failures = new LRUCache<string, readonly number[]>({ max: MOST_REMEMBERED });
  readonly #nowMs: () => number;

  constructor(parts: SignInParts, nowMs = () => performance.now()) {
    this.#parts = parts;
    this.#nowMs = nowMs;
  }

  /**
   * Resolves with the person whose password it is. Throws 401 `invalid_credentials`, alike and in the same time for
   * unknown and inactive people, and 429 after too many failures. `onFailure` gets the person whose e-mail address was
   * sent, if there is one.
   */
  async check(attempt: Attempt, onFailure: (personId: number | null) => Promise<void>): Promise<Checked> {
    const { book, passwords } = this.#parts;
    const { email, password, network } = attempt;
    const checked = await passwords.inTurn(network, async () => {
      const known = await book.credentials(email, network, Date.now() - KNOWN_MS);
      // Nobody's guesses from elsewhere lock out a person where they have signed in before.
      const counters = known?.isKnownNetwork
        ? [{ name: `${known.person.id} ${network}`, most: MOST_OF_PERSON }]
        : [
            { name: emailKey(email), most: MOST_OF_PERSON },
            { name: network, most: MOST_OF_ADDRESS },
          ];
      for (const { name, most } of counters) this.#requireRoom(name, most);
      // Counts while it runs, so that attempts at once are no more than attempts in turn.
      const at = this.#nowMs();
      for (const { name, most } of counters) this.#count(name, most, at);
      const { person, passwordHash = null } = known ?? {};
      const isRight = hasRightLength(password) && (await isPassword(password, passwordHash));
      if (!isRight || !person?.isActive || passwordHash === null) return { failed: person?.id ?? null };
      for (const { name } of counters) this.#uncount(name, at);
      return { person, passwordHash };
    });
    if (!('failed' in checked)) return checked;
    await onFailure(checked.failed);
    throw wrongCredentials();
  }

  #requireRoom(name: string, most: number): void {
    const first = this.#failures.get(name)?.at(-most);
    const waitMs = first === undefined ? 0 : first + PER_MS - this.#nowMs();
    if (waitMs <= 0) return;
    const waitS = Math.ceil(waitMs / 1_000);
    throw new GatewayError(
      'rate_limit_exceeded',
      `Too many sign-ins failed for this person or from your address. Try again in ${waitS} s.`,
      null,
      waitS,
    );
  }

  #count(name: string, most: number, at: number): void {
    this.#failures.set(name, [...(this.#failures.get(name) ?? []), at].slice(-most));
  }

  #uncount(name: string, at: number): void {
    const times = [...(this.#failures.get(name) ?? [])];
    const index = times.indexOf(at);
    if (index >= 0) times.splice(index, 1);
    this.#failures.set(name, times);
  }
}

export function wrongCredentials(): GatewayError {
  return new GatewayError('invalid_credentials', 'The e-mail address or the password is wrong.');
}

/** Of a person who is signed in. */
export function wrongPassword(): GatewayError {
  return new GatewayError(
    'invalid_credentials',
    'The current password is wrong.',
    'current_password',
    undefined,
    { statusCode: 403 },
  );
}
