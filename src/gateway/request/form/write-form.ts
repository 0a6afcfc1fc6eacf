import type { Edit } from '../spool/spool.ts';
import type { Part } from './read-form.ts';

/**
 * Returns the edits that rebuild a form of `size` bytes: the same parts in the same order, with our boundary and heads
 * and with `model` as the model's name. `naming` is the edit with that name. The provider gets what was read, so no
 * parser of it can find anything else (specification section 4). Files stay where they are.
 */
export function writtenForm(
  parts: readonly Part[],
  size: number,
  boundary: string,
  model: string,
): { readonly edits: readonly Edit[]; readonly naming: Edit | undefined } {
  const edits: Edit[] = [];
  let naming: Edit | undefined;
  let at = 0;
  let text = '';
  for (const part of parts) {
    text += `--${boundary}\r\n${headOf(part)}\r\n`;
    if (part.text === undefined) {
      edits.push({ start: at, end: part.start, text });
      at = part.end;
      text = '';
    } else if (part.name === 'model') {
      naming = { start: at, end: at, text: model };
      edits.push({ start: at, end: at, text }, naming);
      text = '';
    } else text += part.text;
    text += '\r\n';
  }
  edits.push({ start: at, end: size, text: `${text}--${boundary}--\r\n` });
  return { edits, naming };
}

/** Characters of a file name that end it, or in which some parsers see an escape. */
const UNSAFE = /["\p{Cc}]|\\(?=["\\]|$)/gu;

function headOf({ name, fileName, type }: Part): string {
  const file = fileName === undefined ? '' : `; filename="${fileName.replace(UNSAFE, encodeURIComponent)}"`;
  const line = `Content-Disposition: form-data; name="${name}"${file}\r\n`;
  return type === undefined ? line : `${line}Content-Type: ${type}\r\n`;
}
