import type { Model } from '../domain/catalog.ts';
import type { AudioLength } from './audio/audio-length.ts';
import type { ElidedStrings } from './elided-strings.ts';

/** The audio that a call uploads. */
export interface Audio extends AudioLength {
  readonly bytes: number;
}

/** What meters see of the body of a call, whether it came as JSON or as a form. */
export interface MeteredBody {
  readonly kind: 'json' | 'form';
  readonly model: Model;
  /** Members or fields by name. Of a form: text, but counts are numbers here too. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** UTF-8 bytes of all text in it: never less than its tokens. Of JSON: all of its bytes. */
  readonly textBytes: number;
  /** Uploaded files; 0 of JSON. */
  readonly files: number;
  readonly audio: Audio | undefined;
  /** The strings of a large body that are too long to stand in `value` themselves. */
  readonly elidedStrings: ElidedStrings | undefined;
}

/** Members by which a request names how much it wants. */
export const COUNTS = [
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
] as const;

/** A number that a request names as a bound; undefined where it names none. */
export function countOf(body: Pick<MeteredBody, 'value'>, name: (typeof COUNTS)[number]): number | undefined {
  const value = body.value[name];
  return typeof value === 'number' ? value : undefined;
}
