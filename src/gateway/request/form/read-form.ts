import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, piecesOf } from '../../../metering/byte-source.ts';
import { type Part, partsOf } from './parts.ts';

/** Text of all fields together; a prompt has 32,000 characters at most. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 256;

/** The text fields and files of a form, each kind in its order and with the place of its content. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly text: string; readonly part: Part }[];
  readonly files: readonly Part[];
}

/**
 * Reads a multipart body without copying its files. Two readers must agree on it: the parser that the world uses, which
 * gives the values, and the strict one that knows where they stand. Throws 400 `invalid_json`.
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
  /** Undefined: a file. */
  readonly text: string | undefined;
}

async function agree(body: ByteSource, part: Part, { name, text }: Parsed): Promise<boolean> {
  if (part.name !== name) return false;
  // A part of type application/octet-stream is a file to some servers also without a file name.
  if (text === undefined) return true;
  if (part.isFile || part.end - part.start > MAX_TEXT_BYTES) return false;
  // Text is UTF-8, whatever charset the part claims, since few servers look at that.
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
      fault ??= invalidJson('The text fields of the form are too long.', name);
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
  return invalidJson('The multipart body could be read in more than one way. Send it as common clients do.');
}
