import { setImmediate } from 'node:timers/promises';
import { AUDIO_TOKENS_PER_SECOND, measureAudio } from './audio/measure-audio.ts';
import { type ByteSource, inMemory } from './byte-source.ts';
import { base64Length, type ContentPart, isMedium } from './content-parts.ts';
import type { ElidedString, ElidedStrings } from './json/elided-strings.ts';
import { isObject } from './json/value.ts';

/** Media of a request, as the numbers its hold is computed from. */
export interface Media {
  readonly pictures: number;
  /** Files, documents, URLs and parts of unknown type: each can fill the context window. */
  readonly files: number;
  /** Decoded bytes of inline text files. */
  readonly textBytes: number;
  readonly sounds: number;
}

export const NO_MEDIA: Media = Object.freeze({ pictures: 0, files: 0, textBytes: 0, sounds: 0 });

/** Part types that are images, in the chat, responses and messages formats. */
export const PICTURES: ReadonlySet<unknown> = new Set([
  'image_url',
  'image',
  'input_image',
  'computer_screenshot',
  'image_generation_call',
]);
/** An image by URL, or inline. The provider may read any other text as a document. */
const PICTURE = /^(?:https?:\/\/|data:image\/)/i;

/** Counts media and other separately priced parts while a conversation is walked. */
export class PartCounts {
  readonly #elidedStrings: ElidedStrings | undefined;
  pictures = 0;
  files = 0;
  textBytes = 0;
  /** Inline audio: base64 or the placeholder of a long string; undefined: not inline. */
  readonly sounds: (string | undefined)[] = [];
  /** Base64 characters of media: part of the body's bytes, but not text. */
  base64 = 0;
  /** A part is priced as an image. Files are too, since providers read them page by page. */
  hasPictures = false;
  hasSound = false;

  constructor(elidedStrings: ElidedStrings | undefined) {
    this.#elidedStrings = elidedStrings;
  }

  /** Media so far, as numbers only: the bound retains nothing of the request. */
  get media(): Media {
    const { pictures, files, textBytes, sounds } = this;
    return { pictures, files, textBytes, sounds: sounds.length };
  }

  /** Counts a part, unless it is text. */
  add(part: ContentPart): void {
    if (!isMedium(part)) return;
    const { type } = part;
    if (PICTURES.has(type)) this.#picture(part);
    else if (typeof type === 'string' && type.includes('audio')) this.#sound(part);
    else this.#file(part);
  }

  #picture(part: ContentPart): void {
    this.hasPictures = true;
    const data = pictureData(part);
    this.#takeOff(data);
    if (isPicture(part, data)) this.pictures++;
    else this.#document(data, { mediaType: mediaTypeOf(part) });
  }

  #sound({ input_audio: sound, audio }: ContentPart): void {
    this.hasSound = true;
    const inner = isObject(sound) ? sound : audio;
    const data = isObject(inner) ? inner.data : undefined;
    this.#takeOff(data);
    this.sounds.push(typeof data === 'string' ? data : undefined);
  }

  #file(part: ContentPart): void {
    this.hasPictures = true;
    const { type, source, file } = part;
    if (type === 'document' && isObject(source)) {
      this.#takeOff(source.data);
      this.#document(source.type === 'base64' ? source.data : undefined, { mediaType: mediaTypeOf(part) });
    } else if (type === 'file' && isObject(file)) this.#named(file);
    else if (type === 'input_file') this.#named(part);
    else {
      // Videos have audio, too.
      this.hasSound = true;
      this.files++;
    }
  }

  /** Counts a file by its data, unless it also has a URL or an id that the provider may read instead. */
  #named({ file_data: data, filename, file_url: url, file_id: id }: ContentPart): void {
    this.#takeOff(data);
    const isElsewhere = (url ?? id ?? undefined) !== undefined;
    this.#document(isElsewhere ? undefined : data, { name: filename });
  }

  #document(data: unknown, named: { readonly mediaType?: string; readonly name?: unknown }): void {
    const bytes = typeof data === 'string' ? textBytesOf(data, named, this.#elidedStrings) : undefined;
    if (bytes === undefined) this.files++;
    else this.textBytes += bytes;
  }

  #takeOff(data: unknown): void {
    if (typeof data === 'string') this.base64 += base64Length(data, this.#elidedStrings);
  }
}

/** Returns the base64 or the URL of an image. */
function pictureData({ type, source, image_url: url, result }: ContentPart): unknown {
  if (isObject(source)) return source.type === 'base64' ? source.data : source.url;
  if (type === 'image_generation_call') return result;
  return isObject(url) ? url.url : url;
}

function isPicture({ type, source }: ContentPart, data: unknown): boolean {
  if (type === 'image_generation_call') return true;
  if (isObject(source) && source.type === 'base64') return /^image\//i.test(String(source.media_type));
  // Without data, it names a stored file, which the account must own.
  return typeof data !== 'string' || PICTURE.test(data);
}

