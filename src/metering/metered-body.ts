import type { Model } from '../domain/catalog.ts';
import type { AudioLength } from './audio/audio-length.ts';
import type { ElidedStrings } from './elided-strings.ts';

/** The audio that a call uploads. */
export interface Audio extends AudioLength {
  readonly bytes: number;
}

/** What a request says that its report is read by, found when it was asked for: the lists that said it are not kept. */
export interface Said {
  /** It asks for a longer life of the cache than the vendor's shortest. */
  readonly asksLongCache: boolean;
  /** It has a tool that searches as a preview. */
  readonly searchesAsPreview: boolean;
}

/** The body of a call as meters see it, whether it came as JSON or as a form. */
export interface MeteredBody {
  readonly kind: 'json' | 'form';
  readonly model: Model;
  /** Members of the JSON, or fields of the form, by name. Fields are text, except that counts are numbers. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** UTF-8 bytes of all text in the body, which are never fewer than its tokens. For JSON: all bytes of the body. */
  readonly textBytes: number;
  /** Number of uploaded files; 0 for JSON. */
  readonly files: number;
  readonly audio: Audio | undefined;
  /** Long strings of a large body, which `value` has placeholders for. */
  readonly elidedStrings: ElidedStrings | undefined;
  /** Undefined until the meter was asked, and for calls without such. */
  readonly said: Said | undefined;
}

/** Members and fields whose value is a count. */
export const COUNTS = [
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
] as const;

/** A count that the request names; undefined where it does not. */
export function countOf(body: Pick<MeteredBody, 'value'>, name: (typeof COUNTS)[number]): number | undefined {
  const value = body.value[name];
  return typeof value === 'number' ? value : undefined;
}

/** A maximum that the request names; undefined where it does not. 0 names none: providers take it for theirs. */
export function maximumOf(
  body: Pick<MeteredBody, 'value'>,
  name: (typeof COUNTS)[number],
): number | undefined {
  return countOf(body, name) || undefined;
}
