import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { FairPool } from '../shares/fair-pool.ts';

/** Parameters of scrypt: 16 MiB and about 100 ms a hash (OWASP Password Storage Cheat Sheet). */
const COST = { N: 16_384, r: 8, p: 5 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
/** Hashes computed at once: as many as libuv has threads, and 64 MiB. */
const AT_ONCE = 4;

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

/** Hash of no password, compared where there is none, so that the time of an answer does not depend on it. */
const NO_HASH = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Hashes passwords by scrypt off the event loop, few at once. Networks of clients take turns. */
export class Passwords {
  readonly #places = new FairPool<string>({ places: { all: AT_ONCE, ofOne: AT_ONCE } });

  /** Runs `body`, which may hash once, when the network has its turn. */
  async inTurn<Result>(network: string, body: () => Promise<Result>): Promise<Result> {
    const place = await this.#places.acquire(network);
    try {
      return await body();
    } finally {
      place.release();
    }
  }

  /** `scrypt$<N>$<r>$<p>$<salt>$<key>`, of a new salt. */
  async hash(password: string, network: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.inTurn(network, () => derive(password, salt, KEY_BYTES, COST));
    return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join(
      '$',
    );
  }
}

/** Whether a password has this hash; false, in the same time, if `hash` is null. Call it `inTurn`. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = (hash ?? NO_HASH).split('$');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const expected = Buffer.from(key, 'base64url');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), expected.length, cost);
  return timingSafeEqual(derived, expected) && hash !== null;
}