function mediaTypeOf({ source }: ContentPart): string {
  return isObject(source) && typeof source.media_type === 'string' ? source.media_type : '';
}

const TEXT_TYPE =
  /^\s*(?:text\/(?!rtf|richtext)|application\/(?:json|x-?ndjson|jsonl|xml|x-?yaml|yaml|toml|sql|csv|javascript|typescript|x-sh)\b|[\w.+/-]*\+(?:json|xml)\b)/i;
const TEXT_NAME =
  /\.(?:txt|text|md|markdown|csv|tsv|json|jsonl|ndjson|xml|html?|css|ya?ml|toml|ini|log|sql|sh|py|rb|js|mjs|ts|tsx|jsx|java|c|h|cc|cpp|cs|go|rs|php|tex)\s*$/i;
/** Extensions of documents that hold more than plain text, whatever the declared type. */
const DOCUMENT_NAME =
  /\.(?:pdf|do[ct]\w?|p[op]t\w?|pps\w?|xl\w{1,2}|od[tsp]|rtf|epub|pages|numbers|key)\s*$/i;
/** Characters inspected to check that a declared text file is text. */
const LOOKED_AT = 1_400;

/** Decoded bytes of an inline text file; undefined if not text or not inline; 0 if the body's bytes include it. */
function textBytesOf(
  data: string,
  { mediaType = '', name }: { readonly mediaType?: string; readonly name?: unknown },
  elidedStrings: ElidedStrings | undefined,
): number | undefined {
  const long = elidedStrings?.get(data);
  const head = (long ? long.head : data).slice(0, LOOKED_AT);
  const comma = /^data:/.test(head) ? head.indexOf(',') : -1;
  const declared = comma >= 0 ? head.slice('data:'.length, comma) : mediaType;
  const called = typeof name === 'string' ? name : '';
  if (DOCUMENT_NAME.test(called)) return undefined;
  if (!(declared === '' ? TEXT_NAME.test(called) : TEXT_TYPE.test(declared))) return undefined;
  const isBase64 = comma < 0 || /;\s*base64\s*$/i.test(declared);
  const beginning = head.slice(comma + 1);
  const decoded = isBase64 ? Buffer.from(beginning, 'base64').toString('latin1') : unescaped(beginning);
  if (!isText(decoded)) return undefined;
  const length = base64Length(data, elidedStrings);
  // A lenient decoder may accept nonstandard base64.
  if (length === 0 && beginning !== '') return undefined;
  return isBase64 ? Math.ceil((length * 3) / 4) : length;
}

/** Whether these bytes can start a text: documents have early control characters. */
function isText(beginning: string): boolean {
  for (let at = 0; at < beginning.length; at++) {
    const code = beginning.charCodeAt(at);
    // Allows tab to carriage return, and escape.
    if (code < 0x20 && (code < 0x09 || code > 0x0d) && code !== 0x1b) return false;
  }
  return !beginning.includes('%PDF');
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Audio parts measured before the event loop yields to other calls. */
const AT_ONCE = 8;

/**
 * Bound of the tokens of inline audio, by measured length; undefined if any has none. `sounds`: base64, or placeholders
 * of long strings; `source`: the body.
 */
export async function tokensOfSounds(
  sounds: readonly (string | undefined)[],
  { elidedStrings }: { readonly elidedStrings: ElidedStrings | undefined },
  source: ByteSource,
): Promise<number | undefined> {
  let tokens = 0;
  for (const [index, sound] of sounds.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (sound === undefined) return undefined;
    const long = elidedStrings?.get(sound);
    const bytes = long ? await base64Within(source, long) : inMemory(Buffer.from(sound, 'base64'));
    const { seconds } = bytes ? await measureAudio(bytes) : { seconds: undefined };
    if (seconds === undefined) return undefined;
    tokens += Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND);
  }
  return tokens;
}

/** Decodes a long base64 string on read; undefined if the body escapes any of its characters. */
async function base64Within(source: ByteSource, long: ElidedString): Promise<ByteSource | undefined> {
  const { place, units, base64Length } = long;
  if (!place || base64Length !== units || place.end - place.start !== units) return undefined;
  const end = await source.read(place.end - 2, place.end);
  const characters = units - end.toString('latin1').replace(/[^=]/g, '').length;
  const size = Math.floor((characters * 3) / 4);
  return {
    size,
    async read(from, to) {
      const start = Math.floor(from / 3);
      const last = Math.ceil(Math.min(to, size) / 3);
      const text = await source.read(place.start + start * 4, Math.min(place.end, place.start + last * 4));
      const bytes = Buffer.from(text.toString('latin1'), 'base64');
      return bytes.subarray(from - start * 3, Math.min(to, size) - start * 3);
    },
  };
}
