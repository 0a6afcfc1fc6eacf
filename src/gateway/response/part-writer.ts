import type { ServerResponse } from 'node:http';

/**
 * Writes the parts of an answer that has no length, after its head. Node's `response.write` makes four pieces of a part
 * (its length, a line end, the part, a line end) and gathers them in the next tick; writing was a quarter of a stream's
 * CPU. Here each part is one string and one write. Where the answer is not chunked (HTTP/1.0), or must wait for
 * its turn behind an earlier answer on the connection, the part goes Node's way.
 */
export class PartWriter {
  readonly #response: ServerResponse;
  #isWaiting = false;

  /** `onDrain` is called when there is room again after a write that returned false; so is any listener of `response`. */
  constructor(response: ServerResponse, onDrain: () => void) {
    this.#response = response;
    response.on('drain', onDrain);
  }

  /** `part`: Latin-1 text, a byte a character. False: no more until there is room. */
  write(part: string): boolean {
    const { socket } = this.#response;
    // An empty part would end the answer.
    if (part === '') return true;
    if (!socket || !this.#response.chunkedEncoding) return this.#response.write(part, 'latin1');
    const flowing = socket.write(`${part.length.toString(16)}\r\n${part}\r\n`, 'latin1');
    if (!flowing && !this.#isWaiting) {
      this.#isWaiting = true;
      // The response hears of room only where it asked itself; whoever listens to it is told all the same.
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
