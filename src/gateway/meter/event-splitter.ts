/** An event that is still not complete at this size is passed on unread rather than held back. */
const HELD_MAX_BYTES = 1024 * 1024;

/** Bytes of one or more whole SSE events, and their text in Latin-1 (a byte a character). */
export interface Events {
  readonly bytes: Buffer;
  readonly texts: readonly string[];
}

/**
 * Cuts a byte stream at the blank lines that end SSE events (WHATWG HTML, "Server-sent events": LF, CRLF or CR), so that
 * an event is judged and passed on whole. Bytes are never changed, and are copied only where an event came in pieces.
 */
export class EventSplitter {
  #held: Buffer | undefined;

  push(chunk: Buffer): Events | undefined {
    const bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = undefined;
    const text = bytes.toString('latin1');
    const texts: string[] = [];
    let start = 0;
    for (;;) {
      const end = eventEnd(text, start);
      if (end < 0) break;
      texts.push(text.slice(start, end));
      start = end;
    }
    if (start < bytes.length) {
      if (bytes.length - start > HELD_MAX_BYTES) {
        texts.push(text.slice(start));
        start = bytes.length;
      } else this.#held = bytes.subarray(start);
    }
    return start === 0 ? undefined : { bytes: bytes.subarray(0, start), texts };
  }

  /** What came after the last whole event. */
  rest(): Buffer | undefined {
    return this.#held;
  }
}

/** Index after the blank line that ends the event which starts at `from`; -1: it has not come yet. */
function eventEnd(text: string, from: number): number {
  const lf = text.indexOf('\n\n', from);
  const crlf = text.indexOf('\r\n\r\n', from);
  const cr = text.indexOf('\r\r', from);
  let end = -1;
  if (lf >= 0) end = lf + 2;
  if (crlf >= 0 && (end < 0 || crlf + 4 < end)) end = crlf + 4;
  if (cr >= 0 && (end < 0 || cr + 2 < end)) end = cr + 2;
  return end;
}
