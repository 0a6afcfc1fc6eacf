import { type ReadJson, readJson, type Span } from '../request/json/json-reader.ts';
import type { Edit } from '../request/spool/upload.ts';

const EVERY_NAME = { take: () => true };

/** An object within the text of a body, with the places of its own members. */
export function readWithin({ text }: ReadJson, { start, end }: Span): ReadJson {
  return readJson(Buffer.from(text.slice(start, end), 'latin1'), EVERY_NAME);
}

/** Edits of the text of `read`, as edits of the bytes that it was read from, which begin at `from`. */
export function placed(edits: readonly Edit[], read: ReadJson, from: number): Edit[] {
  return edits.map(({ start, end, text }) => ({
    start: from + read.offsetOf(start),
    end: from + read.offsetOf(end),
    text,
  }));
}

/** The edit that puts members before the others of the outermost object. */
export function added({ openAt, isEmpty }: ReadJson, members: string): Edit {
  const at = openAt + 1;
  return { start: at, end: at, text: `${members}${isEmpty ? '' : ','}` };
}
