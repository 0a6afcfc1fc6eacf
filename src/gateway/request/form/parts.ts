import { invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, indexOf } from '../../../metering/byte-source.ts';

/** One part of a form: its name, and the bytes [start, end) of the body that are its content. */
export interface Part {
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
export async function partsOf(body: ByteSource, boundary: string): Promise<Part[]> {
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
