import type { Log } from '../../log.ts';

export class TokenCounter {
  constructor(_options: { log: Log }) {}
  async count(text: string): Promise<number> {
    return Math.ceil(Buffer.byteLength(text) / 4);
  }
  async close(): Promise<void> {}
}
