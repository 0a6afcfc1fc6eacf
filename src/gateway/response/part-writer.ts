import type { ServerResponse } from 'node:http';

/**
 * Writer of the parts of a chunked answer, after its head. Node's `response.write` makes four pieces of a part (length,
 * line end, part, line end) and joins them in the next tick, which took a quarter of a stream's CPU. Here
 * each part is one string and one write. Node's own way is used if the answer is not chunked (HTTP/1.0) or waits
 * behind an earlier answer on the connection.
 */
export class PartWriter {
  readonly #response: ServerResponse;
  #isWaiting = false;

  /**
   * `onDrain` and the other 'drain' listeners of `response` are called when there is room again after a write that
   * returned false.
   */
  constructor(response: ServerResponse, onDrain: () => void) {
    this.#response = response;
    response.on('drain', onDrain);
  }

  /** Writes `part`, which is Latin-1 text with a byte a character. False asks for no more until there is room. */
  write(part: string): boolean {
    const { socket } = this.#response;
    // A chunk of length 0 would end the answer.
    if (part === '') return true;
    if (!socket || !this.#response.chunkedEncoding) return this.#response.write(part, 'latin1');
    const chunk = `${part.length.toString(16)}\r\n${part}\r\n`;
    const flowing = socket.writableLength > 0 ? socket.write(asBytes(chunk)) : socket.write(chunk, 'latin1');
    if (!flowing && !this.#isWaiting) {
      this.#isWaiting = true;
      // Node emits the response's own 'drain' only after its own writes, so it is emitted here.
      socket.once('drain', () => {
        this.#isWaiting = false;
        this.#response.emit('drain');
      });
    }
    return flowing;
  }

  end(part: string): void {
    this.#response.end(part, 'latin1');
  }
}

/**
 * Copies a queued part to an unpooled buffer: text joined of many events takes four times the memory, and a slice of
 * Node's pool pins 64 KiB.
 */
function asBytes(chunk: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(chunk.length);
  bytes.write(chunk, 'latin1');
  return bytes;
}
