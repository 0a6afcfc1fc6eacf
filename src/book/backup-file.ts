import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { CannotLoad } from './transfer.ts';
import type { BookPart } from './transfer-parts.ts';

/** Writes the parts of a book as a backup: lines of JSON, in gzip. */
export async function writeBackup(parts: AsyncIterable<BookPart>, to: Writable): Promise<void> {
  await pipeline(Readable.from(linesOf(parts)), createGzip(), to);
}

async function* linesOf(parts: AsyncIterable<BookPart>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`;
}

/**
 * Yields the parts of a backup, which it opens when the first is needed. Throws CannotLoad if it is not one, or damaged,
 * and the error of its stream.
 */
export async function* readBackup(open: () => Readable): AsyncGenerator<BookPart> {
  const text = createGunzip();
  // The loop below gets its error.
  pipeline(open(), text).catch(() => {});
  try {
    let rest = '';
    for await (const chunk of text.setEncoding('utf8')) {
      const searched = rest.length;
      rest += chunk;
      if (rest.indexOf('\n', searched) < 0) continue;
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as BookPart;
    }
    if (rest !== '') throw new SyntaxError('its last line is cut off');
  } catch (error) {
    const isContent =
      error instanceof SyntaxError || String((error as { code?: string }).code).startsWith('Z_');
    if (!isContent) throw error;
    const { message } = error as Error;
    throw new CannotLoad(
      `This is no backup of Tollgate, or a damaged one (${message}). Nothing was written.`,
    );
  }
}
