import type { Model } from '../domain/catalog.ts';
import type { LongTexts } from '../gateway/request/json/long-texts.ts';
import type { Upload } from '../gateway/request/spool/upload.ts';
import type { AudioLength } from './audio/audio-length.ts';

/** The audio that a call uploads. */
export interface Audio extends AudioLength {
  readonly bytes: number;
}

/** The body of a call as judged: what meters see of it, whether it came as JSON or as a form. */
export interface CallBody {
  readonly kind: 'json' | 'form';
  readonly model: Model;
  /** Members or fields by name. Of a form: text, but counts are numbers here too. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** JSON: the bytes that came. Form: the bytes that go upstream. A large body is kept in a file. */
  readonly bytes: Buffer | Upload;
  /** UTF-8 bytes of all text in it: never less than its tokens. Of JSON: all of its bytes. */
  readonly textBytes: number;
  /** Uploaded files; 0 of JSON. */
  readonly files: number;
  readonly audio: Audio | undefined;
  /** The strings of a large body that are too long to stand in `value` themselves. */
  readonly longTexts: LongTexts | undefined;
}
