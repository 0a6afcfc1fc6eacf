import { setImmediate } from 'node:timers/promises';
import { AUDIO_TOKENS_PER_SECOND } from './audio/audio-length.ts';
import { measureAudio } from './audio/measure-audio.ts';
import { type ByteSource, inMemory } from './byte-source.ts';
import { base64Length, type ContentPart, isMedium } from './content-parts.ts';
import type { ElidedString, ElidedStrings } from './json/elided-strings.ts';
import { isObject } from './json/value.ts';

/** The media of a request, in numbers that its hold is made of. */
export interface Media {
  readonly pictures: number;
  /** Files, documents, addresses and parts of unknown kinds: each can fill the model's window. */
  readonly files: number;
  /** Decoded bytes of inline text files. */
  readonly textBytes: number;
  readonly sounds: number;
}

export const NO_MEDIA: Media = Object.freeze({ pictures: 0, files: 0, textBytes: 0, sounds: 0 });

/** Types of parts that are pictures, in the formats of chat, responses and messages. */
const PICTURES: ReadonlySet<unknown> = new Set([
  'image_url',
  'image',
  'input_image',
  'computer_screenshot',
  'image_generation_call',
]);
/** Types of parts that are sounds and files. A part that is neither here nor text is new, and counts as a file. */
const SOUNDS_AND_FILES: ReadonlySet<unknown> = new Set([
  'input_audio',
  'file',
  'input_file',
  'document',
  'container_upload',
]);

/** Whether parts of this type are media of a known kind. */
export function isMediaType(type: string): boolean {
  return PICTURES.has(type) || SOUNDS_AND_FILES.has(type);
}

/** A picture by its address, or inline as one. Any other text may be a document to the provider. */
const PICTURE = /^(?:https?:\/\/|data:image\/)/i;

/** The media among the parts of a conversation, and other parts with a separate price; counted as they are walked. */
export class PartCounts {
  readonly #elidedStrings: ElidedStrings | undefined;
  pictures = 0;
  files = 0;
  textBytes = 0;
  /** Inline sounds, each in base64 or as the placeholder of a long string; undefined: one that is not inline. */
  readonly sounds: (string | undefined)[] = [];
  /** Characters of base64 in media: they are among the bytes of the body, and no text. */
  base64 = 0;
  /** A part is priced as a picture; files are, as providers read them page by page. */
  hasPictures = false;
  hasSound = false;

  constructor(elidedStrings: ElidedStrings | undefined) {
    this.#elidedStrings = elidedStrings;
  }

  /** The media so far, in numbers alone: the bound keeps nothing of the request. */
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
      // Films have sound, too.
      this.hasSound = true;
      this.files++;
    }
  }

  /** A file by its data. One that also has an address or an id may be read by that. */
  #named({ file_data: data, filename, file_url: url, file_id: id }: ContentPart): void {
    this.#takeOff(data);
    const isElsewhere = (url ?? id ?? undefined) !== undefined;
    this.#document(isElsewhere ? undefined : data, { name: filename });
  }

  #document(data: unknown, said: { readonly mediaType?: string; readonly name?: unknown }): void {
    const bytes = typeof data === 'string' ? textBytesOf(data, said, this.#elidedStrings) : undefined;
    if (bytes === undefined) this.files++;
    else this.textBytes += bytes;
  }

  #takeOff(data: unknown): void {
    if (typeof data === 'string') this.base64 += base64Length(data, this.#elidedStrings);
  }
}

/** The base64 or the address of a picture. */
function pictureData({ type, source, image_url: url, result }: ContentPart): unknown {
  if (isObject(source)) return source.type === 'base64' ? source.data : source.url;
  if (type === 'image_generation_call') return result;
  return isObject(url) ? url.url : url;
}

function isPicture({ type, source }: ContentPart, data: unknown): boolean {
  if (type === 'image_generation_call') return true;
  if (isObject(source) && source.type === 'base64') return /^image\//i.test(String(source.media_type));
  // One that names a stored file, which an account must own.
  return typeof data !== 'string' || PICTURE.test(data);
}

function mediaTypeOf({ source }: ContentPart): string {
  return isObject(source) && typeof source.media_type === 'string' ? source.media_type : '';
}

const TEXT_TYPE =
  /^\s*(?:text\/(?!rtf|richtext)|application\/(?:json|x-?ndjson|jsonl|xml|x-?yaml|yaml|toml|sql|csv|javascript|typescript|x-sh)\b|[\w.+/-]*\+(?:json|xml)\b)/i;
const TEXT_NAME =
  /\.(?:txt|text|md|markdown|csv|tsv|json|jsonl|ndjson|xml|html?|css|ya?ml|toml|ini|log|sql|sh|py|rb|js|mjs|ts|tsx|jsx|java|c|h|cc|cpp|cs|go|rs|php|tex)\s*$/i;
/** Endings of documents that are more than their bytes, whatever type is named beside them. */
const DOCUMENT_NAME =
  /\.(?:pdf|do[ct]\w?|p[op]t\w?|pps\w?|xl\w{1,2}|od[tsp]|rtf|epub|pages|numbers|key)\s*$/i;
/** Characters that decide whether a file called text is text. */
const LOOKED_AT = 1_400;

/**
 * Decoded bytes of an inline text file; undefined if it is no text file, or not inline. What is counted among the bytes of
 * the body already is 0 here.
 */
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
  // A lenient decoder may accept text that is not base64 by the standard.
  if (length === 0 && beginning !== '') return undefined;
  return isBase64 ? Math.ceil((length * 3) / 4) : length;
}

/** Whether this may be the beginning of a text, by its bytes: those of documents have control characters early on. */
function isText(beginning: string): boolean {
  for (let at = 0; at < beginning.length; at++) {
    const code = beginning.charCodeAt(at);
    // Tab to carriage return, and escape.
    if (code < 0x20 && (code < 0x09 || code > 0x0d) && code !== 0x1b) return false;
  }
  return !beginning.includes('%PDF');
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Sounds that are measured before other calls come. */
const AT_ONCE = 8;

/**
 * Bound of the tokens of the inline sounds of a request, by their measured length; undefined if one of them has none.
 * `sounds`: base64, or placeholders of long strings; `source`: the body.
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

/** The bytes that a long string of base64 stands for; undefined if its characters are not in the body one by one. */
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
