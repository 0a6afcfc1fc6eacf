import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, indexOf, piecesOf } from '../../../metering/byte-source.ts';

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
 * values, and the strict one below, which gives their offsets. Throws 400 `invalid_json`.
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

/** One part of a form: its name, and the bytes [start, end) of the body that are its content. */
interface Part {
  readonly name: string;
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
}

/** Most parts of a form. No call of a provider's API has as many, and each costs time. */
const MAX_PARTS = 256;
const MAX_HEADER_BYTES = 8 * 1024;
const CRLF = '\r\n';

/** One parameter of a Content-Disposition. A quoted value may hold anything but quotes and a backslash before one. */
const DISPOSITION_PARAMETER = /;[ \t]*([a-zA-Z]+\*?)=(?:"((?:[^"\\]|\\(?!"))*)"|([^\s;"]+))[ \t]*/gy;
/** Encodings that change nothing; others are obsolete (RFC 7578 §4.7), and only some servers decode them. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Parts of a multipart body, with their offsets, so that single values can be replaced while every other byte stays as
 * it came.
 *
 * It refuses more than parsers do, on purpose. Parsers differ in how they read bare line feeds, a delimiter inside a
 * line, escapes and repeated headers. A client who knew such a difference between the gateway and an upstream could
 * name one model to the gateway and another to the provider (specification section 4: what the gateway checked is what
 * the upstream gets). Forms of common clients have none of these. Throws 400 `invalid_json`.
 */
async function partsOf(body: ByteSource, boundary: string): Promise<Part[]> {
  const delimiter = Buffer.from(`--${boundary}`);
  const text = async (from: number, end: number) => (await body.read(from, end)).toString('latin1');
  if ((await text(0, delimiter.length)) !== `--${boundary}`)
    throw malformed('does not begin with its boundary');
  const parts: Part[] = [];
  let at = delimiter.length;
  while ((await text(at, at + 2)) === CRLF) {
    if (parts.length === MAX_PARTS) throw malformed(`has more than ${MAX_PARTS} parts`);
    const next = await indexOf(body, delimiter, at);
    if (next < 0 || (await text(next - 2, next)) !== CRLF) throw malformed('is cut off');
    // Far enough for the line break after the delimiter, the headers, and the empty line that ends them.
    const end = Math.min(next - 2, at + MAX_HEADER_BYTES + 4);
    parts.push(partFrom(await text(at, end), at, next - 2));
    at = next + delimiter.length;
  }
  const rest = await text(at, at + 5);
  if ((rest !== '--' && rest !== `--${CRLF}`) || at + rest.length !== body.size) {
    throw malformed('does not end with its boundary');
  }
  return parts;
}

/**
 * The part whose delimiter ends at `from` of the body and whose content ends at `end`. `start` is the text from `from`
 * on: at least the line break after the delimiter and all headers of the part.
 */
function partFrom(start: string, from: number, end: number): Part {
  const headEnd = start.indexOf(`${CRLF}${CRLF}`);
  if (headEnd < 0) throw malformed('has a part without a proper head');
  const lines = start.slice(2, Math.max(2, headEnd)).split(CRLF).map(headerOf);
  const disposition = single(lines, 'content-disposition');
  const encoding = single(lines, 'content-transfer-encoding');
  single(lines, 'content-type');
  if (encoding !== undefined && !PLAIN_ENCODINGS.has(encoding.toLowerCase())) {
    throw malformed('has a part with a Content-Transfer-Encoding');
  }
  return { ...nameIn(disposition), start: from + headEnd + 4, end };
}

function headerOf(line: string): readonly [name: string, value: string] {
  // A bare CR, LF or NUL, or a line that continues the one before it, is read differently by different servers.
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw malformed('has a part with a malformed head');
  return [name.toLowerCase(), value.trim()];
}

function single(lines: readonly (readonly [string, string])[], name: string): string | undefined {
  const [first, second] = lines.filter(([header]) => header === name);
  if (second) throw malformed(`has a part with two ${name} headers`);
  return first?.[1];
}

function nameIn(disposition = ''): { name: string; isFile: boolean } {
  const [type = ''] = disposition.split(';', 1);
  const found = new Map<string, string>();
  let end = type.length;
  for (const [whole, key = '', quoted, plain] of disposition
    .slice(type.length)
    .matchAll(DISPOSITION_PARAMETER)) {
    end += whole.length;
    if (found.has(key.toLowerCase())) throw malformed(`has a part with two ${key} parameters`);
    found.set(key.toLowerCase(), quoted ?? plain ?? '');
  }
  const name = found.get('name');
  // Some servers decode these in names before they compare. In the name of a file they decide nothing.
  if (
    type.trim().toLowerCase() !== 'form-data' ||
    end !== disposition.length ||
    name === undefined ||
    /[\\%]/.test(name) ||
    [...found.keys()].some((key) => key !== 'name' && key !== 'filename' && key !== 'filename*')
  ) {
    throw malformed('has a part without a plain name');
  }
  return {
    name: Buffer.from(name, 'latin1').toString('utf8'),
    isFile: found.has('filename') || found.has('filename*'),
  };
}

function malformed(what: string) {
  return invalidJson(`The multipart body ${what}.`);
}
