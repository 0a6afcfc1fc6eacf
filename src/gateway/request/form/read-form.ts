import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';
import { type Part, partsOf } from './parts.ts';

/** Most bytes of the text of all fields together. Providers accept prompts of 32,000 characters at most. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 256;

/** The text fields and the files of a form, each in the order of the body, with the offsets of their contents. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly text: string; readonly part: Part }[];
  readonly files: readonly Part[];
}

/**
 * Reads a multipart body without copying its files. Two parsers must agree on it: a widely used one, which gives the
 * values, and the strict one of parts.ts, which gives their offsets. Throws 400 `invalid_json`.
 */
export async function readForm(body: ByteSource, contentType: string, boundary: string): Promise<Form> {
  const parts = await partsOf(body, boundary);
  const parsed = await parse(body, contentType);
  if (parts.length !== parsed.length) throw unreadable();
  const fields: { name: string; text: string; part: Part }[] = [];
  const files: Part[] = [];
  for (const [index, part] of parts.entries()) {
    const read = parsed[index];
    if (!read || !(await agree(body, part, read))) throw unreadable();
    if (read.text === undefined) files.push(part);
    else fields.push({ name: part.name, text: read.text, part });
  }
  return { fields, files };
}

interface Parsed {
  readonly name: string;
  /** Value of a text field; undefined for a file. */
  readonly text: string | undefined;
}

async function agree(body: ByteSource, part: Part, { name, text }: Parsed): Promise<boolean> {
  if (part.name !== name) return false;
  // Some servers take a part of type application/octet-stream for a file even if it has no file name.
  if (text === undefined) return true;
  if (part.isFile || part.end - part.start > MAX_TEXT_BYTES) return false;
  // Text is read as UTF-8, whatever charset the part claims, because few servers look at that.
  const content = await body.read(part.start, part.end);
  return isUtf8(content) && content.toString('utf8') === text;
}

async function parse(body: ByteSource, contentType: string): Promise<Parsed[]> {
  const parsed: Parsed[] = [];
  let textBytes = 0;
  const parser = new Busboy({
    headers: { 'content-type': contentType },
    limits: { fieldSize: MAX_TEXT_BYTES, fieldNameSize: MAX_NAME_BYTES },
  });
  let fault: GatewayError | undefined;
  parser.on('field', (name, text, nameTruncated, valueTruncated) => {
    textBytes += Buffer.byteLength(text);
    if (nameTruncated || valueTruncated || textBytes > MAX_TEXT_BYTES) {
      fault ??= invalidJson('The text fields of the form are too large.', name);
    }
    if (!fault) parsed.push({ name, text });
  });
  parser.on('file', (name, stream) => {
    parsed.push({ name, text: undefined });
    stream.resume();
  });
  await pipeline(Readable.from(piecesOf(body), { objectMode: false }), parser).catch((error: unknown) => {
    throw fault ?? (error instanceof GatewayError ? error : unreadable());
  });
  if (fault) throw fault;
  return parsed;
}

function unreadable() {
  return invalidJson(
    'The multipart body is ambiguous. Send it in the form that common HTTP clients produce.',
  );
}
