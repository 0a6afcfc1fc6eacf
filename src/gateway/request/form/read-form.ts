import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { GatewayError, invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, indexOf, piecesOf } from '../../../metering/byte-source.ts';

/** Maximum text bytes of all fields together. Providers accept prompts of 32,000 characters at most. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 256;

/** Text fields and files of a form, each in body order, with the offsets of their contents. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly text: string; readonly part: Part }[];
  readonly files: readonly Part[];
}

/**
 * Reads a multipart body without copying its files. Two parsers must agree: a widely used one for the values, and the
 * strict one below for their offsets. Throws 400 `invalid_json`.
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
  /** Text of the field; undefined for a file. */
  readonly text: string | undefined;
}

async function agree(body: ByteSource, part: Part, { name, text }: Parsed): Promise<boolean> {
  if (part.name !== name) return false;
  // Some servers treat a part of type application/octet-stream as a file even without a file name.
  if (text === undefined) return true;
  if (part.isFile || part.end - part.start > MAX_TEXT_BYTES) return false;
  // Read as UTF-8 whatever charset the part declares, because few servers honor it.
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

/** A part of a form: its name, and its content as the bytes [start, end) of the body. */
interface Part {
  readonly name: string;
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
}

/** Maximum parts of a form. No provider's API has as many, and each costs time. */
const MAX_PARTS = 256;
const MAX_HEADER_BYTES = 8 * 1024;
const CRLF = '\r\n';

/** A parameter of a Content-Disposition. A quoted value may contain anything but quotes and a backslash before one. */
const DISPOSITION_PARAMETER = /;[ \t]*([a-zA-Z]+\*?)=(?:"((?:[^"\\]|\\(?!"))*)"|([^\s;"]+))[ \t]*/gy;
/** Encodings without effect; others are obsolete (RFC 7578 §4.7), and only some servers decode them. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Finds the parts of a multipart body and their offsets, so that single values can be replaced and every other byte
 * kept.
 *
 * Common parsers are less strict: they differ in bare line feeds, delimiters inside a line, escapes and repeated
 * headers. A client could use such a difference to name one model to the gateway and another to the provider
 * (specification section 4: the upstream gets exactly the checked request). Forms of common clients have none of these.
 * Throws 400 `invalid_json`.
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
    // Covers the line break after the delimiter, the headers, and the empty line that ends them.
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
 * Parses the part whose delimiter ends at `from` and whose content ends at `end`. `start` is the text from `from` on,
 * at least through the part's headers.
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
  // Servers differ in reading a bare CR, LF or NUL, or a continuation line.
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)$/.exec(line) ?? [];
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
  // Some servers decode these in field names before they compare. In a file name they decide nothing.
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
