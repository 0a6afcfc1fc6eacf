const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
const [COMMA, COLON] = [0x2c, 0x3a];
/** A key or kept value that is longer is given up. */
const KEPT_MAX_BYTES = 64 * 1024;

/**
 * Reads JSON as it passes, in parts cut anywhere, and keeps next to nothing of it: the values of a few members of the
 * outermost object, and how many elements the array of another member has. For answers that are too large to be held.
 *
 * Exact because it follows the grammar and does not look for patterns: a name inside a string, or deeper down, is not
 * taken for a member. Strings are skipped with a native search for their closing quote, so megabytes of base64 cost
 * about what copying them does. What is not JSON gives no values, and never an error.
 */
export class MemberScanner {
  readonly #kept: ReadonlySet<string>;
  readonly #counted: string;
  readonly #values = new Map<string, string>();
  #count = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Within the outermost object: the next string is a key. */
  #expectsKey = false;
  #member: string | undefined;
  #isCounting = false;
  #expectsElement = false;
  /** Where, in the part at hand, begins what is being kept; -1: nothing is. */
  #keepFrom = -1;
  #keeping: Buffer[] = [];
  #keptBytes = 0;

  /** `kept`: members whose values are wanted. `counted`: the member, an array, whose elements are counted. */
  constructor(kept: readonly string[], counted = '') {
    this.#kept = new Set(kept);
    this.#counted = counted;
  }

  /** Elements of the counted array that have begun until now. */
  get count(): number {
    return this.#count;
  }

  /** The outermost object or array has ended. */
  get isWhole(): boolean {
    return this.#depth === 0;
  }

  /** The value of a kept member once it has ended; undefined where there is none, it is too long, or is no JSON. */
  value(name: string): unknown {
    const text = this.#values.get(name);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  push(bytes: Buffer): void {
    if (this.#keepFrom >= 0) this.#keepFrom = 0;
    let at = 0;
    while (at < bytes.length) {
      at = this.#inString ? this.#skipString(bytes, at) : this.#step(bytes, at);
    }
    if (this.#keepFrom >= 0) this.#keep(bytes, bytes.length);
  }

  /** To after the closing quote, or the end of the part. */
  #skipString(bytes: Buffer, from: number): number {
    let at = from;
    let slash = -2;
    for (;;) {
      if (this.#isEscaped) {
        if (at >= bytes.length) return at;
        this.#isEscaped = false;
        at++;
      }
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? bytes.length : quote;
      if (slash !== -1 && slash < at) slash = bytes.indexOf(BACKSLASH, at);
      if (slash >= 0 && slash < end) {
        this.#isEscaped = true;
        at = slash + 1;
        continue;
      }
      if (quote < 0) return bytes.length;
      this.#inString = false;
      if (this.#depth === 1 && this.#expectsKey) this.#endKey(bytes, quote);
      return quote + 1;
    }
  }

  #step(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      this.#inString = true;
      if (this.#depth === 1 && this.#expectsKey) this.#keepFrom = at + 1;
      else this.#beginElement();
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.#beginElement();
      this.#open(byte);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      this.#depth--;
      if (this.#depth === 1) this.#isCounting = false;
      if (this.#depth === 0) this.#endValue(bytes, at);
    } else if (byte === COMMA) {
      if (this.#depth === 1) {
        this.#endValue(bytes, at);
        this.#expectsKey = true;
      } else if (this.#depth === 2) this.#expectsElement = this.#isCounting;
    } else if (byte === COLON) {
      if (this.#depth === 1 && this.#member !== undefined && this.#kept.has(this.#member)) {
        this.#keepFrom = at + 1;
      }
    } else if (byte > 0x20) this.#beginElement();
    return at + 1;
  }

  #open(byte: number): void {
    this.#depth++;
    if (this.#depth === 1) this.#expectsKey = byte === OPEN_OBJECT;
    if (this.#depth === 2 && byte === OPEN_ARRAY && this.#member === this.#counted) {
      this.#isCounting = true;
      this.#expectsElement = true;
    }
  }

  #beginElement(): void {
    if (!this.#isCounting || !this.#expectsElement || this.#depth !== 2) return;
    this.#expectsElement = false;
    this.#count++;
  }

  #endKey(bytes: Buffer, at: number): void {
    this.#expectsKey = false;
    const raw = this.#takeKept(bytes, at);
    try {
      this.#member = raw === undefined ? undefined : (JSON.parse(`"${raw}"`) as string);
    } catch {
      this.#member = undefined;
    }
  }

  #endValue(bytes: Buffer, at: number): void {
    if (this.#keepFrom >= 0) {
      const text = this.#takeKept(bytes, at);
      if (this.#member !== undefined && text !== undefined) this.#values.set(this.#member, text);
    }
    this.#member = undefined;
  }

  #keep(bytes: Buffer, end: number): void {
    const part = bytes.subarray(this.#keepFrom, end);
    this.#keptBytes += part.length;
    // A copy: a view would keep the whole part in memory.
    if (this.#keptBytes <= KEPT_MAX_BYTES) this.#keeping.push(Buffer.from(part));
  }

  /** What was kept, up to `end`; undefined: too long. */
  #takeKept(bytes: Buffer, end: number): string | undefined {
    this.#keep(bytes, end);
    const text = this.#keptBytes > KEPT_MAX_BYTES ? undefined : Buffer.concat(this.#keeping).toString('utf8');
    this.#keepFrom = -1;
    this.#keeping = [];
    this.#keptBytes = 0;
    return text;
  }
}
