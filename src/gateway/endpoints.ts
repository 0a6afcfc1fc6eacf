import type { WireFormat } from '../domain/catalog.ts';
import type { Category } from '../domain/key.ts';
import { chat } from './meter/chat.ts';
import { images } from './meter/images.ts';
import type { Meter } from './meter/meter.ts';
import { speech } from './meter/speech.ts';
import { transcription } from './meter/transcription.ts';

/** How the body of a call is read and judged; `audio`: a form with one file, whose length is measured. */
export type BodyKind = 'json' | 'form' | 'audio';

/** One forwarded endpoint of contract section 4. A new endpoint is a row in ENDPOINTS. */
export interface Endpoint {
  readonly method: 'POST';
  readonly path: string;
  readonly category: Category;
  /** Upstreams that speak this; also the shape of errors. */
  readonly format: WireFormat;
  readonly body: BodyKind;
  /** What a call may cost, and what it used. */
  readonly meter: Meter;
  /** A stream reports usage only when asked: `stream_options.include_usage`. */
  readonly asksForUsage: boolean;
  /** A good answer is bytes that are not looked at: they pass as they come. */
  readonly answersBytes?: true;
}

export const ENDPOINTS: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    category: 'text',
    format: 'openai',
    body: 'json',
    meter: chat,
    asksForUsage: true,
  },
  {
    method: 'POST',
    path: '/v1/images/generations',
    category: 'image',
    format: 'openai',
    body: 'json',
    meter: images,
    asksForUsage: false,
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    category: 'image',
    format: 'openai',
    body: 'form',
    meter: images,
    asksForUsage: false,
  },
  {
    method: 'POST',
    path: '/v1/images/variations',
    category: 'image',
    format: 'openai',
    body: 'form',
    meter: images,
    asksForUsage: false,
  },
  {
    method: 'POST',
    path: '/v1/audio/speech',
    category: 'tts',
    format: 'openai',
    body: 'json',
    meter: speech,
    asksForUsage: false,
    answersBytes: true,
  },
  {
    method: 'POST',
    path: '/v1/audio/transcriptions',
    category: 'stt',
    format: 'openai',
    body: 'audio',
    meter: transcription,
    asksForUsage: false,
  },
  {
    method: 'POST',
    path: '/v1/audio/translations',
    category: 'stt',
    format: 'openai',
    body: 'audio',
    meter: transcription,
    asksForUsage: false,
  },
];
