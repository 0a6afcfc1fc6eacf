const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;
const HEAD_END = [CR, LF, CR, LF];
/** Position of the status in `HTTP/1.1 100 Continue`, and of its last digit. */
const STATUS_AT = 9;
const LAST_DIGIT_AT = 11;

/**
 * Turns each `100 Continue` before an HTTP/1 answer into a 102, byte for byte. undici takes any other interim answer, but
 * destroys the connection for a 100 that it did not ask for, as do IIS and proxies that add `Expect` and pass the 100
 * back. RFC 9110 section 15.2: a client must be able to parse interim answers that it does not expect. By then the
 * provider has the request and bills it.
 *
 * Holds back no byte, so pieces may be cut anywhere. It reads interim heads and nine bytes of the final one; of all other
 * pieces it costs a comparison.
 */
export class ContinueFilter {
  #isAwaited = false;
  /** Position in the current head, up to the last digit of its status. */
  #at = 0;
  #mayBe100 = false;
  /** Bytes of HEAD_END that have come. */
  #ended = 0;

  /** A request goes out: an answer, or an interim one, comes next. */
  begin(): void {
    this.#isAwaited = true;
    this.#at = 0;
  }

  /** Edits the next bytes of the connection in place. */
  edit(piece: Buffer): void {
    for (let at = 0; this.#isAwaited && at < piece.length; at++) {
      const byte = piece[at] as number;
      if (this.#at > LAST_DIGIT_AT) this.#seekEnd(byte);
      else if (this.#isLastZero(byte)) piece[at] = TWO;
    }
  }

  /** Whether this byte of a status line is the last of 100. */
  #isLastZero(byte: number): boolean {
    // Parsers skip blank lines before a head.
    if (this.#at === 0 && (byte === CR || byte === LF)) return false;
    const at = this.#at++;
    if (at === STATUS_AT) this.#isAwaited = byte === ONE;
    else if (at === STATUS_AT + 1) this.#mayBe100 = byte === ZERO;
    else if (at === LAST_DIGIT_AT) {
      this.#ended = 0;
      return this.#mayBe100 && byte === ZERO;
    }
    return false;
  }

  #seekEnd(byte: number): void {
    if (byte === HEAD_END[this.#ended]) this.#ended++;
    else this.#ended = byte === CR ? 1 : 0;
    if (this.#ended === HEAD_END.length) this.#at = 0;
  }
}
