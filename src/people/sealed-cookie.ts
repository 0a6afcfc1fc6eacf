import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Time for which a sealed text opens, in seconds. */
export const SEALED_S = 600;

/**
 * Seals values into the text of a cookie: nobody without the book's secret can read, change or make one. So every
 * gateway of a book opens what another sealed, and the gateway keeps nothing of a sign-in that is under way.
 */
export class SealedCookie {
  readonly #key: Buffer;

  /** `secret`: `Book.secret`. `purpose`: what the cookie is for; one of another purpose does not open. */
  constructor(secret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', `tollgate cookie: ${purpose}`, 32));
  }

  /** Returns base64url text that opens for 10 minutes from `now`. `value` must survive JSON. */
  seal(value: unknown, now = Date.now()): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    const text = JSON.stringify({ until: now + SEALED_S * 1_000, value });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Returns the sealed value; undefined if the text was changed, is over, or is from another book or purpose. */
  open(text: string, now = Date.now()): unknown {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      const { until, value } = JSON.parse(opened.toString('utf8')) as { until: number; value: unknown };
      return now < until ? value : undefined;
    } catch {
      return undefined;
    }
  }
}
