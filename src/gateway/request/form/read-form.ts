import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import { invalidJson } from '../../../domain/errors.ts';
import { type ByteSource, indexOf } from '../../../metering/byte-source.ts';

/** Maximum text bytes of all fields together. Providers accept prompts of 32,000 characters at most. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** Maximum parts of a form. No provider's API has as many, and each costs time. */
const MAX_PARTS = 256;
const MAX_HEAD_BYTES = 8 * 1024;
const CRLF = '\r\n';

/** A part of a form; its content is the bytes [start, end) of the body. */
export interface Part extends Head {
  readonly start: number;
  readonly end: number;
  /** Content of a text field; undefined for a file. */
  readonly text: string | undefined;
}

/** A head as the gateway reads it, which is all of it that goes upstream. */
interface Head {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly type: string | undefined;
}

/**
 * Reads a multipart body (RFC 7578) without copying its files. Nothing here must agree with the provider's parser,
 * because the form is rebuilt (write-form.ts). Throws 400 `invalid_json` for what can't be read.
 */
export async function readForm(body: ByteSource, contentType: string | undefined): Promise<Part[]> {
  const delimiter = Buffer.from(`${CRLF}--${boundaryOf(contentType)}`, 'latin1');
  const read = async (from: number, end: number) => (await body.read(from, end)).toString('latin1');
  const delimiterFrom = async (from: number) => {
    const at = await indexOf(body, delimiter, from);
    if (at < 0) throw malformed('is cut off');
    return at;
  };
  const parts: Part[] = [];
  let textBytes = 0;
  // The first delimiter may lack its line break.
  const isFirst = (await body.read(0, delimiter.length - 2)).equals(delimiter.subarray(2));
  for (let end = isFirst ? -2 : await delimiterFrom(0); ; ) {
    const at = end + delimiter.length;
    const sign = await read(at, at + 2);
    if (sign === '--') return parts;
    if (sign !== CRLF) throw malformed('has a line that begins like its boundary');
    if (parts.length === MAX_PARTS) throw malformed(`has more than ${MAX_PARTS} parts`);
    end = await delimiterFrom(at);
    const head = await read(at, Math.min(end, at + MAX_HEAD_BYTES));
    const length = head.indexOf(CRLF + CRLF);
    if (length < 0) throw malformed('has a part without a proper head');
    const part = { ...headFrom(head.slice(2, Math.max(2, length))), start: at + length + 4, end };
    if (isFile(part)) {
      parts.push({ ...part, text: undefined });
      continue;
    }
    textBytes += end - part.start;
    if (textBytes > MAX_TEXT_BYTES)
      throw invalidJson('The text fields of the form are too large.', part.name.slice(0, 100));
    const bytes = await body.read(part.start, end);
    if (!isUtf8(bytes)) throw malformed('has a text field that is not UTF-8');
    // Its text is read as UTF-8, so another charset, which few servers honor, is left out.
    const [type] = /^[^;]+(?:;[ \t]*charset=utf-8$)?/i.exec(part.type ?? '') ?? [];
    parts.push({ ...part, type, text: bytes.toString() });
  }
}

/** Some servers treat a part of type application/octet-stream as a file even without a file name. */
function isFile({ fileName, type }: Head): boolean {
  return fileName !== undefined || /^application\/octet-stream\b/i.test(type ?? '');
}

/** Throws 400 `invalid_json` if the body has another type, or no boundary. */
function boundaryOf(contentType = ''): string {
  const type = mimeType(contentType);
  const boundary = type?.params.get('boundary');
  if (type?.essence === 'multipart/form-data' && boundary) return boundary;
  throw invalidJson('Send the body as multipart/form-data, with its boundary in the Content-Type.');
}

function mimeType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;
/** Encodings without effect; others are obsolete (RFC 7578 §4.7). */
const PLAIN_ENCODING = /^(?:7bit|8bit|binary)$/i;
/** A media type whose content is not parts again, in which a server could look for fields. */
const SINGLE_TYPE = /^(?!multipart|message)[\w!#$&^.+-]+\/[\w!#$&^.+-]+[ \t]*(?:;|$)/i;

function headFrom(text: string): Head {
  const headers = new Map<string, string>();
  for (const line of text === '' ? [] : text.split(CRLF)) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw malformed('has a part with a malformed head');
    if (!headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim());
  }
  if (!PLAIN_ENCODING.test(headers.get('content-transfer-encoding') ?? 'binary')) {
    throw malformed('has a part with a Content-Transfer-Encoding');
  }
  const type = headers.get('content-type') ?? '';
  return {
    ...namesIn(headers.get('content-disposition') ?? ''),
    type: SINGLE_TYPE.test(type) ? type : undefined,
  };
}

/** A disposition has the parameters of a media type, save that only a quote or a backslash is escaped. */
function namesIn(disposition: string): Pick<Head, 'name' | 'fileName'> {
  const escaped = disposition.replace(/\\(["\\])?/g, (all, sign) => (sign ? all : '\\\\'));
  const type = mimeType(`multipart/${escaped}`);
  const parameter = (key: string) => {
    const value = type?.params.get(key) ?? undefined;
    return value === undefined ? undefined : Buffer.from(value, 'latin1').toString();
  };
  const name = parameter('name');
  // Some servers decode these in names of fields before they compare.
  if (type?.essence !== 'multipart/form-data' || name === undefined || /["\\%\p{Cc}]/u.test(name)) {
    throw malformed('has a part without a plain name');
  }
  return { name, fileName: parameter('filename') ?? extended(parameter('filename*')) };
}

/** A file name by RFC 8187, which some clients send instead of a plain one. */
function extended(value: string | undefined): string | undefined {
  const encoded = value?.slice(value.lastIndexOf("'") + 1);
  try {
    return encoded && decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function malformed(what: string) {
  return invalidJson(`The multipart body ${what}.`);
}
