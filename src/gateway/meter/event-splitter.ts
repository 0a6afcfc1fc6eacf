/** An event that is still not complete at this size is passed on unread rather than held back. */
const HELD_MAX_CHARS = 1024 * 1024;

/**
 * Cuts a byte stream at the blank lines that end SSE events (WHATWG HTML, "Server-sent events": LF, CRLF or CR), so that
 * an event is judged and passed on whole. Works on Latin-1 text, a byte a character: what comes out is what went in.
 */
export class EventSplitter {
  #text = '';
  #at = 0;

  push(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    this.#text = this.#at === this.#text.length ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
  }

  /** The next whole event, its blank line included; undefined: it has not come yet. */
  next(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    if (start === text.length) return undefined;
    let end = eventEnd(text, start);
    if (end < 0) {
      if (text.length - start <= HELD_MAX_CHARS) return undefined;
      end = text.length;
    }
    this.#at = end;
    return start === 0 && end === text.length ? text : text.slice(start, end);
  }

  /** What came after the last whole event; taken out. */
  rest(): string {
    const rest = this.#text.slice(this.#at);
    this.#at = this.#text.length;
    return rest;
  }
}

/** Index after the blank line that ends the event which starts at `from`; -1: it has not come yet. */
function eventEnd(text: string, from: number): number {
  const lf = text.indexOf('\n\n', from);
  let end = lf < 0 ? -1 : lf + 2;
  const cr = text.indexOf('\r', from);
  if (cr < 0 || (end >= 0 && cr >= end)) return end;
  const crlf = text.indexOf('\r\n\r\n', cr);
  if (crlf >= 0 && (end < 0 || crlf + 4 < end)) end = crlf + 4;
  const crcr = text.indexOf('\r\r', cr);
  if (crcr >= 0 && (end < 0 || crcr + 2 < end)) end = crcr + 2;
  return end;
}
