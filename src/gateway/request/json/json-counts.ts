import { randomInt } from 'node:crypto';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';

/**
 * Maximum weighted parts (values, names, lists, objects) of a body, so that no step of parsing and checking takes long.
 * By `node bench/worst-json.ts` (Node 24.21), JSON.parse takes 20 to 140 ns per part, of which expensive kinds weigh
 * more (WEIGHTS), and 600 to 1,000 ns per new name. A history of 10,000 messages with tools weighs 275,000, a prompt of
 * 300,000 token numbers 300,000.
 */
const MAX_PARTS = 400_000;
const MAX_NAMES = 10_000;
/**
 * Maximum nesting. JSON.parse takes 140 ns per level, and more when its stack grows: 40 ms for 130,000 levels, 3 ms for
 * these.
 */
const MAX_DEPTH = 20_000;
/** Parts and names from which a body is parsed and checked in heavy steps; JSON.parse takes 2 ms for these. */
const HEAVY_PARTS = 20_000;
const HEAVY_NAMES = 1_000;
/** This many names count as distinct without comparison. An agent's history has as many, of a few dozen kinds. */
const UNCOMPARED_NAMES = 4_000;

/** Weights: each comma means one more value and each colon a name; an opening bracket counts three. */
const BRACKET_PARTS = 3;
/**
 * Weight of an elided string, which takes 0.9 KB of memory. A body of 45 MB can contain 87,000; this weight admits
 * 57,000.
 */
const ELIDED_PARTS = 6;
/** Weight of a name that must be decoded and folded. */
const ODD_NAME_PARTS = 4;

/** Maximum bytes of a compared name; each longer one counts as new. */
const COMPARED_BYTES = 48;
/** Size of the hash table of names, as a power of two: large enough that few of MAX_NAMES collide. */
const PLACE_BITS = 18;
/** Random hash seed, so that clients can't construct collisions. */
const SEED = randomInt(2 ** 31);

/**
 * Counts the values, names and levels of JSON before it is parsed. The counts are meaningless for invalid JSON, which
 * JSON.parse refuses anyway.
 */
export class JsonCounts {
  #parts = 0;
  #depth = 0;
  #names = 0;
  #newNames = 0;
  #noted: Uint8Array | undefined;

  /** True if parsing and checking take so long that other calls should run in between. */
  get isHeavy(): boolean {
    return this.#parts > HEAVY_PARTS || this.#newNames > HEAVY_NAMES;
  }

  /** Number of open lists and objects. */
  get depth(): number {
    return this.#depth;
  }

  /** Throws 413 `body_too_large`, like all methods that count parts. */
  comma(): void {
    this.#add(1);
  }

  /** Throws 400 `invalid_json` for JSON nested too deeply. */
  open(): void {
    this.#add(BRACKET_PARTS);
    if (++this.#depth > MAX_DEPTH)
      throw invalidJson(`The request body is nested more than ${MAX_DEPTH} levels deep.`);
  }

  close(): void {
    this.#depth--;
  }

  oddName(): void {
    this.#add(ODD_NAME_PARTS);
  }

  elided(): void {
    this.#add(ELIDED_PARTS);
  }

  /** Counts the name in [from, end), without its quotes; an elided name is empty. */
  name(bytes: Buffer, from: number, end: number): void {
    this.#add(1);
    if (++this.#names <= UNCOMPARED_NAMES) return;
    if (end - from > COMPARED_BYTES) {
      this.#newName();
      return;
    }
    let hash = SEED;
    for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const place = (mixed ^ (mixed >>> 12)) >>> (32 - PLACE_BITS);
    const bit = 1 << (place & 7);
    this.#noted ??= new Uint8Array(2 ** (PLACE_BITS - 3));
    const byte = this.#noted[place >>> 3] as number;
    if ((byte & bit) !== 0) return;
    this.#noted[place >>> 3] = byte | bit;
    this.#newName();
  }

  #add(parts: number): void {
    this.#parts += parts;
    if (this.#parts <= MAX_PARTS) return;
    throw tooLarge(
      `too many values and names: at most ${MAX_PARTS} are allowed, and each list or object counts as three`,
    );
  }

  #newName(): void {
    if (++this.#newNames > MAX_NAMES - UNCOMPARED_NAMES)
      throw tooLarge(`too many different names: at most ${MAX_NAMES} are allowed`);
  }
}

function tooLarge(what: string): GatewayError {
  return new GatewayError('body_too_large', `The request body has ${what}.`);
}
