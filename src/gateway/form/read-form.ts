import { isUtf8 } from 'node:buffer';
import { Busboy } from '@fastify/busboy';
import { invalidJson } from '../body.ts';
import { type Part, partsOf } from './parts.ts';

/** Longest text field; a prompt has 32,000 characters at most. */
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 256;

/** A form as read: text fields and files in their order, each with the place of its content. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly text: string; readonly part: Part }[];
  readonly files: readonly Part[];
}

/**
 * Reads a multipart body without copying its files. Two readers must agree on it: the parser that the world uses, which
 * gives the values, and the strict one that knows where they stand. Throws 400 `invalid_json`.
 */
export async function readForm(body: Buffer, contentType: string, boundary: string): Promise<Form> {
  const parts = partsOf(body, boundary);
  const parsed = await parse(body, contentType);
  const same =
    parts.length === parsed.length && parts.every((part, index) => agree(body, part, parsed[index]));
  if (!same) throw unreadable();
  const fields = parts.flatMap((part, index) => {
    const text = parsed[index]?.text;
    return text === undefined ? [] : [{ name: part.name, text, part }];
  });
  return { fields, files: parts.filter((_, index) => parsed[index]?.text === undefined) };
}

interface Parsed {
  readonly name: string;
  /** Undefined: a file. */
  readonly text: string | undefined;
}

function agree(body: Buffer, part: Part, parsed: Parsed | undefined): boolean {
  if (!parsed || parsed.name !== part.name) return false;
  // A part of type application/octet-stream is a file to some servers also without a file name.
  if (parsed.text === undefined) return true;
  // Text is UTF-8, whatever charset the part claims, since few servers look at that.
  const content = body.subarray(part.start, part.end);
  return !part.isFile && isUtf8(content) && content.toString('utf8') === parsed.text;
}

function parse(body: Buffer, contentType: string): Promise<Parsed[]> {
  return new Promise((resolve, reject) => {
    const parsed: Parsed[] = [];
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: MAX_FIELD_BYTES, fieldNameSize: MAX_NAME_BYTES },
    });
    parser.on('field', (name, text, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated) reject(invalidJson('A text field of the form is too long.', name));
      parsed.push({ name, text });
    });
    parser.on('file', (name, stream) => {
      parsed.push({ name, text: undefined });
      stream.resume();
    });
    parser.on('finish', () => resolve(parsed));
    parser.on('error', () => reject(unreadable()));
    parser.end(body);
  });
}

function unreadable() {
  return invalidJson('The multipart body could be read in more than one way. Send it as common clients do.');
}
